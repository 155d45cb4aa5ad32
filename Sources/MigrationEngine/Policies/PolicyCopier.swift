import CoreDataStore
import DurableFiles
import ManagedObjectModel
import MappingModel
import MigrationPlans
import SafeSQLite

/// Lets policies take part in a chunk whose rows were copied: portion by portion, by their keys.
struct PolicyCopier {
    let file: LaidOutPlan
    let connection: Connection
    let policies: PolicyLibrary
    /// Gets what is in hand.
    let note: PolicyNote?
    /// The folder of the source's external data.
    let support: FilePath?

    /// The store's UUID, by which the app knows its objects.
    private let store: String

    /// - Parameters:
    ///   - file: the plan.
    ///   - connection: with the source attached as `src`.
    ///   - policies: the ones that the process carries.
    ///   - note: gets what is in hand; nil where no process reads it.
    ///   - support: the folder of the source's external data; nil for none.
    /// - Throws: `EngineError.store` for a source without metadata.
    init(
        file: LaidOutPlan, connection: Connection, policies: PolicyLibrary, note: PolicyNote?,
        support: FilePath?
    ) throws(EngineError) {
        self.support = support
        self.file = file
        self.connection = connection
        self.policies = policies
        self.note = note
        store = try EngineError.translating { () throws(StoreError) in
            try connection.texts("SELECT Z_UUID FROM src.Z_METADATA LIMIT 1").first ?? ""
        }
    }

    private var plan: MigrationPlan { file.plan }

    /// Objects that a policy has in hand at a time.
    private static let portion: Int64 = 256

    /// Runs the policies of a feed over the rows of it that the main schema holds.
    ///
    /// - Parameter feed: whose rows were just copied.
    /// - Throws: `EngineError.policyFailed` with policy and object, `.policyMissing`, or `.store`.
    func run(after feed: Feed) throws(EngineError) {
        for pass in plan.policies(of: feed) {
            guard let policy = plan.mapping.entityMappings[pass.mapping].policy else { continue }
            // Also where its methods alone are called: another version would give other values.
            let code = try policies.code(pass.className, policy)
            guard policy.hasHooks else { continue }
            let context = PolicyContext(
                file: file, pass: pass, policy: policy, connection: connection,
                writer: MadeObjectWriter(connection, file.destination))
            try run(code, PolicyPortion(context, support: support))
        }
        // Several passes may share the objects of one entity.
        for rows in plan.recordedRows(of: feed) { try refuseMissing(rows) }
    }

    /// Refuses objects without a value that they need and that only a policy could give.
    private func refuseMissing(_ rows: RecordedRows) throws(EngineError) {
        let pass = plan.policies.first { pass in
            pass.objects == rows.objects || pass.blocks.contains { $0.objects == rows.objects }
        }
        guard let pass else { return }
        for (column, property) in file.destination.needed(rows) {
            let conditions =
                ["Z_ENT = \(rows.objects.number)", "\(SQLText.quoted(column)) IS NULL"]
                + rows.objects.keys.conditions(on: "Z_PK")
            let key = try EngineError.translating { () throws(StoreError) in
                try connection.integer(
                    "SELECT Z_PK FROM main.\(SQLText.quoted(rows.objects.table)) WHERE "
                        + "\(conditions.joined(separator: " AND ")) LIMIT 1")
            }
            guard let key else { continue }
            let source = try object(pass.sourceKey(of: key, in: rows.objects), of: pass)
            throw .policyFailed(
                "migration policy \(pass.className) failed for \(uri(of: source)): it gave "
                    + "\(rows.objects.entity).\(property) no value, which is required. The "
                    + "original store was not changed; correct the policy or the object and replay")
        }
    }

    /// A source object of a pass, or of another pass over the same table.
    private func object(_ key: Int64, of pass: PolicyPass) throws(EngineError) -> SourceObjectKey {
        let number = try EngineError.translating { () throws(StoreError) in
            try connection.integer(
                "SELECT Z_ENT FROM src.\(SQLText.quoted(pass.sourceTable)) WHERE Z_PK = \(key)")
        }
        let order = file.source.entityOrder
        let place = Int(clamping: number ?? 0) - 1
        let own = plan.mapping.entityMappings[pass.mapping].source ?? ""
        let isAlone = file.source.table(of: own).flatMap { file.source.onlyEntity(of: $0) } != nil
        return SourceObjectKey(
            entity: !isAlone && order.indices.contains(place) ? order[place] : own, key: key)
    }

    private func run(_ code: any PolicyCode, _ portion: PolicyPortion) throws(EngineError) {
        let pass = portion.context.pass
        // A policy may keep an object, and with it the reader.
        defer { portion.reader.end() }
        try refuseLowKeys(of: pass)
        var last = pass.offset
        while true {
            let objects = try objects(of: pass, after: last)
            guard let final = objects.last else { return }
            last = final.destination.key
            do {
                try run(code, portion, objects)
            } catch {
                throw translated(error, portion)
            }
        }
    }

    private func uri(of object: SourceObjectKey) -> ObjectURI {
        ObjectURI(store: store, entity: object.entity, key: object.key)
    }

    /// Refuses objects whose keys no store of Core Data has: keys of made objects follow from them.
    private func refuseLowKeys(of pass: PolicyPass) throws(EngineError) {
        let count = try EngineError.translating { () throws(StoreError) in
            try connection.integer(
                "SELECT count(*) FROM main.\(SQLText.quoted(pass.objects.table)) "
                    + "WHERE Z_PK < 1 AND Z_ENT = \(pass.objects.number)")
        }
        guard count == 0 else {
            throw .dataRefused(
                "\(count ?? 0) objects of \(pass.objects.entity) have keys below 1, for which a "
                    + "migration policy can make nothing. Nothing was written")
        }
    }

    /// A failure of the policy with the object that it had in hand, or one of the files as it is.
    private func translated(_ error: any Error, _ portion: PolicyPortion) -> EngineError {
        switch error {
        case let error as StoreError: return .store(error)
        case let error as DurableFileError: return .file(error)
        case let error as EngineError: return error
        default: break
        }
        let name = portion.context.pass.className
        let object = portion.state.current.map { " for \(uri(of: $0.source))" } ?? ""
        return .policyFailed(
            "migration policy \(name) failed\(object): \(PolicyFailure.text(of: error)). The "
                + "original store was not changed; correct the policy or the object and replay")
    }

    /// All hooks, in Core Data's order.
    private func run(
        _ code: any PolicyCode, _ portion: PolicyPortion, _ objects: [PolicyObject]
    ) throws {
        let state = portion.state
        state.begin()
        var used: [[Int: Int64]] = []
        try call(state) { try code.begin(portion) }
        for object in objects {
            try turn(portion, to: object, .create)
            try call(state) { try code.createDestinationInstances(object, in: portion) }
            used.append(state.places)
        }
        state.turnToPortion()
        try call(state) { try code.endInstanceCreation(portion) }
        for (object, used) in zip(objects, used) {
            try turn(portion, to: object, .relate)
            // Keys go on where the object's first hook ended.
            state.places = used
            try call(state) { try code.createRelationships(object, in: portion) }
        }
        state.turnToPortion()
        try call(state) { try code.endRelationshipCreation(portion) }
        for object in objects {
            try turn(portion, to: object, .validate)
            try call(state) { try code.validate(object, in: portion) }
        }
        state.turnToPortion()
        try call(state) { try code.end(portion) }
    }

    /// Calls a hook; what failed in it counts also where the policy continues.
    private func call(_ state: PolicyState, _ hook: () throws -> Void) throws {
        do {
            try hook()
        } catch {
            throw state.failure ?? error
        }
        if let failure = state.failure { throw failure }
    }

    /// Begins with an object.
    private func turn(
        _ portion: PolicyPortion, to object: PolicyObject, _ hook: PolicyState.Hook
    ) throws {
        portion.state.turn(to: object, hook)
        guard let note else { return }
        let name = portion.context.pass.className
        try note.write("migration policy \(name) was processing \(uri(of: object.source))")
    }

    /// The next objects of a pass.
    private func objects(
        of pass: PolicyPass, after key: Int64
    ) throws(EngineError) -> [PolicyObject] {
        let numbers = SplitNumbers(plan.splits, cells: plan.computedCells)
        let number = numbers.number(of: .attached("s"), in: pass.sourceTable)
        let source = plan.mapping.entityMappings[pass.mapping].source ?? ""
        let isAlone =
            file.source.table(of: source).map { file.source.onlyEntity(of: $0) != nil } ?? false
        var conditions = KeyRange(lower: key + 1, upper: pass.objects.keys.upper)
            .conditions(on: "d.Z_PK")
        if !isAlone || plan.splits.contains(where: { $0.table == pass.sourceTable }) {
            conditions.append("\(number) \(CellSQL.membership(pass.sourceNumbers))")
        }
        return try EngineError.translating { () throws(StoreError) in
            let query = try connection.prepare(
                "SELECT s.Z_PK, d.Z_PK FROM main.\(SQLText.quoted(pass.objects.table)) d "
                    + "JOIN src.\(SQLText.quoted(pass.sourceTable)) s "
                    + "ON s.Z_PK = d.Z_PK - \(pass.offset) "
                    + "WHERE \(conditions.joined(separator: " AND ")) ORDER BY d.Z_PK "
                    + "LIMIT \(Self.portion)")
            var found: [PolicyObject] = []
            while try query.step() {
                found.append(
                    PolicyObject(
                        source: SourceObjectKey(entity: source, key: query.integer(0)),
                        destination: MadeObject(
                            entity: pass.objects.entity, number: pass.objects.number,
                            table: pass.objects.table, key: query.integer(1), origin: .mapped,
                            source: query.integer(0))))
            }
            return found
        }
    }
}

extension PolicyPass {
    /// The key of the source object for which an object was made.
    fileprivate func sourceKey(of key: Int64, in range: ObjectRange) -> Int64 {
        guard let block = blocks.first(where: { $0.objects == range }) else { return key - offset }
        return (key - block.base - 1) / block.most + 1
    }
}

extension StoreLayout {
    /// Columns that need a value, with the names of their properties.
    fileprivate func needed(_ rows: RecordedRows) -> [(column: String, property: String)] {
        let columns = tables.first { $0.name == rows.objects.table }?.columns ?? []
        return rows.columns.compactMap { recorded in
            guard let column = columns.first(where: { $0.name == recorded.name }) else {
                return nil
            }
            let isOptional: Bool? =
                switch column.role {
                case .attribute(let key):
                    model.attribute(key.property, of: key.entity)?.attribute.isOptional
                case .toOne(let key):
                    model.relationship(key.property, of: key.entity)?.relationship.isOptional
                case .toOneEntity, .hiddenKey, .hiddenOrder, .order: nil
                }
            return isOptional == false ? (column.name, column.role.key.property) : nil
        }
    }
}

extension MigrationPlan {
    /// What policies do to the rows of a feed.
    func policies(of feed: Feed) -> [PolicyPass] {
        policies.filter { pass in
            pass.sourceTable == feed.sourceTable && pass.objects.table == feed.destinationTable
                && pass.offset == feed.offset
                && feed.entities.contains { $0.pass == pass.mapping }
        }
    }

    /// What is recorded of the rows that a feed and its policies make.
    func recordedRows(of feed: Feed) -> [RecordedRows] {
        let ranges = policies(of: feed).flatMap { [$0.objects] + $0.blocks.map(\.objects) }
        return recordedRows.filter { ranges.contains($0.objects) }
    }

    /// The tables in which policies make objects while a feed is copied, without its own.
    func madeTables(of feed: Feed) -> [String] {
        policies(of: feed).flatMap(\.blocks).map(\.objects.table).reduce(into: []) { found, name in
            if name != feed.destinationTable, !found.contains(name) { found.append(name) }
        }
    }

    /// The join tables in which policies link objects while a feed is copied.
    func linkedTables(of feed: Feed) -> [String] {
        policies(of: feed).flatMap(\.joins).reduce(into: []) { found, name in
            if !found.contains(name) { found.append(name) }
        }
    }
}
