import CoreDataStore
import SafeSQLite

/// The statement that inserts objects of one entity.
///
/// Its parameters are the key, the attributes, and of each to-one the target's key and, where the
/// row holds it, the target's entity number.
struct Insertion {
    /// A to-one that only the row holds.
    struct ToOne {
        let key: PropertyKey
        /// Whether the row holds the entity number of the target.
        let hasEntity: Bool
    }

    let statement: Statement
    let toOnes: [ToOne]

    /// - Throws: `StoreError` with SQLite's reason.
    init(_ entity: ImportedEntity, _ connection: Connection) throws(StoreError) {
        var names = ["Z_PK", "Z_ENT", "Z_OPT"] + entity.attributes.map(\.column)
        var toOnes: [ToOne] = []
        for relationship in entity.relationships.values.filter(\.isPlain)
            .sorted(by: { $0.key.property < $1.key.property })
        {
            guard case .toOne(let columns, _) = relationship.storage else { continue }
            names += [columns.key] + (columns.entity.map { [$0] } ?? [])
            toOnes.append(ToOne(key: relationship.key, hasEntity: columns.entity != nil))
        }
        self.toOnes = toOnes
        let values: [SQLText] =
            ["?1", "\(entity.number)", "1"] + (2..<(names.count - 1)).map { "?\($0)" }
        statement = try connection.prepare(
            "INSERT INTO main.\(SQLText.quoted(entity.table)) "
                + "(\(names.map(SQLText.quoted).joined(separator: ", "))) "
                + "VALUES (\(values.joined(separator: ", ")))")
    }
}
