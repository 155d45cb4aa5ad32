import CoreDataStore
import ManagedObjectModel
import MappingModel
import MigrationPlans
import SafeSQLite

/// Keys of the objects that policies make.
extension PlanContext {
    /// What policies do, and the keys that are reserved for what they make: above all keys of
    /// objects that come from the source.
    ///
    /// - Parameters:
    ///   - passes: in the order of the entity mappings.
    ///   - offsets: of the ways.
    ///   - tops: the highest key of each destination table; gets those of the reserved keys.
    ///   - highestKeys: of the source tables.
    ///   - destination: the layout to write.
    /// - Returns: one for each entity mapping with a policy.
    /// - Throws: `PlanError.keyOverflow` for keys beyond 2⁶², and `.unsupported` where only some of
    ///   the objects of one entity, from one source table, are a policy's.
    static func policyPasses(
        _ passes: [Pass], _ offsets: [Way: Int64], _ tops: inout [String: Int64],
        highestKeys: [String: Int64], destination: StoreLayout
    ) throws(PlanError) -> [PolicyPass] {
        var found: [PolicyPass] = []
        for pass in passes {
            guard let policy = pass.mapping.policy,
                let number = destination.number(of: pass.destination)
            else { continue }
            let mixed = passes.first { other in
                other.way == pass.way && other.destination == pass.destination
                    && (other.mapping.policy != policy
                        || other.mapping.attributesOfPolicy != pass.mapping.attributesOfPolicy)
            }
            if let mixed {
                throw .unsupported(
                    "entity mappings \(pass.mapping.name) and \(mixed.mapping.name) make objects "
                        + "of one entity from one source entity: give both the same policy, and "
                        + "the same attributes to it")
            }
            let offset = offsets[pass.way] ?? 0
            let highest = highestKeys[pass.way.source] ?? 0
            let objects = ObjectRange(
                entity: pass.destination, number: Int64(number), table: pass.way.destination,
                keys: KeyRange(lower: offset + 1, upper: offset + highest))
            var blocks: [ObjectBlock] = []
            for created in policy.creates {
                blocks.append(
                    try block(created, highest: highest, &tops, destination: destination))
            }
            found.append(
                PolicyPass(
                    mapping: pass.place, className: policy.className,
                    sourceTable: pass.way.source, sourceNumbers: pass.numbers, offset: offset,
                    objects: objects, blocks: blocks,
                    joins: destination.joinTables.filter { join in
                        policy.links(join, from: pass.destination, in: destination.model)
                    }.map(\.name)))
        }
        try refuseDifferentKeys(found)
        try refuseDifferentTargets(found, destination)
        return found
    }

    /// Refuses an entity whose objects are found by one key here and by another one there:
    /// nothing could say which objects are the same.
    private static func refuseDifferentKeys(_ passes: [PolicyPass]) throws(PlanError) {
        var keys: [String: Set<String>] = [:]
        for block in passes.flatMap(\.blocks) where !block.key.isEmpty {
            let key = Set(block.key.map(\.attribute))
            guard keys[block.objects.entity, default: key] == key else {
                throw .unsupported(
                    "policies find objects of \(block.objects.entity) by different attributes. "
                        + "Use the same attributes in all of them")
            }
            keys[block.objects.entity] = key
        }
    }

    private static func block(
        _ created: CreatedObjects, highest: Int64, _ tops: inout [String: Int64],
        destination: StoreLayout
    ) throws(PlanError) -> ObjectBlock {
        guard let table = destination.table(of: created.entity),
            let number = destination.number(of: created.entity)
        else { throw .unsupported("entity \(created.entity) has no table") }
        let base = tops[table.name] ?? 0
        let (length, isTooLong) = highest.multipliedReportingOverflow(by: Int64(created.most))
        let (top, isTooHigh) = base.addingReportingOverflow(length)
        guard !isTooLong, !isTooHigh, top < PrimaryKeys.keyLimit else {
            throw .keyOverflow(table: table.name)
        }
        tops[table.name] = top
        var key: [KeyColumn] = []
        for name in created.key.sorted() {
            let column = destination.column(ofAttribute: name, of: created.entity)?.column
            guard let column else {
                throw .unsupported("attribute \(created.entity).\(name) has no column")
            }
            key.append(KeyColumn(attribute: name, column: column.name))
        }
        return ObjectBlock(
            objects: ObjectRange(
                entity: created.entity, number: Int64(number), table: table.name,
                keys: KeyRange(lower: base + 1, upper: top)),
            base: base, most: Int64(created.most), key: key)
    }
}

// MARK: - Recorded rows

extension PlanContext {
    /// What is recorded of the objects that policies have to do with.
    var recordedRows: [RecordedRows] {
        var rows: [RecordedRows] = []
        for pass in policyPasses {
            let mapping = mapping.entityMappings[pass.mapping]
            let found = pass.blocks
            let own = RecordedRows(
                label: "\(mapping.name) \(pass.objects.entity)", objects: pass.objects,
                columns: ownColumns(of: mapping, pass.objects, found), areCreated: false)
            if !own.columns.isEmpty, !rows.contains(where: { $0.objects == own.objects }) {
                rows.append(own)
            }
            for block in pass.blocks {
                rows.append(
                    RecordedRows(
                        label: "\(mapping.name) creates \(block.objects.entity)",
                        objects: block.objects, columns: columns(of: block.objects, found),
                        areCreated: true))
            }
        }
        return rows
    }

    /// The columns of an entity mapping's objects that a policy fills.
    private func ownColumns(
        of mapping: EntityMapping, _ objects: ObjectRange, _ found: [ObjectBlock]
    ) -> [RecordedColumn] {
        let byPolicy = mapping.attributesOfPolicy
        let sets = Set(mapping.policy?.sets ?? [])
        return usedColumns(of: objects).filter { column in
            switch column.role {
            case .attribute(let key): byPolicy.contains(key.property)
            case .toOne(let key), .toOneEntity(let key): sets.contains(key.property)
            case .hiddenKey, .hiddenOrder, .order: false
            }
        }.map { recorded($0, found) }
    }

    /// All columns of objects that a policy makes.
    private func columns(
        of objects: ObjectRange, _ found: [ObjectBlock]
    ) -> [RecordedColumn] {
        ["Z_ENT", "Z_OPT"].map { RecordedColumn(name: $0, found: []) }
            + usedColumns(of: objects).map { recorded($0, found) }
    }

    private func usedColumns(of objects: ObjectRange) -> [ColumnLayout] {
        let table = destination.tables.first { $0.name == objects.table }
        return (table?.columns ?? []).filter { column in
            switch column.role {
            case .attribute(let key), .toOne(let key), .toOneEntity(let key), .order(let key):
                destination.model.isKind(objects.entity, of: key.entity)
            case .hiddenKey, .hiddenOrder: false
            }
        }
    }

    private func recorded(_ column: ColumnLayout, _ found: [ObjectBlock]) -> RecordedColumn {
        guard case .toOne(let key) = column.role,
            let target = destination.model.relationship(key.property, of: key.entity)?
                .relationship.destination
        else { return RecordedColumn(name: column.name, found: []) }
        return RecordedColumn(
            name: column.name,
            found: found.filter { destination.model.isKind($0.objects.entity, of: target) }
                .compactMap(\.found))
    }
}
