import GRDBSQLite

/// The SQLite library that this process runs on.
package enum SQLiteLibrary {
    /// Its version, such as `3.40.1`.
    package static var version: String { String(cString: sqlite3_libversion()) }
}
