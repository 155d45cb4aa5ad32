import GRDBSQLite

@testable package import SafeSQLite

/// What tests run on stores of their own: any SQL, made from texts as they need it.
///
/// The sources cannot do this: there the compiler takes `SQLText` alone, and each connection has a
/// guard, which the first use of these functions takes away.
extension Connection {
    private func removeGuard() {
        sqlite3_set_authorizer(handle, nil, nil)
        sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 10)
    }

    /// Runs statements without a guard.
    package func execute(_ sql: String) throws(StoreError) {
        removeGuard()
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// Compiles a statement without a guard.
    package func prepare(_ sql: String) throws(StoreError) -> Statement {
        removeGuard()
        return try prepare(SQLText(stringLiteral: sql))
    }

    /// The first integer of a query without a guard.
    package func integer(_ sql: String) throws(StoreError) -> Int64? {
        removeGuard()
        return try integer(SQLText(stringLiteral: sql))
    }

    /// The first column of a query without a guard.
    package func texts(_ sql: String) throws(StoreError) -> [String] {
        removeGuard()
        return try texts(SQLText(stringLiteral: sql))
    }
}
