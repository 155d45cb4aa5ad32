import SafeSQLite

/// Stand-ins for the SQL functions that triggers of Core Data call and only Core Data has: they let
/// such triggers be compiled, and return NULL if one ever ran.
enum FrameworkFunctions {
    private static let prefixes = ["NSCOREDATA", "NSPERSISTENTHISTORY"]

    /// Makes every function known that the texts of triggers call; such names are no closed list.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    static func register(
        _ connection: Connection, calledIn texts: [String]
    ) throws(StoreError) {
        var names: Set<String> = []
        for sql in texts {
            for word in sql.split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != "_" }) {
                let upper = word.uppercased()
                if prefixes.contains(where: upper.hasPrefix), upper.utf8.count < 200 {
                    names.insert(upper)
                }
            }
        }
        for name in names.sorted() {
            try SQLFunction.add(name, to: connection, isPure: false) { _ in .null }
        }
    }
}
