extension CheckReport {
    /// The report as JUnit XML, which build servers show as tests.
    ///
    /// It follows the schema of Apache Ant's JUnit task, the strictest of those in use: warnings of
    /// cases that passed are the suite's output.
    package var junit: String {
        let total = cases.reduce(0) { $0 + $1.seconds }
        let counts = "tests=\"\(cases.count)\" failures=\"\(failures)\" errors=\"0\""
        var lines = [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            "<testsuites>",
            "<testsuite package=\"\(HTMLText.escaped(suite))\" id=\"0\" "
                + "name=\"\(HTMLText.escaped(suite))\" "
                + "timestamp=\"\(HTMLText.escaped(timestamp))\" "
                + "hostname=\"\(HTMLText.escaped(host))\" \(counts) "
                + "time=\"\(CheckReport.decimal(total))\">",
            properties,
        ]
        lines += cases.map(line)
        let warnings = notes + cases.flatMap { one in one.warnings.map { "\(one.name): \($0)" } }
        lines.append(
            "<system-out>\(HTMLText.escaped(warnings.joined(separator: "\n")))</system-out>")
        lines += ["<system-err/>", "</testsuite>", "</testsuites>"]
        return lines.joined(separator: "\n") + "\n"
    }

    private var properties: String {
        guard let destination else { return "<properties/>" }
        return "<properties><property name=\"destination\" "
            + "value=\"\(HTMLText.escaped(destination))\"/></properties>"
    }

    /// The schema takes no suite name of blanks alone.
    private var suite: String { name.allSatisfy(\.isWhitespace) ? "godwit" : name }

    private func line(_ one: Case) -> String {
        let head =
            "<testcase classname=\"\(HTMLText.escaped(suite))\" "
            + "name=\"\(HTMLText.escaped(one.name))\" time=\"\(CheckReport.decimal(one.seconds))\""
        guard let failure = one.failure else { return head + "/>" }
        return head + "><failure type=\"\(HTMLText.escaped(failure.kind))\" "
            + "message=\"\(HTMLText.escaped(failure.firstLine))\">\(HTMLText.escaped(failure.text))"
            + "</failure></testcase>"
    }

    /// Seconds with three digits after the point.
    private static func decimal(_ seconds: Double) -> String {
        let bounded = seconds.isFinite ? min(max(seconds, 0), 1e12) : 0
        let thousandths = Int64((bounded * 1000).rounded())
        let rest = String(thousandths % 1000)
        return "\(thousandths / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }
}
