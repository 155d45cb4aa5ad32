/// The code of a Swift file with comments and the contents of string literals blanked out.
///
/// Lines and columns stay where they were, so that what is found can be located.
struct Code {
    let path: String
    /// As long as the file has lines.
    let lines: [String]
    /// The lines as they were.
    let original: [String]

    init(_ file: TextFile) {
        path = file.path
        original = file.lines
        var blanker = Blanker()
        lines = blanker.blank(file.lines.joined(separator: "\n"))
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// Blanks comments and literals; code inside `\( )` is blanked with its literal.
    private struct Blanker {
        private var text: [Character] = []
        private var position = 0
        private var output = ""

        mutating func blank(_ source: String) -> String {
            text = Array(source)
            while position < text.count {
                if starts("//") {
                    while position < text.count, text[position] != "\n" { skip() }
                } else if starts("/*") {
                    blankBlockComment()
                } else if let marks = literalStart() {
                    blankLiteral(marks)
                } else {
                    output.append(text[position])
                    position += 1
                }
            }
            return output
        }

        private func starts(_ token: String) -> Bool {
            text[position...].starts(with: token)
        }

        /// Passes one character, keeping line breaks and columns.
        private mutating func skip() {
            output.append(text[position] == "\n" ? "\n" : " ")
            position += 1
        }

        private mutating func blankBlockComment() {
            var depth = 0
            repeat {
                if starts("/*") {
                    depth += 1
                    skip()
                } else if starts("*/") {
                    depth -= 1
                    skip()
                }
                skip()
            } while depth > 0 && position < text.count
        }

        /// How many `#` precede the quotes, and whether there are three.
        private func literalStart() -> (hashes: Int, isMultiline: Bool)? {
            var end = position
            while end < text.count, text[end] == "#" { end += 1 }
            guard end < text.count, text[end] == "\"" else { return nil }
            return (end - position, text[end...].starts(with: "\"\"\""))
        }

        private mutating func blankLiteral(_ marks: (hashes: Int, isMultiline: Bool)) {
            let hashes = String(repeating: "#", count: marks.hashes)
            let quotes = marks.isMultiline ? "\"\"\"" : "\""
            for _ in 0..<marks.hashes + quotes.count { skip() }
            while position < text.count {
                if starts("\\" + hashes + "(") {
                    for _ in 0..<marks.hashes + 2 { skip() }
                    blankInterpolation()
                } else if starts("\\" + hashes) {
                    for _ in 0..<min(marks.hashes + 2, text.count - position) { skip() }
                } else if starts(quotes + hashes) {
                    for _ in 0..<quotes.count + marks.hashes { skip() }
                    return
                } else {
                    skip()
                }
            }
        }

        private mutating func blankInterpolation() {
            var depth = 1
            while position < text.count, depth > 0 {
                if let marks = literalStart() {
                    blankLiteral(marks)
                    continue
                }
                if text[position] == "(" { depth += 1 }
                if text[position] == ")" { depth -= 1 }
                skip()
            }
        }
    }
}
