import CoreDataStore
import SafeSQLite

/// Gives out keys of new rows, and records the highest of each table as Core Data does.
final class KeyReservoir {
    private let connection: Connection
    private var last: [Int64: Int64] = [:]
    private var changed: Set<Int64> = []

    init(_ connection: Connection) { self.connection = connection }

    /// A key that no row of the entity's table has had.
    ///
    /// - Throws: `StoreError.notAStore` where the table has no free keys or no row of
    ///   `Z_PRIMARYKEY`.
    func next(in entity: ImportedEntity) throws(StoreError) -> Int64 {
        let before: Int64
        if let known = last[entity.rootNumber] {
            before = known
        } else {
            before = try highest(entity)
        }
        let key = before + 1
        guard key < PrimaryKeys.keyLimit else {
            throw .notAStore(
                path: connection.path, reason: "the keys of \(entity.table) are used up")
        }
        last[entity.rootNumber] = key
        changed.insert(entity.rootNumber)
        return key
    }

    private func highest(_ entity: ImportedEntity) throws(StoreError) -> Int64 {
        let recorded = try connection.integer(
            "SELECT Z_MAX FROM main.Z_PRIMARYKEY WHERE Z_ENT = \(entity.rootNumber)")
        let used = try connection.integer(
            "SELECT max(Z_PK) FROM main.\(SQLText.quoted(entity.table))")
        return max(0, recorded ?? 0, used ?? 0)
    }

    /// Records the highest keys in `Z_PRIMARYKEY`; there must be a transaction.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    func record() throws(StoreError) {
        for number in changed.sorted() {
            guard let key = last[number] else { continue }
            try connection.execute(
                "UPDATE main.Z_PRIMARYKEY SET Z_MAX = \(key) WHERE Z_ENT = \(number)")
        }
        changed = []
    }
}
