package import ClusterProtocol
import Jobs
import RunReports

/// Workers as a table.
package enum WorkerTable {
    /// The lines of the table, a header first.
    package static func lines(_ workers: [WorkerStatus]) -> [String] {
        var table = TextTable([
            ("worker", .left), ("host", .left), ("slots", .right), ("state", .left),
        ])
        for worker in workers {
            table.add([
                worker.name, String(worker.host.prefix(32)), "\(worker.busy)/\(worker.slots)",
                words(worker),
            ])
        }
        return table.lines
    }

    private static func words(_ worker: WorkerStatus) -> String {
        guard let reason = worker.reason?.text else { return word(worker.state) }
        let line = reason.split(whereSeparator: \.isNewline).joined(separator: " ")
        return "\(word(worker.state)): \(line)"
    }

    /// A state as people and JSON read it.
    static func word(_ state: WorkerStatus.State) -> String { "\(state)" }

    /// All of them in one line.
    static func summary(_ workers: [WorkerStatus]) -> String {
        let here = workers.filter { $0.state != .gone }
        let (busy, slots) = (here.map(\.busy).reduce(0, +), here.map(\.slots).reduce(0, +))
        return "\(counted(here.count, "worker")), \(grouped(busy)) of "
            + "\(counted(slots, "slot")) busy"
    }
}

extension WorkerStatus {
    /// Slots that work; what is sent ahead, so that none stands still, waits at the worker.
    var busy: Int { min(running, slots) }
}

/// A report of a coordinator as `--json` prints it.
package struct ClusterEntry: Codable, Hashable {
    /// A run.
    package struct Run: Codable, Hashable {
        var run: String
        var state: String
        var stores: [String: Int]
        var jobs: [String: Int]
        var rows: Int64
        var bytes: Int64
        var rowsPerSecond: Int64
        var bytesPerSecond: Int64
        var secondsLeft: Int64?
        var waitingFor: String?

        package init(_ status: RunStatus) {
            run = status.run
            state = status.state.rawValue
            stores = Dictionary(
                uniqueKeysWithValues: status.stores.map { ($0.key.rawValue, $0.value) })
            jobs = status.jobs
            rows = status.rows
            bytes = status.bytes
            rowsPerSecond = status.rowsPerSecond
            bytesPerSecond = status.bytesPerSecond
            secondsLeft = status.secondsLeft
            waitingFor = status.waitingFor?.text
        }
    }

    /// A worker.
    package struct Worker: Codable, Hashable {
        var name: String
        var host: String
        package var engine: String
        var slots: Int
        var running: Int
        var state: String
        var reason: String?

        package init(_ status: WorkerStatus) {
            name = status.name
            host = status.host
            engine = status.engine
            slots = status.slots
            running = status.running
            state = WorkerTable.word(status.state)
            reason = status.reason?.text
        }
    }

    var coordinator: String
    var engine: String
    var runs: [Run]
    var workers: [Worker]

    package init(_ report: StatusReport) {
        coordinator = report.coordinator
        engine = report.engine
        runs = report.runs.map(Run.init)
        workers = report.workers.map(Worker.init)
    }
}

/// A run that a coordinator took.
package struct AcceptedRun: Codable, Hashable {
    var run: String

    package init(run: String) { self.run = run }
}

/// What a watcher is told, as `watch --json` prints it: one key a line.
struct EventEntry: Codable, Hashable {
    /// Something that happened.
    struct Entry: Codable, Hashable {
        var run: String?
        var store: Int?
        var kind: String
        var text: String
    }

    /// A run that came to its end.
    struct End: Codable, Hashable {
        var run: String
        var failures: Int
    }

    var status: ClusterEntry?
    var note: Entry?
    var ended: End?

    /// The entry of one event.
    package init(_ event: WatchEvent) {
        switch event {
        case .status(let report): status = ClusterEntry(report)
        case .note(let told):
            note = Entry(run: told.run, store: told.store, kind: told.kind, text: told.text)
        case .ended(let run, let failures): ended = End(run: run, failures: failures)
        }
    }
}
