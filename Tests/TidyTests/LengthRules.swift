/// Files under 400 lines, functions under 70, lines of at most 100 columns.
enum LengthRules {
    static let fileLines = 400
    static let functionLines = 70
    static let columns = 100

    static func longFiles(_ file: TextFile) -> [Violation] {
        guard file.lines.count > fileLines else { return [] }
        let text = "\(file.lines.count) lines, more than \(fileLines): split it by idea"
        return [Violation(path: file.path, line: file.lines.count, text: text)]
    }

    static func longLines(_ file: TextFile) -> [Violation] {
        file.lines.enumerated().compactMap { index, line in
            guard line.count > columns else { return nil }
            let text = "\(line.count) columns, more than \(columns)"
            return Violation(path: file.path, line: index + 1, text: text)
        }
    }

    static func longFunctions(_ code: Code) -> [Violation] {
        functions(code).compactMap { first, last in
            let length = last - first + 1
            guard length > functionLines else { return nil }
            let text = "a function of \(length) lines, more than \(functionLines)"
            return Violation(path: code.path, line: first, text: text)
        }
    }

    /// First and last line of every function and initialiser that has a body.
    static func functions(_ code: Code) -> [(first: Int, last: Int)] {
        var found: [(Int, Int)] = []
        var line = 1
        let text = Array(code.lines.joined(separator: "\n"))
        var position = 0
        while position < text.count {
            if text[position] == "\n" { line += 1 }
            if startsFunction(text, position), let end = bodyEnd(text, position) {
                let breaks = text[position...end].filter { $0 == "\n" }.count
                found.append((line, line + breaks))
            }
            position += 1
        }
        return found
    }

    private static func startsFunction(_ text: [Character], _ position: Int) -> Bool {
        let before = position == 0 ? " " : text[position - 1]
        guard before.isWhitespace else { return false }
        let rest = text[position...]
        if rest.starts(with: "func ") { return true }
        return ["init(", "init?(", "init<"].contains { rest.starts(with: $0) }
    }

    /// The closing brace of the declaration at a position; nil for one without a body.
    private static func bodyEnd(_ text: [Character], _ start: Int) -> Int? {
        var parentheses = 0
        var braces = 0
        for position in start..<text.count {
            switch text[position] {
            case "(", "[": parentheses += 1
            case ")", "]": parentheses -= 1
            case "{" where parentheses == 0 || braces > 0: braces += 1
            case "}" where braces > 0:
                braces -= 1
                if braces == 0 { return position }
            case "}" where parentheses == 0:
                return nil
            default:
                let startsNext = position > start && parentheses == 0 && braces == 0
                if startsNext, startsFunction(text, position) { return nil }
            }
        }
        return nil
    }
}
