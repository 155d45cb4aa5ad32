import GRDBSQLite

/// A text or blob of a row, read piece by piece: it is never in memory as a whole.
///
/// It must not outlive its connection's use of the schema.
package final class ValuePieces {
    private let connection: Connection
    private let pointer: OpaquePointer
    /// Whether the value is a text.
    package let isText: Bool

    /// Opens a value.
    ///
    /// Nil for a row that is not there, and for a value that is neither text nor blob.
    ///
    /// - Parameters:
    ///   - connection: that has the schema.
    ///   - schema: such as `src`.
    ///   - table: with rowids.
    ///   - column: of the table.
    ///   - key: of the row.
    /// - Throws: `StoreError` with SQLite's message.
    package init?(
        _ connection: Connection, schema: StaticString, table: String, column: String, key: Int64
    ) throws(StoreError) {
        let kind = try connection.prepare(
            "SELECT typeof(\(SQLText.quoted(column))) FROM \(.name(of: schema))"
                + ".\(SQLText.quoted(table)) WHERE Z_PK = \(key)")
        guard try kind.step(), let name = kind.text(0), ["text", "blob"].contains(name) else {
            return nil
        }
        kind.reset()
        var opened: OpaquePointer?
        let code = sqlite3_blob_open(
            connection.handle, schema.description, table, column, key, 0, &opened)
        guard code == SQLITE_OK, let opened else { throw connection.failure(code) }
        self.connection = connection
        pointer = opened
        isText = name == "text"
    }

    deinit { sqlite3_blob_close(pointer) }

    /// The bytes of the value.
    package var count: Int64 { Int64(sqlite3_blob_bytes(pointer)) }

    /// A piece of it.
    ///
    /// - Parameters:
    ///   - offset: of the first byte, not below 0.
    ///   - length: the most bytes, not below 0.
    /// - Returns: fewer bytes at the end of the value.
    /// - Throws: `StoreError` with SQLite's message.
    /// - Complexity: O(length) where the piece follows the one before.
    package func bytes(from offset: Int64, count length: Int64) throws(StoreError) -> [UInt8] {
        let start = min(offset, count)
        let size = Int(min(length, count - start))
        guard size > 0 else { return [] }
        var code = SQLITE_OK
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
            code = sqlite3_blob_read(
                pointer, buffer.baseAddress, Int32(clamping: size), Int32(clamping: start))
            filled = code == SQLITE_OK ? size : 0
        }
        guard code == SQLITE_OK else { throw connection.failure(code) }
        return bytes
    }
}
