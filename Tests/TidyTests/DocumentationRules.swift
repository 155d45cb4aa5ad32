/// Every shared declaration says what it is.
///
/// Stored properties and cases may speak for themselves, and so may initialisers that only
/// assign and functions that a well-known protocol asks for.
enum DocumentationRules {
    private static let kinds: Set<String> = [
        "func", "struct", "enum", "class", "protocol", "actor", "init", "typealias",
    ]
    private static let modifiers: Set<String> = [
        "static", "final", "mutating", "nonmutating", "consuming", "borrowing", "indirect",
        "override", "convenience", "required", "nonisolated", "isolated",
    ]
    /// What protocols of the standard library and of ArgumentParser ask for.
    private static let witnesses = [
        "func ==", "func <", "func hash(into", "func encode(to", "init(from decoder", "func next()",
        "init(stringLiteral", "init(integerLiteral", "func makeIterator()", "func run()",
        "func validate()", "init()", "let configuration = CommandConfiguration(",
        "init?(argument: String)",
    ]

    static func check(_ code: Code) -> [Violation] {
        code.lines.indices.compactMap { index in
            guard let declaration = declaration(code.lines[index]),
                !witnesses.contains(where: { declaration.hasPrefix($0) }),
                !isDocumented(code, index), !onlyAssigns(code, index, declaration)
            else { return nil }
            let text = "no documentation: package \(declaration)"
            return Violation(path: code.path, line: index + 1, text: text)
        }
    }

    /// The declaration from its kind on, where a line makes a shared one that needs words.
    private static func declaration(_ line: String) -> String? {
        var words = line.split(separator: " ")[...]
        while words.first?.hasPrefix("@") == true { words.removeFirst() }
        guard words.contains("package"), words.first != "import", !words.contains("import") else {
            return nil
        }
        var isStatic = false
        while let first = words.first, first == "package" || modifiers.contains(String(first)) {
            isStatic = isStatic || first == "static"
            words.removeFirst()
        }
        guard let first = words.first else { return nil }
        let kind = String(first.prefix { $0.isLetter })
        let isConstant = kind == "let" && isStatic
        guard kinds.contains(kind) || isConstant else { return nil }
        return words.joined(separator: " ")
    }

    /// Whether a `///` line precedes, attributes and conditions left aside.
    private static func isDocumented(_ code: Code, _ index: Int) -> Bool {
        var above = index - 1
        while above >= 0 {
            let line = code.original[above].drop { $0 == " " }
            if line.hasPrefix("///") { return true }
            guard line.hasPrefix("@") || line.hasPrefix("#if") else { return false }
            above -= 1
        }
        return false
    }

    /// Whether an initialiser cannot fail and does nothing but set properties.
    private static func onlyAssigns(_ code: Code, _ index: Int, _ declaration: String) -> Bool {
        guard declaration.hasPrefix("init(") else { return false }
        let functions = LengthRules.functions(code)
        guard let body = functions.first(where: { $0.first == index + 1 }) else { return false }
        let text = code.lines[index..<body.last].joined(separator: "\n")
        guard let brace = text.firstIndex(of: "{") else { return false }
        if text[..<brace].split(whereSeparator: { !$0.isLetter }).contains("throws") {
            return false
        }
        let keywords = ["if ", "guard ", "for ", "while ", "switch ", "try ", "return"]
        return !keywords.contains { text[brace...].contains($0) }
    }
}
