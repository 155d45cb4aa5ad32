/// Closes the ways around `SQLText`, which takes no name but through its own functions.
enum SQLRules {
    /// What may stand in these files alone, as written in code.
    private struct Way {
        let text: String
        let reason: String
        let allowed: [String]
    }

    private static let text = "Sources/SafeSQLite/Schema/SQLText.swift"
    // Can make no piece of SQL but through what SQLText offers.
    private static let model = "Sources/CoreDataStore/Layout/SQLText+Model.swift"
    private static let connection = "Sources/SafeSQLite/Connection/Connection.swift"
    private static let pragmas = "Sources/SafeSQLite/Connection/Connection+Pragmas.swift"
    private static let schema = "Sources/SafeSQLite/Connection/Connection+Schema.swift"
    // Its names are its own, what others name is bound; the benchmarks know no stranger.
    private static let ownDatabases = ["Sources/RunLedger/", "Sources/godwit-bench/"]

    private static let makers = "pieces of SQL are made by SQLText alone"
    private static let runners = "SQL runs through Connection alone"
    private static let steps = "steps of a guard are opened by Connection alone"

    private static let ways: [Way] = [
        .init(text: "SQLText(unchecked:", reason: makers, allowed: [text]),
        .init(text: "SQLText(stringLiteral:", reason: makers, allowed: []),
        .init(text: "SQLText.init", reason: makers, allowed: []),
        .init(text: "SQLText(stringInterpolation:", reason: makers, allowed: []),
        .init(text: "StringInterpolation(", reason: makers, allowed: [text]),
        .init(text: "appendLiteral(", reason: makers, allowed: [text]),
        .init(text: "appendInterpolation(", reason: makers, allowed: [text]),
        .init(text: "extension SQLText", reason: makers, allowed: [text, model]),
        .init(text: "SQLText.statement(of:", reason: makers, allowed: [schema]),
        .init(text: "sqlite3_exec", reason: runners, allowed: [connection, pragmas]),
        .init(text: "sqlite3_prepare", reason: runners, allowed: [connection]),
        .init(text: "execute(sql:", reason: runners, allowed: ownDatabases + [connection]),
        .init(text: "makeStatement(sql:", reason: runners, allowed: ownDatabases),
        .init(text: "fetchOne(", reason: runners, allowed: ownDatabases),
        .init(text: "fetchAll(", reason: runners, allowed: ownDatabases),
        .init(text: "fetchCursor(", reason: runners, allowed: ownDatabases),
        .init(text: "sqlite3_set_authorizer", reason: steps, allowed: [connection]),
        .init(text: "godwit_sqlite_guard_", reason: steps, allowed: [connection]),
        .init(
            text: "opening(godwit_sqlite_step_", reason: steps,
            allowed: [connection, pragmas, schema]),
    ]

    static func check(_ code: Code) -> [Violation] {
        ways.filter { way in !way.allowed.contains { code.path.hasPrefix($0) } }.flatMap { way in
            code.lines.indices.filter { code.lines[$0].contains(way.text) }.map {
                Violation(path: code.path, line: $0 + 1, text: "\(way.text): \(way.reason)")
            }
        }
    }

    /// The statement of a layout that writes a name into it must be `SQLText` as well: no text in
    /// a `String` may begin like a statement and take something in.
    static func checkTexts(_ code: Code) -> [Violation] {
        guard !ownDatabases.contains(where: { code.path.hasPrefix($0) }) else { return [] }
        return code.original.indices.filter { index in
            let line = code.original[index]
            return line.contains("\\(") && beginnings.contains { line.contains("\"\($0)") }
                && line.contains(": String")
        }.map {
            Violation(
                path: code.path, line: $0 + 1, text: "a statement in a String: use SQLText")
        }
    }

    private static let beginnings = [
        "SELECT ", "INSERT ", "UPDATE ", "DELETE FROM", "CREATE ", "DROP ", "ATTACH ", "PRAGMA ",
    ]
}
