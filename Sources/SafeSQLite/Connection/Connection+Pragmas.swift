import CSQLite
import GRDBSQLite

/// The only ways to SQLite's settings: elsewhere a PRAGMA does not compile.
extension Connection {
    /// Runs constant statements that set something up, PRAGMAs among them.
    ///
    /// - Throws: `StoreError` with SQLite's message.
    package func configure(_ statements: StaticString) throws(StoreError) {
        try opening(godwit_sqlite_step_pragma) { () throws(StoreError) in
            let code = sqlite3_exec(handle, statements.description, nil, nil, nil)
            guard code == SQLITE_OK else { throw failure(code) }
        }
    }

    /// Asks for a setting, or makes one.
    ///
    /// - Parameters:
    ///   - name: of the pragma.
    ///   - value: what it is set to; nil only asks.
    /// - Returns: the first column of the rows that the pragma gives.
    /// - Throws: `StoreError` with SQLite's message.
    package func pragma(
        _ name: StaticString, _ value: Int64? = nil
    ) throws(StoreError) -> [String] {
        let pragma = SQLText.name(of: name)
        return try opening(godwit_sqlite_step_pragma) { () throws(StoreError) in
            guard let value else { return try texts("PRAGMA \(pragma)") }
            return try texts("PRAGMA \(pragma) = \(value)")
        }
    }

    /// The bytes a file takes: pages times page size.
    ///
    /// - Throws: `StoreError` with SQLite's message.
    package func size() throws(StoreError) -> Int64 {
        try number("page_count") * number("page_size")
    }

    /// The pages of the file.
    ///
    /// - Throws: `StoreError` with SQLite's message.
    package func pageCount() throws(StoreError) -> Int64 { try number("page_count") }

    /// The pages of the file that hold nothing.
    ///
    /// - Throws: `StoreError` with SQLite's message.
    package func freePageCount() throws(StoreError) -> Int64 { try number("freelist_count") }

    func number(_ name: StaticString) throws(StoreError) -> Int64 {
        try pragma(name).first.flatMap { Int64($0) } ?? 0
    }

    /// What SQLite finds wrong with the pages of the file, up to ten lines; `ok` alone for nothing.
    ///
    /// - Throws: `StoreError` with SQLite's message.
    /// - Complexity: reads the whole file.
    package func checkPages() throws(StoreError) -> [String] { try pragma("quick_check(10)") }

    /// What SQLite finds wrong with a table and its indexes; `ok` alone for nothing.
    ///
    /// - Parameter table: an ordinary table.
    /// - Returns: the lines.
    /// - Throws: `StoreError` with SQLite's message.
    /// - Complexity: looks each row up in every index.
    package func checkTable(_ table: String) throws(StoreError) -> [String] {
        try opening(godwit_sqlite_step_pragma) { () throws(StoreError) in
            try texts("PRAGMA integrity_check(\(SQLText.quoted(table)))")
        }
    }

    /// Moves all of the write-ahead log into the database.
    ///
    /// - Throws: `StoreError` with SQLite's message.
    package func checkpoint() throws(StoreError) { _ = try pragma("wal_checkpoint(TRUNCATE)") }

    /// Writes the whole file again with pages of another size, in bytes.
    ///
    /// - Throws: `StoreError` with SQLite's message.
    package func rebuild(pageSize: Int64) throws(StoreError) {
        _ = try pragma("page_size", pageSize)
        // SQLite writes the new pages into a database that it attaches.
        sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 1)
        defer { sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0) }
        try opening(godwit_sqlite_step_vacuum) { () throws(StoreError) in
            try execute("VACUUM")
        }
    }

    // MARK: - Numbers in the header

    /// `user_version` of the main database.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    package func userVersion() throws(StoreError) -> Int32 {
        Int32(truncatingIfNeeded: try number("main.user_version"))
    }

    /// `application_id` of the main database.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    package func applicationID() throws(StoreError) -> Int32 {
        Int32(truncatingIfNeeded: try number("main.application_id"))
    }

    /// Sets `user_version` of the main database, as a part of an open transaction.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    package func setUserVersion(_ number: Int32) throws(StoreError) {
        _ = try pragma("main.user_version", Int64(number))
    }

    /// Sets `application_id` of the main database, as a part of an open transaction.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    package func setApplicationID(_ number: Int32) throws(StoreError) {
        _ = try pragma("main.application_id", Int64(number))
    }

    // MARK: - Bytes

    /// The bytes of the main database, whole pages.
    ///
    /// - Throws: `StoreError.inputOutput` where there is no memory for them.
    package func serialized() throws(StoreError) -> [UInt8] {
        var size: sqlite3_int64 = 0
        guard let start = sqlite3_serialize(handle, "main", &size, 0) else {
            throw .inputOutput(path: path, reason: "there is not enough memory for its pages")
        }
        defer { sqlite3_free(start) }
        return Array(UnsafeBufferPointer(start: start, count: Int(size)))
    }
}
