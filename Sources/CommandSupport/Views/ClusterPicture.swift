import ClusterClient
package import ClusterProtocol
package import Jobs
import RunReports

/// What is known of a coordinator's runs and workers, and how it is put in lines: a value that
/// knows no clock and no terminal.
package struct ClusterPicture: Hashable, Sendable {
    private(set) var report: StatusReport?
    /// The stage that a store of a run came to last.
    private var stages: [String: Stage] = [:]

    /// Takes in where everything stands.
    mutating func take(_ report: StatusReport) { self.report = report }

    /// Takes in what happened.
    ///
    /// - Returns: the line to keep; nil for what the lines of the picture tell.
    mutating func take(_ note: Note) -> String? {
        if case .store(let key, _, .stage(let stage)) = note { stages[key.run] = stage }
        guard !note.isQuiet else { return nil }
        let store = note.store.map { " store \($0)" } ?? ""
        guard let run = note.run else { return note.text }
        return "\(run)\(store): \(note.text)"
    }

    // MARK: - A terminal

    /// The lines of a terminal: the runs first, then the workers, each cut at its width.
    ///
    /// - Parameters:
    ///   - size: of the terminal; a row is left for what follows.
    ///   - seconds: since the beginning.
    /// - Returns: the lines; none before the first report.
    func lines(in size: TerminalSize, seconds: Double) -> [String] {
        guard let report else { return [] }
        let room = max(size.rows - 1, 3)
        let width = max(size.columns, 20)
        var lines = [heading(report, seconds)]
        let runs = Self.ordered(report.runs)
        // Workers keep a third of the terminal.
        let roomForRuns = room - 1 - min(report.workers.count + 1, room / 3)
        for (place, run) in runs.enumerated() {
            let block = Self.block(of: run, stage: stages[run.run], width: width)
            let rest = runs.count - place - 1
            guard lines.count - 1 + block.count + (rest > 0 ? 1 : 0) <= roomForRuns || place == 0
            else {
                lines.append("… and \(counted(runs.count - place, "more run"))")
                break
            }
            lines += block
        }
        lines += Self.workers(report.workers, room: max(room - lines.count, 0))
        return lines.prefix(room).map { Self.cut(PrintedText.visible($0), to: width) }
    }

    private func heading(_ report: StatusReport, _ seconds: Double) -> String {
        let here = report.workers.filter { $0.state != .gone }
        guard !here.isEmpty else { return "no worker is connected  \(Seconds.words(seconds))" }
        let (busy, slots) = (here.map(\.busy).reduce(0, +), here.map(\.slots).reduce(0, +))
        return "\(counted(here.count, "worker"))  \(grouped(busy))/\(grouped(slots)) slots busy  "
            + Seconds.words(seconds)
    }

    /// Unfinished runs first, each kind with the newest first.
    private static func ordered(_ runs: [RunStatus]) -> [RunStatus] {
        let newest = runs.sorted { RunNumber($1.run) < RunNumber($0.run) }
        return newest.filter(\.isUnfinished) + newest.filter { !$0.isUnfinished }
    }

    /// A run in a few lines: stores, jobs, speed, and what it waits for.
    package static func block(of run: RunStatus, stage: Stage? = nil, width: Int) -> [String] {
        var head = [run.state.rawValue]
        if let stage, run.state == .open { head.append(stage.rawValue) }
        let groups = [head + storeParts(run), jobParts(run), rateParts(run) + sumParts(run)]
        let indent = String(repeating: " ", count: min(run.run.count, width / 2))
        var lines = packed(groups.flatMap(\.self), behind: run.run, indent, width)
        if lines.count > 1 {
            // Each kind has its place, so that growing numbers move nothing else.
            lines = groups.enumerated().flatMap { place, group in
                let name = place == 0 ? run.run : indent
                return group.isEmpty ? [] : packed(group, behind: name, indent, width)
            }
        }
        if let line = waiting(run) { lines.append("\(indent)  \(line)") }
        return lines
    }

    /// Puts parts behind a name, two blanks between them, in as few lines as they need.
    private static func packed(
        _ parts: [String], behind name: String, _ indent: String, _ width: Int
    ) -> [String] {
        var lines: [String] = []
        var line = name
        for part in parts {
            if line.count + 2 + part.count > width, line.count > indent.count {
                lines.append(line)
                line = indent
            }
            line += "  " + part
        }
        return lines + [line]
    }

    private static func storeParts(_ run: RunStatus) -> [String] {
        let all = run.stores.values.reduce(0, +)
        guard all > 0 else { return [] }
        let done = run.stores[.done, default: 0]
        var parts = ["\(grouped(done))/\(grouped(all)) stores"]
        let words: [(StoreState, String)] = [
            (.running, "running"), (.validated, "ready to swap"), (.failed, "failed"),
            (.cancelled, "cancelled"), (.rolledBack, "rolled back"), (.pruned, "pruned"),
        ]
        for (state, word) in words {
            let count = run.stores[state, default: 0]
            if count > 0 { parts.append("\(grouped(count)) \(word)") }
        }
        return parts
    }

    private static func jobParts(_ run: RunStatus) -> [String] {
        let order = [
            "running", "checking", "unclaimed", "ready", "resting", "waiting", "accepted",
        ]
        let known = order.compactMap { word in run.jobs[word].map { (word, $0) } }
        let others = run.jobs.filter { !order.contains($0.key) }.sorted { $0.key < $1.key }
        let counts = (known + others.map { ($0.key, $0.value) }).filter { $0.1 > 0 }
        guard let first = counts.first else { return [] }
        return ["\(counted(first.1, "job")) \(first.0)"]
            + counts.dropFirst().map { "\(grouped($0.1)) \($0.0)" }
    }

    private static func rateParts(_ run: RunStatus) -> [String] {
        // Of what does not go on they say what was.
        guard run.state == .open else { return [] }
        var parts: [String] = []
        if run.rowsPerSecond > 0 { parts.append("\(grouped(run.rowsPerSecond)) rows/s") }
        if run.bytesPerSecond > 0 {
            parts.append("\(ReportWords.tenths(Double(run.bytesPerSecond) / 1e6)) MB/s")
        }
        if let left = run.secondsLeft { parts.append("\(Seconds.words(Double(left))) left") }
        return parts
    }

    private static func sumParts(_ run: RunStatus) -> [String] {
        (run.rows > 0 ? [counted(run.rows, "row")] : [])
            + (run.bytes > 0 ? ["\(ByteSize(bytes: run.bytes).words) read"] : [])
    }

    /// The workers that need attention first, those that are gone last.
    private static func workers(_ all: [WorkerStatus], room: Int) -> [String] {
        let order: [WorkerStatus.State] = [.quarantined, .silent, .draining, .active, .gone]
        let sorted = order.flatMap { state in all.filter { $0.state == state } }
        guard !sorted.isEmpty, room > 1 else { return [] }
        let isCut = sorted.count + 1 > room
        let shown = sorted.prefix(isCut ? room - 2 : room - 1)
        var lines = WorkerTable.lines(Array(shown))
        if isCut { lines.append("… and \(counted(sorted.count - shown.count, "more worker"))") }
        return lines
    }

    /// Why nothing moves, or not all of it, as a part of a line.
    private static func waiting(_ run: RunStatus) -> String? {
        run.waitingFor.map { oneLine($0.line(isRest: run.isMoving)) }
    }

    private static func oneLine(_ text: String) -> String {
        String(text.map { $0.isNewline || $0 == "\t" ? " " : $0 })
    }

    private static func cut(_ line: String, to width: Int) -> String {
        line.count <= width ? line : String(line.prefix(width - 1)) + "…"
    }

    // MARK: - A log

    /// What of a run is worth a line of a log when it changes.
    struct Milestone: Hashable, Sendable {
        private let state: RunState
        private let failed: Int
        private let waitingFor: WaitingReason?
        private let part: Int

        init(_ run: RunStatus) {
            state = run.state
            failed = run.stores[.failed, default: 0]
            // While others are at work it comes and goes with them.
            let isPassing = run.isMoving || run.waitingFor?.isPassing == true
            waitingFor = isPassing ? nil : run.waitingFor?.lasting
            let stores = run.stores.values.reduce(0, +)
            let done = run.stores[.done, default: 0] + run.stores[.validated, default: 0]
            let jobs = run.jobs.values.reduce(0, +)
            let accepted = run.jobs["accepted", default: 0]
            // A hundred lines for a fleet, ten for the jobs of one store.
            part = stores > 1 ? Self.share(done, stores, 100) : Self.share(accepted, jobs, 10)
        }

        private static func share(_ part: Int, _ whole: Int, _ scale: Double) -> Int {
            whole > 0 ? Int(Double(part) / Double(whole) * scale) : 0
        }
    }

    /// A run in one line of a log.
    package static func line(of run: RunStatus) -> String {
        let parts =
            [run.state.rawValue] + storeParts(run) + jobParts(run) + rateParts(run) + sumParts(run)
        let line = "\(run.run): " + parts.joined(separator: ", ")
        return waiting(run).map { "\(line); \($0)" } ?? line
    }
}

extension RunStatus {
    /// Whether it can still resume.
    var isUnfinished: Bool { state.isUnfinished }

    /// Whether a worker that is heard of has a job of it, or what one delivered is looked at.
    var isMoving: Bool {
        state == .open && jobs["running", default: 0] + jobs["checking", default: 0] > 0
    }
}
