import CoreDataStore
import MappingExpressions
import MigrationPlans
import SafeSQLite

/// A row of an entity table.
struct ObjectReference: Hashable, Sendable {
    let key: Int64
    /// Of its own entity.
    let entity: Int64
}

/// Finds objects by the attributes that identify them.
final class ObjectFinder {
    private let connection: Connection
    /// By the numbers of keys.
    private var statements: [Int: Statement] = [:]

    init(_ connection: Connection) { self.connection = connection }

    /// The object with a value of a key; nil where there is none.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    /// - Complexity: O(log n).
    func find(_ key: ImportedKey, _ value: StoredCell) throws(StoreError) -> ObjectReference? {
        let query: Statement
        if let known = statements[key.number] {
            query = known
        } else {
            // An index of entity numbers must not be used in place of the key's.
            query = try connection.prepare(
                "SELECT Z_PK, Z_ENT FROM main.\(SQLText.quoted(key.table)) "
                    + "WHERE \(SQLText.quoted(key.attribute.column)) = ?1 "
                    + "AND +Z_ENT IN (\(SQLText.list(key.entityNumbers))) LIMIT 2")
            statements[key.number] = query
        }
        defer { query.reset() }
        try query.bind(value, at: 1)
        guard try query.step() else { return nil }
        let found = ObjectReference(key: query.integer(0), entity: query.integer(1))
        guard try !query.step() else {
            throw .notAStore(
                path: connection.path,
                reason: "two objects have the same value of \(key.entity).\(key.attribute.name), "
                    + "which must identify them")
        }
        return found
    }
}
