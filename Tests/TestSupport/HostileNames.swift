/// Names that would do something if they reached SQL as they stand.
package enum HostileNames {
    /// Stands in every name that SQL could not take without quotes, in small letters: wherever it
    /// stands outside quotes in a statement, a name has become code.
    package static let mark = "zqx"

    /// Names with everything that ends, begins or hides a piece of SQL.
    ///
    /// - Parameter canary: the path of a database that must not change.
    /// - Returns: the names.
    package static func known(canary: String) -> [String] {
        let path = canary.utf8.map { "\($0)" }.joined(separator: ",")
        return [
            "x integer); commit; attach char(\(path)) as zqx; delete from zqx.t; "
                + "create table dummy(x",
            "x\"); ATTACH '\(canary)' AS zqx; DELETE FROM zqx.t; --",
            "x'); ATTACH '\(canary)' AS zqx; DELETE FROM zqx.t; --",
            "zqx\"", "zqx'", "zqx`", "[zqx]", "zqx]", "\"zqx\"", "'zqx'", "zqx\"\"", "zqx''",
            "zqx;", "zqx; DROP TABLE Z_METADATA", "zqx --", "zqx/*", "*/zqx", "zqx\n; VACUUM",
            "zqx\r\n", "zqx\t(", "zqx)", "zqx, zqx", "zqx.zqx", "zqx\\", "?1 zqx", ":zqx", "@zqx",
            "zqx\0", "zqx\0; DROP TABLE t", "zqx\u{2028};", "zqx\u{202E}'", "ünï zqx\"",
            "\u{FEFF}zqx;",
            "zqx INTEGER DEFAULT (load_extension('x'))", "zqx AS SELECT readfile('/etc/passwd')",
            "zqx UNIQUE ON CONFLICT REPLACE", "zqx COLLATE x", "zqx||zqx", "%zqx%s%n", "#zqx",
        ]
    }

    /// Names that SQLite takes without quotes, or only with them because they are its words.
    package static let harmless = [
        "select", "table", "index", "order", "group", "Z_PK", "_x", "x$y", "naïve", "名前", "ß", "ﬁ",
        "rowid", "sqlite_master", "main", "temp", "null",
    ]

    private static let fragments = [
        "zqx", "\"", "'", "`", "[", "]", ";", "--", "/*", "*/", "(", ")", ",", ".", " ", "\n", "\t",
        "\\", "?", ":", "@", "$", "=", "x", "1", "ü", "ATTACH", "DETACH", "PRAGMA", "DROP TABLE",
        "select", "union", "END", "BEGIN", "commit", "||", "NULL", "\u{2028}",
    ]

    /// One name: a known one, a harmless one, or pieces put together at random.
    package static func make(
        using random: inout some RandomNumberGenerator, canary: String
    ) -> String {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4:
            let name = known(canary: canary).randomElement(using: &random) ?? mark
            // A NUL ends everything: most models are to come further.
            let isKept = !name.contains("\0") || Int.random(in: 0..<10, using: &random) == 0
            return isKept ? name : mark + ";"
        case 4: return harmless.randomElement(using: &random) ?? mark
        default:
            let count = Int.random(in: 1...8, using: &random)
            let pieces = (0..<count).map { _ in fragments.randomElement(using: &random) ?? mark }
            // Never a name that needs no quotes.
            let end = [";", "\"", "'", " ", "(", "-", "--", "]"].randomElement(using: &random)
            return pieces.joined() + mark + (end ?? ";")
        }
    }

    /// Whether Core Data could have such a name in a store.
    package static func isOrdinary(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, !("0"..."9").contains(first), first != "$"
        else { return false }
        return name.unicodeScalars.allSatisfy { scalar in
            guard scalar.isASCII else {
                return !["\u{2028}", "\u{202E}", "\u{FEFF}"].contains(scalar)
            }
            return scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                || scalar == "_" || scalar == "$"
        }
    }
}
