import MigrationEngine
import MigrationPlans
import MigrationValidation
import RunService

extension HTMLReport {
    /// The table of stores: all of them, or those that failed where there are too many.
    func writeStores(_ stores: StoreReports) throws {
        guard report.summary.stores > 0 else { return }
        let listsAll = report.listsAllStores
        let columns = [
            ("store", ""), ("outcome", ""), ("version", "wide version"), ("rows", "number wide"),
            ("size", "number wide"), ("time", "number"),
        ]
        if listsAll {
            try section("Stores", columns)
        } else {
            let failed = report.summary.outcomes[.failed] ?? 0
            let limit = grouped(RunReport.listLimit)
            let note =
                "The run has more than \(limit) stores. This page lists only failed stores, up to "
                + "\(limit) of them. The JSON report lists every store."
            guard failed > 0 else {
                let heading = HTMLText.element("h2", "Stores")
                try write("<section>\n\(heading)\n\(HTMLText.element("p", note))\n</section>\n")
                return
            }
            try section("Failed stores", note: note, columns)
        }
        var written = 0
        try stores.forEach { store in
            guard listsAll || store.failure != nil, written < RunReport.listLimit else { return }
            written += 1
            try writeStore(store)
        }
        try endSection()
    }

    private func writeStore(_ store: StoreReport) throws {
        let versions = [store.source, store.destination].compactMap { $0?.label }
        let rows = (store.rows?.after ?? store.rows?.before).map { grouped($0) }
        let time = store.seconds.isEmpty ? "" : Seconds.words(store.totalSeconds)
        let isOpen = store.failure != nil ? " open=\"open\"" : ""
        try write(
            "<tr><td><details\(isOpen)>"
                + HTMLText.element("summary", store.store, class: "path")
                + "<dl>"
                + facts(of: store).map { label, text in
                    HTMLText.element("dt", label) + "<dd>\(text)</dd>"
                }.joined() + "</dl></details></td>"
                + HTMLText.element(
                    "td", store.outcome.words, class: "outcome \(store.outcome.rawValue)")
                + HTMLText.element("td", versions.joined(separator: " → "), class: "wide version")
                + HTMLText.element("td", rows ?? "", class: "number wide")
                + HTMLText.element(
                    "td", ByteSize(bytes: store.bytes.before).words, class: "number wide")
                + HTMLText.element("td", time, class: "number") + "</tr>\n")
    }

    /// What is known of a store: a label, and its text as HTML.
    private func facts(of store: StoreReport) -> [(label: String, text: String)] {
        var facts: [(String, String)] = []
        func add(_ label: String, _ text: String?) {
            if let text { facts.append((label, HTMLText.escaped(text))) }
        }
        func add(_ label: String, list items: [String]) {
            if !items.isEmpty { facts.append((label, HTMLText.list(items))) }
        }
        if let failure = store.failure {
            add("reason", store.shortReason)
            add("what to do", report.guide.advice(failure.cause))
        }
        add("result", store.result)
        if store.steps.count > 2 {
            add("steps", store.steps.joined(separator: " → "))
            add("written on the way", list: store.writtenSteps)
        }
        add("version", store.source.map { "source \($0.digest)" })
        add("", store.destination.map { "result \($0.digest)" })
        add("size", ReportWords.bytes(store.bytes))
        add("rows", store.rows.map(ReportWords.rows))
        if let strategy = store.strategy {
            let jobs = store.chunks > 0 ? ", \(counted(store.chunks, "chunk"))" : ""
            let attempts =
                store.attempts > 1 ? ", \(counted(store.attempts, "attempt"))" : ""
            add("strategy", strategy.rawValue + jobs + attempts)
        }
        let stages = ReportWords.ordered(store.seconds).map {
            "\($0.stage) \(Seconds.words($0.seconds))"
        }
        if !stages.isEmpty { add("time", stages.joined(separator: ", ")) }
        add("losses", list: store.losses.map(ReportWords.loss))
        add(
            "compared",
            store.validation.map {
                ReportWords.validation($0, hasLosses: !store.losses.isEmpty)
            })
        add("dropped", list: store.droppedObjects)
        add("inherited faults", list: store.inherited.map(\.line))
        add("unusual", list: store.oddities)
        add("notes", list: store.notes)
        add("original", store.backup.map { "\($0.path), \(ByteSize(bytes: $0.bytes).words)" })
        return facts
    }
}
