import RunService

/// The report for a terminal of 80 columns.
///
/// Paths of stores that want something done are whole, even where they pass the columns.
package struct TextReport {
    /// Up to this many stores are listed one by one; of more, failed and slow ones.
    package static let listLimit = 40
    /// How many failed stores are told with their reason.
    package static let failureLimit = 50
    /// How many skipped files and warnings are told.
    package static let remarkLimit = 20

    private let report: RunReport
    private let write: (String) throws -> Void

    private init(_ report: RunReport, write: @escaping (String) throws -> Void) {
        self.report = report
        self.write = write
    }

    /// Writes the report.
    ///
    /// - Parameters:
    ///   - report: what the stores add up to.
    ///   - stores: the same stores.
    ///   - write: gets one line at a time, without its break; control characters are escaped.
    /// - Throws: what `stores` and `write` throw.
    package static func write(
        _ report: RunReport, stores: StoreReports, to write: (String) throws -> Void
    ) throws {
        try withoutActuallyEscaping(write) { write in
            let text = TextReport(report) { try write(PrintedText.visible($0)) }
            try text.writeHead()
            try text.writeLosses()
            try text.writeCauses()
            try text.writeFailures(stores)
            try text.writeStores(stores)
            try text.writeSlowest()
            try text.writeVersions()
            try text.writeStages()
            try text.writeRemarks()
            try text.writeNextSteps()
        }
    }

    private func lines(_ lines: [String]) throws { for line in lines { try write(line) } }

    private func heading(_ text: String) throws { try lines(["", text]) }

    private func writeHead() throws {
        try lines(WrappedText.lines(report.headline))
        let begun = report.facts.begun.map { ", begun \($0)" } ?? ""
        try lines(WrappedText.lines("run \(report.facts.run)\(begun)") + [""])
        for (label, text) in ReportWords.totals(report) {
            let label = label + String(repeating: " ", count: max(1, 12 - label.count))
            let indent = String(repeating: " ", count: 12)
            try lines(WrappedText.lines(text, first: label, rest: indent))
        }
    }

    private func writeLosses() throws {
        let losses = ReportWords.losses(report.summary.losses)
        if !losses.isEmpty { try lines([""] + losses) }
    }

    private func writeCauses() throws {
        guard !report.summary.causes.isEmpty else { return }
        try heading("Failures by cause")
        for cause in report.summary.causes {
            let count = grouped(cause.stores)
            let label = String(repeating: " ", count: max(0, 7 - count.count)) + count + "  "
            let indent = String(repeating: " ", count: 9)
            try lines(
                WrappedText.lines(cause.cause.title, first: label, rest: indent)
                    + WrappedText.lines(
                        report.guide.advice(cause.cause), first: indent, rest: indent))
        }
    }

    private func writeFailures(_ stores: StoreReports) throws {
        let failed = report.summary.outcomes[.failed] ?? 0
        guard failed > 0 else { return }
        try heading("Failed stores")
        var written = 0
        try stores.forEach { store in
            guard let reason = store.shortReason, written < TextReport.failureLimit else { return }
            written += 1
            try write("  \(store.store)")
            try lines(WrappedText.lines(reason, first: "      ", rest: "      "))
        }
        if failed > written { try write("  and \(grouped(failed - written)) more") }
    }

    private func writeStores(_ stores: StoreReports) throws {
        guard report.summary.stores > 0, report.summary.stores <= TextReport.listLimit else {
            return
        }
        try heading("Stores")
        var rows: [[String]] = []
        var paths: [String] = []
        try stores.forEach { store in
            let versions = [store.source, store.destination].compactMap { version in
                version.map { WrappedText.tail($0.label, columns: 8) }
            }
            paths.append(store.store)
            rows.append([
                store.outcome.words, versions.joined(separator: " → "),
                (store.rows?.after ?? store.rows?.before).map { grouped($0) } ?? "",
                ByteSize(bytes: store.bytes.before).words,
                store.seconds.isEmpty ? "" : Seconds.words(store.totalSeconds),
            ])
        }
        try writeTable(
            [
                ("outcome", .left), ("version", .left), ("rows", .right), ("size", .right),
                ("time", .right),
            ], rows, paths: paths)
    }

    private func writeSlowest() throws {
        // A list of all stores has their times already.
        guard report.summary.stores > TextReport.listLimit, !report.summary.slowest.isEmpty
        else { return }
        try heading("Slowest stores")
        let slowest = report.summary.slowest
        let rows = slowest.map { slow in
            [
                Seconds.words(slow.seconds), grouped(slow.rows),
                ByteSize(bytes: slow.bytes).words, slow.stage,
            ]
        }
        try writeTable(
            [("time", .right), ("rows", .right), ("size", .right), ("mostly", .left)], rows,
            paths: slowest.map(\.store))
    }

    /// Writes a table whose last column are paths, cut to what the others leave of a line.
    private func writeTable(
        _ columns: [(title: String, alignment: TextTable.Alignment)], _ rows: [[String]],
        paths: [String]
    ) throws {
        let widths = columns.indices.map { column in
            (rows.map { $0[column].count } + [columns[column].title.count]).max() ?? 0
        }
        let used = widths.reduce(2) { $0 + $1 + 2 }
        let labels = PathLabels(paths, columns: max(12, WrappedText.columns - used))
        var table = TextTable(columns + [("store", .left)])
        for (row, label) in zip(rows, labels.labels) { table.add(row + [label]) }
        if !labels.frame.isEmpty {
            try lines(WrappedText.lines("stores are \(labels.frame)", first: "  ", rest: "  "))
        }
        try lines(table.lines.map { "  \($0)" })
    }

    private func writeVersions() throws {
        guard report.summary.versions.count > 1 else { return }
        try heading("By version of the source")
        var table = TextTable([
            ("version", .left), ("stores", .right), ("failed", .right), ("rows", .right),
            ("size", .right), ("time", .right),
        ])
        for version in report.summary.versions {
            table.add([
                WrappedText.tail(version.version, columns: 24), grouped(version.stores),
                version.failed == 0 ? "" : grouped(version.failed), grouped(version.rows),
                ByteSize(bytes: version.bytes).words,
                version.seconds > 0 ? Seconds.words(version.seconds) : "",
            ])
        }
        try lines(table.lines.map { "  \($0)" })
    }

    private func writeStages() throws {
        let stages = ReportWords.ordered(report.summary.seconds)
        guard !stages.isEmpty else { return }
        try heading("Time by stage, of all slots together")
        let words = stages.map { "\($0.stage) \(Seconds.words($0.seconds))" }
        try lines(
            WrappedText.lines(words.joined(separator: ", "), first: "  ", rest: "  "))
    }

    private func writeRemarks() throws {
        let skipped = report.facts.skipped.map { "\($0.path): \($0.reason)" }
        let ofStores = report.summary.warnings.map { warning in
            warning.stores == 1
                ? "\(warning.example): \(warning.text)"
                : "\(counted(warning.stores, "store")), such as \(warning.example): \(warning.text)"
        }
        let warnings = ofStores + report.facts.warnings
        for (title, items) in [("Not taken", skipped), ("Warnings", warnings)]
        where !items.isEmpty {
            try heading(title)
            for item in items.prefix(TextReport.remarkLimit) {
                try lines(WrappedText.lines(item, first: "  ", rest: "      "))
            }
            let more = items.count - TextReport.remarkLimit
            if more > 0 { try write("  and \(grouped(more)) more") }
        }
    }

    private func writeNextSteps() throws {
        let steps = NextStep.all(after: report)
        guard !steps.isEmpty else { return }
        try heading("Next steps")
        for step in steps {
            let command = report.guide.command(step, report.facts)
            try lines(["  \(step.purpose):", "      \(command)"])
        }
    }
}
