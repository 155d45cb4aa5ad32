import CoreDataStore
import ManagedObjectModel
import MappingModel
import SafeSQLite

/// Counts the values and links that get another name.
struct RenameCount {
    let source: StoreLayout
    let destination: StoreLayout
    let mapping: Mapping
    let connection: Connection

    /// A column of a source table with the entities whose rows are meant.
    private struct Place: Hashable {
        let table: TableLayout
        let column: String
    }

    /// How many there are, by what the destination calls them: `Entity.property`.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    /// - Complexity: reads the tables that have a renamed property, once for each of them.
    func counts() throws(StoreError) -> [String: Int64] {
        var places: [String: [Place: [Int]]] = [:]
        for mapped in mapping.entityMappings {
            guard let from = mapped.source, let to = mapped.destination,
                let number = source.number(of: from), let table = source.table(of: from)
            else { continue }
            for (name, column) in renamed(mapped, from: from, to: to) {
                places[name, default: [:]][Place(table: table, column: column), default: []]
                    .append(number)
            }
        }
        var counts: [String: Int64] = [:]
        for (name, columns) in places {
            for (place, numbers) in columns {
                let isAlone = source.onlyEntity(of: place.table) != nil
                let condition: SQLText = isAlone ? "1" : "Z_ENT IN (\(.list(numbers)))"
                counts[name, default: 0] +=
                    try connection.integer(
                        "SELECT count(\(SQLText.quoted(place.column))) FROM "
                            + "\(SQLText.quoted(place.table.name)) WHERE \(condition)") ?? 0
            }
        }
        return counts
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
