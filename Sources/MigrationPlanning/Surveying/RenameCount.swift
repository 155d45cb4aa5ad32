import CoreDataStore
import ManagedObjectModel
import MappingExpressions
import MappingModel
import MigrationPlans
import SafeSQLite

/// Counts the values and links that get another name.
struct RenameCount {
    let source: StoreLayout
    let destination: StoreLayout
    let mapping: Mapping
    /// Source entities whose objects filters tell apart.
    let splits: [EntitySplit]
    let connection: Connection

    /// Rows of an entity that a mapping takes.
    private struct Rows: Hashable {
        let table: String
        let entity: String
        let filter: MappingPredicate?
    }

    /// How many there are, by what the destination calls them: `Entity.property`.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    /// - Complexity: reads the table of each entity that has a renamed property once.
    func counts() throws(StoreError) -> [String: Int64] {
        var columns: [Rows: [(name: String, column: String)]] = [:]
        for mapped in mapping.entityMappings {
            guard let from = mapped.source, let to = mapped.destination,
                let table = source.table(of: from)
            else { continue }
            let found = renamed(mapped, from: from, to: to)
            if !found.isEmpty {
                let rows = Rows(table: table.name, entity: from, filter: mapped.filter)
                columns[rows, default: []] += found
            }
        }
        var counts: [String: Int64] = [:]
        for (rows, found) in columns {
            let condition = condition(of: rows)
            let list = found.map { "count(\(SQLText.quoted($0.column)))" as SQLText }
            let statement = try connection.prepare(
                "SELECT \(list.joined(separator: ", ")) FROM \(SQLText.quoted(rows.table)) "
                    + "WHERE \(condition)")
            guard try statement.step() else { continue }
            for (place, one) in found.enumerated() {
                counts[one.name, default: 0] += statement.integer(place)
            }
        }
        return counts
    }

    private func condition(of rows: Rows) -> SQLText {
        let isAlone = source.table(of: rows.entity).flatMap { source.onlyEntity(of: $0) } != nil
        let number = source.number(of: rows.entity) ?? 0
        let own: SQLText = isAlone ? "1" : "Z_ENT = \(number)"
        guard let filter = rows.filter,
            let split = splits.first(where: { $0.entity == rows.entity }),
            let bit = mapping.filters(ofSource: rows.entity).firstIndex(of: filter)
        else { return own }
        let row = SourceRow(.quoted(rows.table), schema: "")
        let holds = ComputedSQL(cells: splits.computedCells)
            .expression(split.filters[bit], of: row)
        return "\(own) AND (\(holds))"
    }

    /// The renamed properties of an entity mapping with the columns that hold them.
    private func renamed(
        _ mapped: EntityMapping, from: String, to: String
    ) -> [(name: String, column: String)] {
        var found: [(String, String)] = []
        for one in mapped.attributes {
            guard let name = one.value.sourceName, name != one.destination,
                let owner = source.model.attribute(name, of: from)?.owner.name,
                let column = source.column(.attribute(PropertyKey(owner, name)))?.column.name,
                let declarer = destination.model.attribute(one.destination, of: to)?.owner.name
            else { continue }
            found.append(("\(PropertyKey(declarer, one.destination))", column))
        }
        for one in mapped.relationships {
            guard let name = one.source, name != one.destination,
                let owner = source.model.relationship(name, of: from)?.owner.name,
                let column = source.column(.toOne(PropertyKey(owner, name)))?.column.name,
                let declarer = destination.model.relationship(one.destination, of: to)?.owner.name
            else { continue }
            found.append(("\(PropertyKey(declarer, one.destination))", column))
        }
        return found
    }
}
