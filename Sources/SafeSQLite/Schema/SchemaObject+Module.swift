extension SchemaObject {
    /// Whether it is a virtual table of SQLite's R-tree module.
    package var isRTree: Bool { module == "RTREE" || module == "RTREE_I32" }

    /// The module of a virtual table, in upper case; nil for anything else.
    package var module: String? { moduleTokens?.name }

    /// The options of a virtual table's module by their names in lower case, each an argument of
    /// the form `name = value`.
    package var moduleOptions: [String: String] {
        guard var tokens = moduleTokens?.rest, tokens.next()?.isSign("(") == true else {
            return [:]
        }
        var arguments: [[SQLTokens.Token]] = [[]]
        var depth = 0
        while let token = tokens.next() {
            if token.isSign("(") { depth += 1 }
            if token.isSign(")") { depth -= 1 }
            if depth < 0 { break }
            if depth == 0, token.isSign(",") {
                arguments.append([])
            } else {
                arguments[arguments.count - 1].append(token)
            }
        }
        var options: [String: String] = [:]
        for argument in arguments where argument.count >= 2 && argument[1].isSign("=") {
            let name = argument[0].text.lowercased()
            if !name.isEmpty { options[name] = argument.dropFirst(2).map(\.text).joined() }
        }
        return options
    }

    /// The module of a virtual table, in upper case, and what follows its name.
    private var moduleTokens: (name: String, rest: SQLTokens)? {
        guard isVirtual, let sql else { return nil }
        var tokens = SQLTokens(sql)
        // CREATE VIRTUAL TABLE name USING module: the name may be any word in quotes.
        for _ in 0..<4 { _ = tokens.next() }
        while let token = tokens.next() {
            guard token.isWord, token.upperText == "USING" else { continue }
            guard let name = tokens.next()?.upperText else { return nil }
            return (name, tokens)
        }
        return nil
    }

    /// What follows the first parenthesis of a table's statement, in lower case, without spaces,
    /// comments and quotes; nil where there is none.
    package var columnText: String? {
        guard let sql else { return nil }
        var tokens = SQLTokens(sql)
        while let token = tokens.next() {
            guard token.isWord, token.text == "(" else { continue }
            var text = ""
            while let token = tokens.next() { text += token.text }
            return text.lowercased()
        }
        return nil
    }
}

/// The words and names at the beginning of a statement.
private struct SQLTokens {
    struct Token {
        let text: String
        /// Whether it has no quotes.
        let isWord: Bool

        /// In upper case, as SQLite compares words: letters of ASCII alone have two cases.
        var upperText: String {
            String(
                decoding: text.utf8.map { byte in
                    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte - 32 : byte
                }, as: UTF8.self)
        }

        func isSign(_ sign: String) -> Bool { isWord && text == sign }
    }

    // Scalars, because a combining mark behind a quote would make another character of it.
    private var rest: Substring.UnicodeScalarView

    init(_ sql: String) { rest = sql[...].unicodeScalars }

    /// SQLite takes no other white space for one.
    private static let spaces: Set<Unicode.Scalar> = [" ", "\t", "\n", "\u{0C}", "\r"]
    private static let closing: [Unicode.Scalar: Unicode.Scalar] = [
        "\"": "\"", "'": "'", "`": "`", "[": "]",
    ]

    /// Whether SQLite takes a scalar for a part of a word: so it does with every one but those of
    /// ASCII that are neither letters nor digits.
    private static func isInWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "$": true
        default: scalar.value >= 0x80
        }
    }

    /// The next word, quoted name or sign; nil at the end.
    mutating func next() -> Token? {
        skipSpace()
        guard let first = rest.first else { return nil }
        if let last = Self.closing[first] { return quoted(until: last) }
        let word = rest.prefix(while: Self.isInWord)
        let text = word.isEmpty ? rest.prefix(1) : word
        rest = rest.dropFirst(text.count)
        return Token(text: String(text), isWord: true)
    }

    private mutating func quoted(until last: Unicode.Scalar) -> Token {
        rest.removeFirst()
        var text = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            if scalar == last {
                // A quote in a name is written twice, but not a bracket.
                guard last != "]", rest.first == last else { break }
                rest.removeFirst()
            }
            text.append(scalar)
        }
        return Token(text: String(text), isWord: false)
    }

    /// Skips white space and comments.
    private mutating func skipSpace() {
        while let first = rest.first {
            let second = rest.dropFirst().first
            if Self.spaces.contains(first) {
                rest.removeFirst()
            } else if first == "-", second == "-" {
                rest = rest.drop { $0 != "\n" }
            } else if first == "/", second == "*" {
                rest.removeFirst(2)
                while let scalar = rest.popFirst() {
                    if scalar == "*", rest.first == "/" { break }
                }
                if !rest.isEmpty { rest.removeFirst() }
            } else {
                return
            }
        }
    }
}
