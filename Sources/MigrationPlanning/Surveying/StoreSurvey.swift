package import CoreDataStore
package import DurableFiles
import ManagedObjectModel
package import MappingInference
import MappingModel
package import MigrationPlans
package import SafeSQLite

/// Reads from a store what planning needs to know: counts, keys, sizes, broken requirements.
package struct StoreSurvey {
    private let store: SourceStore
    private let destination: StoreLayout
    private let inference: Inference
    private let files: DurableFileSystem
    private let connection: Connection
    /// Whether values that get another name are counted, which reads them.
    package var countsRenames = false

    /// - Parameters:
    ///   - store: to be surveyed.
    ///   - destination: the layout that it goes to.
    ///   - inference: the mapping with what it asks of the data.
    ///   - files: through which files are looked at.
    ///   - connection: to the store's `database`; it stays open.
    package init(
        store: SourceStore, destination: StoreLayout, inference: Inference,
        files: DurableFileSystem = DurableFileSystem(), connection: Connection
    ) {
        self.connection = connection
        self.store = store
        self.destination = destination
        self.inference = inference
        self.files = files
    }

    private func breach(
        _ requirement: DataRequirement, _ counter: RequirementCount
    ) throws(StoreError) -> StoreFacts.Breach {
        let count = try counter.count(requirement)
        guard count > 0 else { return StoreFacts.Breach(count: 0) }
        let example = try counter.example(requirement, store: store.metadata.uuid)
        return StoreFacts.Breach(count: count, example: example?.description)
    }

    /// Reads everything.
    ///
    /// - Parameters:
    ///   - options: for the partition mode.
    ///   - profile: goes through the rows of a routing pass.
    /// - Returns: what planning needs to know of the store's data.
    /// - Throws: `EngineError` for a store whose rows do not fit its model.
    package func facts(
        options: PlanOptions, profile: (RoutePlan) throws(EngineError) -> RouteProfile
    ) throws(EngineError) -> StoreFacts {
        try EngineError.translating {
            if let reason = ImportTraces.refusal(of: store) {
                throw StoreError.unsupported(path: store.path.description, reason: reason)
            }
            var facts = StoreFacts()
            facts.databaseBytes = try FileStatus(of: store.database).size
            let strategy = Planner.strategy(options, databaseBytes: facts.databaseBytes)
            try surveyTables(connection, &facts, isCut: strategy == .partitioned)
            try survey(splitsAt: options.now, &facts)
            facts.maxima = maxima()
            let external = try ExternalDataSurvey(store: store, connection: connection)
                .read(files: files)
            facts.externalBytes = external.bytes
            facts.externalFiles = external.present
            facts.missingExternalFiles = external.missing
            let counter = RequirementCount(
                layout: store.layout, mapping: inference.mapping, dangling: options.dangling,
                connection: connection, splits: facts.splits,
                destinationModel: destination.model)
            facts.broken = try inference.requirements.map { try breach($0, counter) }
            facts.brokenEarlier = try inference.earlier.map { step in
                let counter = RequirementCount(
                    layout: store.layout, mapping: step.mapping, dangling: options.dangling,
                    connection: connection, splits: [], destinationModel: step.destination)
                return try step.requirements.map { try breach($0, counter) }
            }
            if countsRenames {
                facts.renamed = try RenameCount(
                    source: store.layout, destination: destination, mapping: inference.mapping,
                    splits: facts.splits, connection: connection
                ).counts()
            }
            facts.extras = try ExtraObjectTrial(store: store, destination: destination).outcomes()
            try survey(routes: options.partition, &facts, profile)
            return facts
        }
    }

    /// Tells objects of one entity apart that filters send different ways.
    private func survey(splitsAt now: Double, _ facts: inout StoreFacts) throws {
        let failures = ValueFailures(store: store.path.description)
        let survey = SplitSurvey(
            layout: store.layout, mapping: inference.mapping, connection: connection, now: now)
        do {
            for found in try survey.splits(failures) {
                facts.splits.append(found.split)
                facts.tables[found.split.table]?.rows[found.split.number] = nil
                facts.tables[found.split.table]?.rows.merge(found.rows) { $1 }
            }
        } catch let error as PlanError {
            throw EngineError.noMapping(
                "\(store.path): \(error). The store was not changed. Correct the mapping")
        } catch let error as StoreError {
            try failures.translating(isFilter: true) { () throws(EngineError) in
                throw EngineError.store(error)
            }
        }
    }

    private func surveyTables(
        _ connection: Connection, _ facts: inout StoreFacts, isCut: Bool
    ) throws {
        let reader = TableProfileReader(
            path: store.database, pageSize: store.header.pageSize,
            pageCount: facts.databaseBytes / Int64(max(1, store.header.pageSize)))
        for table in store.layout.tables {
            facts.tables[table.name] = try rows(of: table, connection)
        }
        for join in store.layout.joinTables {
            facts.joinRows[join.name] = try connection.integer(
                "SELECT count(*) FROM \(SQLText.quoted(join.name))")
        }
        guard isCut else {
            estimateProfiles(&facts)
            return
        }
        var roots: [String: Int64] = [:]
        for object in store.schema.objects where object.kind == .table {
            roots[object.name] = object.rootPage
        }
        let names = store.layout.tables.map(\.name) + store.layout.joinTables.map(\.name)
        let known = names.filter { roots[$0] != nil }
        for name in names { facts.profiles[name] = TableProfile(buckets: []) }
        let profiles = try reader.profiles(rootPages: known.compactMap { roots[$0] })
        for (name, profile) in zip(known, profiles) { facts.profiles[name] = profile }
    }

    /// Profiles of a store that is not cut: nothing but bytes, shared out by rows.
    private func estimateProfiles(_ facts: inout StoreFacts) {
        var rows = facts.tables.mapValues(\.count)
        rows.merge(facts.joinRows) { own, _ in own }
        let all = Double(rows.values.reduce(1, +))
        for (name, count) in rows {
            let bytes = Double(facts.databaseBytes) * Double(count) / all
            let bucket = TableProfile.Bucket(upper: nil, bytes: Int64(bytes), rows: count)
            facts.profiles[name] = TableProfile(buckets: count > 0 ? [bucket] : [])
        }
    }

    private func rows(
        of table: TableLayout, _ connection: Connection
    ) throws -> StoreFacts.Table {
        let name = SQLText.quoted(table.name)
        let known = Set(
            store.model.family(of: table.rootEntity).compactMap {
                store.layout.number(of: $0.name).map { Int64($0) }
            })
        var rows: [Int64: Int64] = [:]
        if known.count == 1, let only = known.first {
            // Counted by pages, without looking at rows: all are of that entity, whatever their
            // `Z_ENT` says.
            let ends = try connection.prepare(
                "SELECT (SELECT count(*) FROM \(name) NOT INDEXED), "
                    + "(SELECT max(Z_PK) FROM \(name)), (SELECT min(Z_PK) FROM \(name))")
            guard try ends.step() else {
                return try keyed([:], table.name, highest: 0, lowest: 0)
            }
            rows[only] = ends.integer(0)
            return try keyed(rows, table.name, highest: ends.integer(1), lowest: ends.integer(2))
        }
        let groups = try connection.prepare(
            "SELECT Z_ENT, count(*) FROM \(name) GROUP BY Z_ENT")
        while try groups.step() {
            guard groups.storageClass(0) == 1, known.contains(groups.integer(0)) else {
                throw StoreError.notAStore(
                    path: store.path.description,
                    reason: "table \(table.name) has \(groups.integer(1)) rows of an entity "
                        + "that its model does not store there")
            }
            rows[groups.integer(0)] = groups.integer(1)
        }
        return try keyed(
            rows, table.name,
            highest: connection.integer("SELECT max(Z_PK) FROM \(name)") ?? 0,
            lowest: connection.integer("SELECT min(Z_PK) FROM \(name)") ?? 0)
    }

    /// Rows with the range of their keys.
    private func keyed(
        _ rows: [Int64: Int64], _ table: String, highest: Int64, lowest: Int64
    ) throws -> StoreFacts.Table {
        guard lowest >= 0, highest < PrimaryKeys.keyLimit else {
            throw StoreError.notAStore(
                path: store.path.description,
                reason: "table \(table) has a key that is negative or near 2⁶³")
        }
        return StoreFacts.Table(rows: rows, highestKey: highest, lowestKey: lowest)
    }

    private func maxima() -> [String: Int64] {
        var result: [String: Int64] = [:]
        for table in store.layout.tables {
            guard let number = store.layout.number(of: table.rootEntity) else { continue }
            result[table.name] = store.primaryKeys.row(number: Int64(number))?.maximum
        }
        return result
    }

    private func survey(
        routes partition: PartitionMode, _ facts: inout StoreFacts,
        _ profile: (RoutePlan) throws(EngineError) -> RouteProfile
    ) throws {
        guard case .uuid(let attributes) = partition else { return }
        for attribute in attributes {
            guard let plan = Self.route(attribute, in: store) else {
                throw EngineError.dataRefused(
                    "\(store.path) has no attribute \(attribute) to partition by. Nothing was "
                        + "written")
            }
            let type = store.model.attribute(attribute.property, of: attribute.entity)?.attribute
                .type
            guard let type, Self.routedTypes.contains(type) else {
                throw EngineError.dataRefused(
                    "\(store.path) cannot be partitioned by \(attribute): the attribute cannot "
                        + "hold a UUID. Nothing was written")
            }
            guard !facts.routes.contains(where: { $0.plan.sourceTable == plan.sourceTable }) else {
                throw EngineError.dataRefused(
                    "\(store.path) cannot be partitioned by \(attribute): table "
                        + "\(plan.sourceTable) is already partitioned by another attribute. "
                        + "Nothing was written")
            }
            facts.routes.append(try profile(plan))
        }
    }

    /// Types of attributes that can hold UUIDs.
    private static let routedTypes: [AttributeType] = [
        .uuid, .string, .uri, .binary, .transformable,
    ]

    /// The routing pass over an attribute; nil where the store has none of that name.
    private static func route(_ attribute: PropertyKey, in store: SourceStore) -> RoutePlan? {
        let owner = store.model.attribute(attribute.property, of: attribute.entity)?.owner
        let key = PropertyKey(owner?.name ?? attribute.entity, attribute.property)
        return store.layout.column(.attribute(key)).map { table, column in
            RoutePlan(attribute: key, sourceTable: table.name, column: column.name)
        }
    }

    /// Those attributes by which a store can be partitioned: the first of each table.
    ///
    /// - Parameters:
    ///   - attributes: that can be of another version.
    ///   - store: to be partitioned.
    /// - Returns: attributes that `facts` takes.
    package static func routable(
        _ attributes: [PropertyKey], in store: SourceStore
    ) -> [PropertyKey] {
        var tables: Set<String> = []
        return attributes.filter { attribute in
            guard let plan = route(attribute, in: store),
                let type = store.model.attribute(attribute.property, of: attribute.entity)?
                    .attribute.type,
                routedTypes.contains(type)
            else { return false }
            return tables.insert(plan.sourceTable).inserted
        }
    }
}
