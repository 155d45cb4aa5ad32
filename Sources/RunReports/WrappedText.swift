/// Text in lines of a terminal's width.
package enum WrappedText {
    /// The columns of a report in text.
    package static let columns = 80

    /// Breaks a text at blanks; words that are longer than a line stay whole.
    ///
    /// - Parameters:
    ///   - text: line breaks in it stay.
    ///   - first: what the first line begins with.
    ///   - rest: what the others begin with.
    /// - Returns: at least one line.
    package static func lines(_ text: String, first: String = "", rest: String = "") -> [String] {
        var lines: [String] = []
        var line = first
        var isEmpty = true
        for paragraph in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if !lines.isEmpty || !isEmpty {
                lines.append(line)
                line = rest
                isEmpty = true
            }
            for word in paragraph.split(separator: " ") {
                if !isEmpty, line.count + 1 + word.count > columns {
                    lines.append(line)
                    line = rest
                    isEmpty = true
                }
                line += isEmpty ? String(word) : " \(word)"
                isEmpty = false
            }
        }
        return lines + [line]
    }

    /// The end of a text that fits into some columns, after `…` where something is missing.
    static func tail(_ text: String, columns: Int) -> String {
        text.count <= columns ? text : "…" + text.suffix(max(0, columns - 1))
    }
}
