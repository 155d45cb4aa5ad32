/// What was forged.
package struct ForgeReceipt: Hashable, Sendable {
    /// Rows of entity tables.
    package var rows = 0
    /// Rows by concrete entity.
    package var rowsByEntity: [String: Int] = [:]
    package var joinRows = 0
    /// Of the database and its `-wal`.
    package var bytes: Int64 = 0
    package var externalFiles = 0
    package var externalBytes: Int64 = 0
}
