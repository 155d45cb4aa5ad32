extension Connection {
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
}
