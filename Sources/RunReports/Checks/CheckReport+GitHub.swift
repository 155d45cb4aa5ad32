extension CheckReport {
    /// The report as workflow commands of GitHub Actions, which become annotations, and a line
    /// with the counts.
    ///
    /// GitHub shows ten errors and ten warnings of a step. The first ones are commands, those of
    /// the lowest rank first; the others are plain lines of the log.
    package var github: String {
        let failed = cases.compactMap { one in one.failure.map { (one, $0) } }.enumerated()
            .sorted { ($0.element.1.rank, $0.offset) < ($1.element.1.rank, $1.offset) }
            .map { _, found in
                Finding(
                    file: found.0.file, line: found.0.line,
                    title: "\(found.0.name): \(found.1.kind)", text: found.1.text)
            }
        let warned =
            notes.map { Finding(file: nil, title: name, text: $0) }
            + cases.flatMap { one in
                one.warnings.map { Finding(file: one.file, title: one.name, text: $0) }
            }
        var lines: [String] = []
        for (command, found) in [("error", failed), ("warning", warned)] {
            lines += found.prefix(CheckReport.annotationLimit).map {
                CheckReport.annotation(command, $0)
            }
            lines += found.dropFirst(CheckReport.annotationLimit).map { one in
                "\(command): \(one.title): "
                    + one.text.split(separator: "\n").joined(separator: "; ")
            }
        }
        let passed = cases.count - failures
        let target = destination.map { ", to \($0)" } ?? ""
        lines.append(
            "\(name): \(grouped(passed)) of \(counted(cases.count, "case")) passed\(target)")
        // GitHub takes `##[` anywhere in a line for a command of an older form.
        return lines.map {
            PrintedText.visible($0).replacing("\n", with: " ").replacing("##[", with: "## [")
        }
        .joined(separator: "\n") + "\n"
    }

    /// One error or warning.
    private struct Finding {
        let file: String?
        var line: Int?
        let title: String
        let text: String
    }

    /// What GitHub shows of one step and one level.
    private static let annotationLimit = 10

    private static func annotation(_ command: String, _ found: Finding) -> String {
        let file = found.file.map { "file=\(escapedProperty($0))," } ?? ""
        let line = found.line.map { "line=\($0)," } ?? ""
        return "::\(command) \(file)\(line)title=\(escapedProperty(found.title))::"
            + escaped(found.text)
    }

    /// A message: nothing in it ends the command's line.
    private static func escaped(_ text: String) -> String {
        percented(text, "%\r\n")
    }

    /// A property: nothing in it ends the property.
    private static func escapedProperty(_ text: String) -> String {
        percented(text, "%\r\n:,")
    }

    /// By scalars: a carriage return with its line break is one character.
    private static func percented(_ text: String, _ special: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            if special.unicodeScalars.contains(scalar) {
                let digits = String(scalar.value, radix: 16, uppercase: true)
                result += "%" + String(repeating: "0", count: 2 - digits.count) + digits
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
