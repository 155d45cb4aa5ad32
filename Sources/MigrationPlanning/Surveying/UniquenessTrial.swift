import CoreDataStore
import ManagedObjectModel
import MappingModel
import MigrationPlans
import SafeSQLite

/// Compares the computed values that the destination wants to be unique, so that a plan tells how
/// many are not: a migration finds them when it builds the index.
///
/// The survey counts what is carried or constant (`RequirementCount`).
struct UniquenessTrial {
    private let plan: MigrationPlan
    private let destination: StoreLayout
    private let values: ComputedSQL
    private let connection: Connection

    /// - Parameters:
    ///   - laidOut: the store's plan.
    ///   - connection: to the store as its main schema, on which the functions of values are known.
    init(_ laidOut: LaidOutPlan, connection: Connection) {
        plan = laidOut.plan
        destination = laidOut.destination
        values = ComputedSQL(cells: laidOut.plan.computedCells)
        self.connection = connection
    }

    /// - Parameter store: as errors name it.
    /// - Throws: `EngineError.dataRefused` with the number of objects that are equal to another
    ///   one; `.store` for a store that cannot be read.
    func run(store: String) throws(EngineError) {
        for entity in plan.destinationModel.numberedEntities {
            for names in entity.uniquenessConstraints {
                guard let sql = duplicates(of: entity.name, in: names) else { continue }
                let count = try EngineError.translating {
                    try connection.integer(sql) ?? 0
                }
                guard count > 0 else { continue }
                let demand = DataRequirement.unique(entity: entity.name, attributes: names)
                throw .dataRefused("\(store): \(demand.refusal(count: Int(count)))")
            }
        }
    }

    /// How many objects are equal to another one; nil where no value is computed, or one is no
    /// attribute that is carried, constant or computed here.
    private func duplicates(of entity: String, in names: [String]) -> SQLText? {
        guard let table = destination.table(of: entity)?.name else { return nil }
        let columns = names.compactMap {
            destination.column(ofAttribute: $0, of: entity)?.column.name
        }
        guard columns.count == names.count, !columns.isEmpty else { return nil }
        var isComputed = false
        var parts: [SQLText] = []
        for feed in plan.feeds where feed.destinationTable == table {
            // The index of an entity is one over its table, in which others may have the columns.
            let numbers = feed.entities.map(\.sourceNumber)
            let rows = TriedRows(of: feed, plan)
            var list: [SQLText] = []
            for (place, name) in columns.enumerated() {
                let column = feed.columns.first { $0.name == name }
                guard let value = value(column?.cells ?? [], rows, &isComputed) else { return nil }
                list.append("\(value) AS v\(place)")
            }
            parts.append(
                "SELECT \(list.joined(separator: ", ")) FROM \(rows.table) "
                    + "WHERE \(rows.number) \(CellSQL.membership(numbers))")
        }
        guard isComputed else { return nil }
        let found = columns.indices.map { "v\($0)" as SQLText }
        let present = found.map { "\($0) IS NOT NULL" as SQLText }.joined(separator: " AND ")
        return "SELECT sum(n - 1) FROM (SELECT count(*) AS n FROM "
            + "(\(parts.joined(separator: " UNION ALL "))) WHERE \(present) "
            + "GROUP BY \(found.joined(separator: ", ")))"
    }

    /// The value of one column for the rows of a feed; nil for one that is not known here.
    private func value(
        _ cells: [EntityCell], _ rows: TriedRows, _ isComputed: inout Bool
    ) -> SQLText? {
        var cases: SQLText = ""
        for entry in cells {
            let value: SQLText
            switch entry.cell {
            case .column(let name): value = CellSQL.column(name)
            case .columnOrDefault(let name, let fallback):
                guard let literal = SQLText.literal(fallback) else { return nil }
                value = "ifnull(\(CellSQL.column(name)), \(literal))"
            case .constant(let constant):
                guard let literal = SQLText.literal(constant) else { return nil }
                value = literal
            case .computed(let cell) where cell.policy == nil:
                isComputed = true
                value = values.expression(cell, of: rows.row)
            case .computed, .addingPrefix, .removingPrefix, .key, .entityNumber: return nil
            }
            cases += " WHEN \(rows.number) \(CellSQL.membership(entry.sourceNumbers)) THEN \(value)"
        }
        return cells.isEmpty ? "NULL" : "CASE\(cases) END"
    }
}
