extension CheckReport {
    /// The report as workflow commands of GitHub Actions, which become annotations, and a line
    /// with the counts.
    ///
    /// GitHub shows ten errors and ten warnings of a step: the first of each are commands, and a
    /// line says how many more there are.
    package var github: String {
        let failed = cases.compactMap { one in
            one.failure.map { (one, "\(one.name): \($0.kind)", $0.text) }
        }
        let warned = cases.flatMap { one in one.warnings.map { (one, one.name, $0) } }
        var lines: [String] = []
        for (command, found) in [("error", failed), ("warning", warned)] {
            lines += found.prefix(CheckReport.annotationLimit).map { one, title, text in
                CheckReport.annotation(command, file: one.file, title: title, text)
            }
            let more = found.count - CheckReport.annotationLimit
            if more > 0 { lines.append("and \(counted(more, command)) more") }
        }
        let passed = cases.count - failures
        lines.append("\(name): \(grouped(passed)) of \(counted(cases.count, "case")) passed")
        return lines.map { PrintedText.visible($0) }.joined(separator: "\n") + "\n"
    }

    /// What GitHub shows of one step and one level.
    private static let annotationLimit = 10

    private static func annotation(
        _ command: String, file: String?, title: String, _ text: String
    ) -> String {
        let place = file.map { "file=\(escapedProperty($0))," } ?? ""
        return "::\(command) \(place)title=\(escapedProperty(title))::\(escaped(text))"
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
