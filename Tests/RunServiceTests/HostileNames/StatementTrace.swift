import CStatementTrace
import Foundation
import TestSupport

/// Every statement that SQLite ran on the files below a folder, and on databases in memory.
struct StatementTrace {
    struct Statement {
        let file: String
        let text: String
    }

    let statements: [Statement]
    let folder: String

    /// Runs a body and notes the statements of connections that are opened meanwhile.
    static func noting(_ folder: URL, _ body: () throws -> Void) rethrows -> StatementTrace {
        cstatementtrace_begin(folder.path)
        defer { cstatementtrace_end() }
        try body()
        var found: [Statement] = []
        for number in 0..<cstatementtrace_count() {
            var file: UnsafePointer<CChar>?
            var text: UnsafePointer<CChar>?
            guard cstatementtrace_statement(number, &file, &text) == 1, let file, let text else {
                continue
            }
            found.append(Statement(file: String(cString: file), text: String(cString: text)))
        }
        return StatementTrace(statements: found, folder: folder.path)
    }

    /// The statements that are none of ours: code made of a name, several in one text, or one of a
    /// kind that no step runs.
    var violations: [String] {
        statements.compactMap { statement in
            fault(of: statement).map { "\($0): \(statement.text)" }
        }
    }

    private static let kinds: Set<String> = [
        "SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "BEGIN", "COMMIT", "ROLLBACK",
        "SAVEPOINT", "RELEASE", "ANALYZE", "PRAGMA", "ATTACH", "DETACH", "EXPLAIN", "WITH",
        "REPLACE",
    ]
    /// Settings of ours and of GRDB, and what SQLite itself asks.
    private static let pragmas: Set<String> = [
        "MMAP_SIZE", "CACHE_SIZE", "CELL_SIZE_CHECK", "TEMP_STORE", "PAGE_SIZE", "ENCODING",
        "SYNCHRONOUS", "SECURE_DELETE", "JOURNAL_MODE", "LOCKING_MODE", "AUTO_VACUUM", "THREADS",
        "USER_VERSION", "PAGE_COUNT", "FREELIST_COUNT", "QUICK_CHECK", "INTEGRITY_CHECK",
        "WAL_CHECKPOINT", "WAL_AUTOCHECKPOINT", "TABLE_XINFO", "INDEX_LIST", "INDEX_XINFO",
        "FOREIGN_KEYS",
        "QUERY_ONLY", "APPLICATION_ID", "SCHEMA_VERSION", "DATABASE_LIST", "TABLE_INFO",
        "JOURNAL_SIZE_LIMIT", "BUSY_TIMEOUT", "IGNORE_CHECK_CONSTRAINTS", "MAX_PAGE_COUNT",
    ]

    private func fault(of statement: Statement) -> String? {
        guard let bare = cstatementtrace_bare(statement.text) else {
            return "quotes that do not end"
        }
        defer { free(bare) }
        let upper = String(cString: bare)
        if upper.contains(HostileNames.mark.uppercased()) { return "a name as code" }
        // The ledger's statements are constants of its own.
        if statement.file.hasSuffix("/ledger.sqlite") { return nil }
        if upper.contains("--") || upper.contains("/*") { return "a comment" }
        let words = upper.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
        guard let kind = words.first, Self.kinds.contains(kind) else { return "another kind" }
        let isTrigger = kind == "CREATE" && words.dropFirst().first == "TRIGGER"
        if !isTrigger, let end = upper.firstIndex(of: ";"),
            !upper[upper.index(after: end)...].allSatisfy(\.isWhitespace)
        {
            return "several statements"
        }
        if words.dropFirst().contains(where: { ["ATTACH", "DETACH", "PRAGMA"].contains($0) }) {
            return "a setting within another statement"
        }
        switch kind {
        case "PRAGMA":
            let names = words.dropFirst().prefix(2)
            return names.contains(where: Self.pragmas.contains) ? nil : "another setting"
        case "ATTACH":
            let isOurs =
                statement.text.hasPrefix("ATTACH 'file:\(folder)/")
                && statement.text.contains("immutable=1' AS \"")
            return isOurs ? nil : "another file attached"
        case "DROP": return upper.hasPrefix("DROP TABLE MAIN.") ? nil : "something dropped"
        default: return nil
        }
    }
}
