import GRDBSQLite

extension Connection {
    /// The bytes of the main database, whole pages.
    ///
    /// - Throws: `StoreError.inputOutput` where there is no memory for them.
    package func serialized() throws(StoreError) -> [UInt8] {
        var size: sqlite3_int64 = 0
        guard let start = sqlite3_serialize(handle, "main", &size, 0) else {
            throw .inputOutput(path: path, reason: "there is no memory for its pages")
        }
        defer { sqlite3_free(start) }
        return Array(UnsafeBufferPointer(start: start, count: Int(size)))
    }
}
