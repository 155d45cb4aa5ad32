import RunService

/// The report as one HTML file.
///
/// It has no scripts and loads nothing, is light or dark as the reader prefers, and is XML, too.
package struct HTMLReport {
    /// How many skipped files and warnings are told.
    package static let remarkLimit = 200

    let report: RunReport
    let write: (String) throws -> Void

    /// Writes the report.
    ///
    /// - Parameters:
    ///   - report: what the stores add up to.
    ///   - stores: the same stores.
    ///   - write: gets the text in pieces.
    /// - Throws: what `stores` and `write` throw.
    package static func write(
        _ report: RunReport, stores: StoreReports, to write: (String) throws -> Void
    ) throws {
        try withoutActuallyEscaping(write) { write in
            let html = HTMLReport(report: report, write: write)
            try html.writeHead()
            try html.writeTotals()
            try html.writeCauses()
            try html.writeSlowest()
            try html.writeVersions()
            try html.writeStages()
            try html.writeStores(stores)
            try html.writeRemarks()
            try html.writeNextSteps()
            try write("</main>\n</body>\n</html>\n")
        }
    }

    private func writeHead() throws {
        let title = HTMLText.escaped("godwit: \(report.headline)")
        try write(
            """
            <!DOCTYPE html>
            <html lang="en" xmlns="http://www.w3.org/1999/xhtml">
            <head>
            <meta charset="utf-8" />
            <meta name="viewport" content="width=device-width, initial-scale=1" />
            <meta name="color-scheme" content="light dark" />
            <title>\(title)</title>
            <style>
            \(HTMLStyle.sheet)
            </style>
            </head>
            <body>
            <main>
            <header>
            \(HTMLText.element("h1", report.headline))

            """)
        let begun = report.facts.begun.map { ", begun \($0)" } ?? ""
        try write(HTMLText.element("p", "Run \(report.facts.run)\(begun)", class: "run") + "\n")
        try write(outcomeBar + "</header>\n")
        try writeLosses()
    }

    private func writeLosses() throws {
        let losses = report.summary.losses
        guard !losses.isEmpty else { return }
        try write("<section class=\"losses\">\n<h2>Losses</h2>\n")
        try write(
            HTMLText.element("p", "Data that the stores had and the results lack:") + "\n<ul>\n")
        for loss in losses { try write(HTMLText.element("li", ReportWords.loss(loss)) + "\n") }
        try write("</ul>\n</section>\n")
    }

    /// A bar whose parts are the outcomes, with a legend in words.
    private var outcomeBar: String {
        let summary = report.summary
        guard summary.stores > 0 else { return "" }
        let present = StoreOutcome.allCases.filter { summary.outcomes[$0] != nil }
        let parts = present.map { outcome in
            "<span class=\"\(outcome.rawValue)\" "
                + "style=\"flex-grow: \(summary.outcomes[outcome] ?? 0)\"></span>"
        }
        let legend = present.map { outcome in
            let count = grouped(summary.outcomes[outcome] ?? 0)
            return "<li><span class=\"dot \(outcome.rawValue)\"></span>"
                + HTMLText.escaped("\(count) \(outcome.words)") + "</li>"
        }
        return "<div class=\"bar\" aria-hidden=\"true\">\(parts.joined())</div>\n"
            + "<ul class=\"legend\">\(legend.joined())</ul>\n"
    }

    private func writeTotals() throws {
        try write("<section>\n<h2>Totals</h2>\n<dl class=\"totals\">\n")
        for (label, text) in ReportWords.totals(report) {
            try write(HTMLText.element("dt", label) + HTMLText.element("dd", text) + "\n")
        }
        try write("</dl>\n</section>\n")
    }

    private func writeCauses() throws {
        guard !report.summary.causes.isEmpty else { return }
        try section(
            "Failures by cause", [("stores", "number"), ("cause", ""), ("for example", "wide")])
        for cause in report.summary.causes {
            try write(
                "<tr>" + HTMLText.element("td", grouped(cause.stores), class: "number")
                    + "<td>" + HTMLText.escaped(cause.cause.title)
                    + HTMLText.element("p", report.guide.advice(cause.cause), class: "advice")
                    + "</td>"
                    + "<td class=\"path wide\">"
                    + cause.examples.map(HTMLText.escaped).joined(separator: "<br />")
                    + "</td></tr>\n")
        }
        try endSection()
    }

    private func writeSlowest() throws {
        guard report.summary.slowest.count > 1 else { return }
        try section(
            "Slowest stores",
            [
                ("time", "number"), ("rows", "number wide"), ("size", "number"),
                ("mostly", "wide"), ("store", ""),
            ])
        for slow in report.summary.slowest {
            try write(
                HTMLText.row([
                    (Seconds.words(slow.seconds), "number"), (grouped(slow.rows), "number wide"),
                    (ByteSize(bytes: slow.bytes).words, "number"), (slow.stage, "wide"),
                    (slow.store, "path"),
                ]))
        }
        try endSection()
    }

    private func writeVersions() throws {
        guard report.summary.versions.count > 1 else { return }
        try section(
            "By version of the source",
            [
                ("version", ""), ("stores", "number"), ("failed", "number"),
                ("rows", "number wide"), ("size", "number"), ("time", "number wide"),
            ])
        for version in report.summary.versions {
            try write(
                HTMLText.row([
                    (version.version, ""), (grouped(version.stores), "number"),
                    (version.failed == 0 ? "" : grouped(version.failed), "number bad"),
                    (grouped(version.rows), "number wide"),
                    (ByteSize(bytes: version.bytes).words, "number"),
                    (version.seconds > 0 ? Seconds.words(version.seconds) : "", "number wide"),
                ]))
        }
        try endSection()
    }

    private func writeStages() throws {
        let stages = ReportWords.ordered(report.summary.seconds)
        let most = stages.map(\.seconds).max() ?? 0
        guard most > 0 else { return }
        try section(
            "Time by stage, of all slots together",
            [("stage", ""), ("time", "number"), ("", "meter")])
        for (stage, seconds) in stages {
            let share = ReportWords.tenths(max(0, seconds) / most * 100)
            try write(
                "<tr>" + HTMLText.element("td", stage)
                    + HTMLText.element("td", Seconds.words(seconds), class: "number")
                    + "<td class=\"meter\"><span style=\"width: \(share)%\"></span></td></tr>\n")
        }
        try endSection()
    }

    private func writeRemarks() throws {
        let skipped = report.facts.skipped.map { "\($0.path): \($0.reason)" }
        for (title, items) in [("Not taken", skipped), ("Warnings", report.facts.warnings)]
        where !items.isEmpty {
            let more = items.count - HTMLReport.remarkLimit
            let shown = Array(items.prefix(HTMLReport.remarkLimit))
            try write(
                "<section>\n" + HTMLText.element("h2", title)
                    + HTMLText.list(shown + (more > 0 ? ["and \(grouped(more)) more"] : []))
                    + "\n</section>\n")
        }
    }

    private func writeNextSteps() throws {
        let steps = NextStep.all(after: report)
        guard !steps.isEmpty else { return }
        try write("<section>\n<h2>Next steps</h2>\n<dl class=\"steps\">\n")
        for step in steps {
            let command = report.guide.command(step, report.facts)
            try write(
                HTMLText.element("dt", step.purpose)
                    + "<dd>\(HTMLText.element("code", command))</dd>\n")
        }
        try write("</dl>\n</section>\n")
    }

    /// Begins a section that holds one table.
    func section(_ title: String, note: String? = nil, _ columns: [(String, String)]) throws {
        let note = note.map { HTMLText.element("p", $0) + "\n" } ?? ""
        try write(
            "<section>\n" + HTMLText.element("h2", title) + "\n" + note + "<table>\n"
                + HTMLText.head(columns.map { (text: $0.0, style: $0.1) }) + "<tbody>\n")
    }

    func endSection() throws { try write("</tbody>\n</table>\n</section>\n") }
}
