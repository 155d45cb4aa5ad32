import CoreDataStore
import ManagedObjectModel
import MappingExpressions
import MappingModel
import MigrationPlans
import SafeSQLite

/// Finds out for which objects of a source the filters of a mapping hold.
struct SplitSurvey {
    let layout: StoreLayout
    let mapping: Mapping
    /// To the source, as its main schema.
    let connection: Connection
    /// What `now()` gives in filters: seconds since 2001-01-01 00:00:00 UTC.
    let now: Double

    /// Objects of an entity that is split, by the masks of its filters.
    struct Found {
        var split: EntitySplit
        /// Rows by the numbers of the split.
        var rows: [Int64: Int64]
    }

    /// Every split of the mapping, in the order of the entities.
    ///
    /// - Parameter failures: gets what of a filter cannot be computed.
    /// - Returns: none for a mapping without filters.
    /// - Throws: `PlanError.unsupported` for too many filters, and `StoreError` with SQLite's
    ///   reason.
    /// - Complexity: reads each table of an entity with filters once.
    func splits(_ failures: ValueFailures) throws -> [Found] {
        var next = Int64(layout.entityOrder.count) + 1
        var found: [Found] = []
        for entity in layout.entityOrder {
            let filters = try filters(of: entity)
            guard !filters.isEmpty, let table = layout.table(of: entity),
                let number = layout.number(of: entity)
            else { continue }
            found.append(
                Found(
                    split: EntitySplit(
                        entity: entity, number: Int64(number), table: table.name,
                        isAlone: layout.onlyEntity(of: table) != nil, filters: filters,
                        variants: []), rows: [:]))
        }
        guard !found.isEmpty else { return [] }
        let cells = found.map(\.split).computedCells
        try ValueFunction.register(
            connection, source: .main, cells: cells, failures: failures)
        for place in found.indices {
            try count(&found[place], cells, next: &next)
        }
        return found
    }

    private func filters(of entity: String) throws -> [ComputedCell] {
        let predicates = mapping.filters(ofSource: entity)
        guard predicates.count <= Mapping.filterLimit else {
            throw PlanError.unsupported(
                "entity \(entity) has \(predicates.count) filters; \(Mapping.filterLimit) are "
                    + "supported")
        }
        return try predicates.map { predicate in
            try ComputedCell(
                value: ComputedValue(predicate.sourceExpression, of: entity, in: layout.model),
                source: entity, in: layout, type: .boolean, name: "the filter of \(entity)",
                now: now)
        }
    }

    private func count(_ found: inout Found, _ cells: [ComputedCell], next: inout Int64) throws {
        let row = SourceRow("s", schema: "")
        let mask = SplitNumbers([], cells: cells).mask(of: row, found.split.filters)
        let own: SQLText = found.split.isAlone ? "1" : "s.Z_ENT = \(found.split.number)"
        // Without the limit SQLite joins both queries into one, and sorts rows that hold all that
        // the filters read: also large values, all of them at once.
        let groups = try connection.prepare(
            "SELECT mask, count(*) FROM (SELECT \(mask) AS mask FROM "
                + "\(SQLText.quoted(found.split.table)) s WHERE \(own) LIMIT -1) "
                + "GROUP BY mask ORDER BY mask")
        while try groups.step() {
            let (mask, rows) = (groups.integer(0), groups.integer(1))
            guard mask != 0 else {
                found.rows[found.split.number] = rows
                continue
            }
            guard next < PrimaryKeys.firstReserved else {
                throw PlanError.unsupported(
                    "the filters of \(found.split.entity) distinguish too many kinds of objects")
            }
            found.split.variants.append(EntitySplit.Variant(mask: mask, number: next))
            found.rows[next] = rows
            next += 1
        }
    }
}
