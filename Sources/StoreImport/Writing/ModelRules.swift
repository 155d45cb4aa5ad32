import CoreDataStore
import ManagedObjectModel
import SafeSQLite

/// Counts objects that break rules of the model which one line cannot break alone.
struct ModelRules {
    let schema: ImportSchema
    let connection: Connection

    /// Required relationships that lead nowhere, with the number of objects.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    /// - Complexity: reads the tables of required relationships.
    func faults() throws(StoreError) -> [String] {
        var faults: [String] = []
        for entity in schema.layout.model.numberedEntities {
            for relationship in entity.relationships {
                let least = Self.least(relationship)
                guard least > 0, let count = try count(relationship, of: entity.name, least),
                    count > 0
                else { continue }
                let wanted = relationship.isToMany ? "at least \(least)" : "one"
                faults.append(
                    "\(count) objects of \(entity.name) have no \(relationship.name), which must "
                        + "lead to \(wanted)")
            }
        }
        return faults
    }

    /// The fewest objects that a relationship must lead to.
    private static func least(_ relationship: Relationship) -> Int64 {
        relationship.isOptional ? 0 : max(1, Int64(relationship.minimumCount))
    }

    private func count(
        _ relationship: Relationship, of owner: String, _ least: Int64
    ) throws(StoreError) -> Int64? {
        let family = schema.layout.model.family(of: owner)
        guard let table = schema.layout.table(of: owner),
            let storage = family.lazy.compactMap({
                schema.entities[$0.name]?.relationships[relationship.name]?.storage
            }).first
        else { return nil }
        let numbers = SQLText.list(
            family.compactMap { schema.layout.number(of: $0.name) }.map { Int64($0) })
        let broken: SQLText
        switch storage {
        case .toOne(let columns, _): broken = "\(SQLText.quoted(columns.key)) IS NULL"
        case .toMany(let columns):
            broken =
                "(SELECT count(*) FROM main.\(SQLText.quoted(columns.table)) AS target "
                + "WHERE target.\(SQLText.quoted(columns.key)) = owner.Z_PK) < \(least)"
        case .join(let columns):
            var condition: SQLText = "\(SQLText.quoted(columns.own)) = owner.Z_PK"
            if columns.isReflexive {
                condition += " OR \(SQLText.quoted(columns.other)) = owner.Z_PK"
            }
            broken =
                "(SELECT count(*) FROM main.\(SQLText.quoted(columns.table)) "
                + "WHERE \(condition)) < \(least)"
        }
        return try connection.integer(
            "SELECT count(*) FROM main.\(SQLText.quoted(table.name)) AS owner "
                + "WHERE +Z_ENT IN (\(numbers)) AND \(broken)")
    }
}
