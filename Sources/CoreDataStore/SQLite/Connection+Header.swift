extension Connection {
    /// `user_version` of the main database.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    package func userVersion() throws(StoreError) -> Int32 {
        Int32(truncatingIfNeeded: try integer("PRAGMA main.user_version") ?? 0)
    }

    /// `application_id` of the main database.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    package func applicationID() throws(StoreError) -> Int32 {
        Int32(truncatingIfNeeded: try integer("PRAGMA main.application_id") ?? 0)
    }

    /// Sets `user_version` of the main database, as a part of an open transaction.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    package func setUserVersion(_ number: Int32) throws(StoreError) {
        try execute("PRAGMA main.user_version = \(number)")
    }

    /// Sets `application_id` of the main database, as a part of an open transaction.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    package func setApplicationID(_ number: Int32) throws(StoreError) {
        try execute("PRAGMA main.application_id = \(number)")
    }
}
