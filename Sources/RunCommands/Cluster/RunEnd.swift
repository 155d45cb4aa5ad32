import ArgumentParser
import ClusterClient
import ClusterProtocol
import CommandSupport
import Jobs
import RunLedger
import RunReports

/// How a run that the command waited for ended: a text, and the status of the process.
struct RunEnd {
    private let ending: WatchSession.Ending
    private let run: String
    private let connection: CoordinatorConnection
    /// What was reported about files that were not taken; nil where nothing was.
    private let leftOut: Note?
    /// What was reported about failed stores, by number.
    private let failures: [Int: Note]

    init(
        _ ending: WatchSession.Ending, run: String, connection: CoordinatorConnection,
        leftOut: Note? = nil, failures: [Int: Note] = [:]
    ) {
        self.failures = failures
        self.ending = ending
        self.run = run
        self.connection = connection
        self.leftOut = leftOut
    }

    /// The end as `--json` prints it.
    struct Entry: Codable, Hashable {
        package var run: String
        /// `ended`, `cancelled`, `stopped` or `unknown`: the command did not wait to the end.
        var outcome: String
        var failures: Int?
        /// Why stores failed, of the first ones.
        var failed: [Failure]?
        var status: ClusterEntry.Run?
        /// Files that were not taken although they may hold a user's data, in words.
        var leftOut: String?
    }

    /// A store that failed.
    struct Failure: Codable, Hashable {
        var store: Int
        var text: String
    }

    /// The end as JSON.
    var entry: Entry {
        var entry = Entry(run: run, outcome: "unknown", leftOut: leftOut?.text)
        if !failures.isEmpty {
            entry.failed = failures.sorted { $0.key < $1.key }
                .map { Failure(store: $0.key, text: $0.value.text) }
        }
        switch ending {
        case .ended(let last, let failures):
            entry.outcome = last?.state == .cancelled ? "cancelled" : "ended"
            entry.failures = failures ?? last?.stores[.failed]
            entry.status = last.map { ClusterEntry.Run($0) }
        case .stopped: entry.outcome = "stopped"
        case .interrupted: break
        }
        return entry
    }

    /// The status of the process: 0 where all stores are where they should be.
    var status: CommandStatus {
        switch ending {
        case .interrupted, .stopped: return .canBeRepeated
        // They were meant, too, as far as anybody can tell.
        case .ended where leftOut != nil: return .canBeRepeated
        case .ended(let last, let failures):
            guard let last else { return failures == 0 ? .success : .canBeRepeated }
            guard last.state == .ended || last.awaitsSwap, failures ?? 0 == 0 else {
                return .canBeRepeated
            }
            // Pruned stores were migrated, and results that wait for their swap are right.
            let bad: [StoreState] = [.waiting, .running, .failed, .cancelled, .rolledBack]
            return bad.contains { last.stores[$0, default: 0] > 0 }
                ? .canBeRepeated : .success
        }
    }

    /// What a person reads, and what to do next.
    var lines: [String] {
        let target = "\(run) \(connection.options)"
        switch ending {
        case .interrupted:
            return [
                "you stopped watching. Run \(run) continues. To watch it: godwit watch \(target)"
            ]
        case .stopped(let reason):
            return [
                "run \(run) has stopped: \(reason)"
            ] + causes + [
                "resume it with: godwit resume \(target)",
                "or cancel it with: godwit cancel \(target)",
            ]
        case .ended(let last, let failures):
            guard let last else {
                return ["run \(run) has ended, \(counted(failures ?? 0, "store")) not migrated"]
            }
            var lines = [ClusterPicture.line(of: last)] + causes
            let more = last.stores[.failed, default: 0] - self.failures.count
            if more > 0, !self.failures.isEmpty {
                lines.append("and \(counted(more, "more store")) that failed")
            }
            if let leftOut { lines.append(leftOut.text) }
            lines.append(
                "the report, with the cause of each failure: runs/\(run)/report.html in the "
                    + "coordinator's state folder")
            if last.stores[.failed, default: 0] > 0 {
                lines.append(
                    "after you fix the causes, retry the failed stores: godwit replay \(target)")
            }
            if last.stores[.validated, default: 0] > 0 {
                lines.append("swap the results in with: godwit swap \(target)")
            }
            return lines
        }
    }

    /// Why stores failed, as far as that was told.
    private var causes: [String] {
        failures.sorted { $0.key < $1.key }.map { store, note in
            let line = note.text.split(whereSeparator: \.isNewline).joined(separator: " ")
            return "store \(store): \(line)"
        }
    }

    /// Prints the end, and ends the process as it demands.
    ///
    /// - Throws: `ExitCode`.
    func show(asJSON: Bool) throws {
        if asJSON {
            try Console.printJSON(entry)
        }
        switch ending {
        case .ended where !asJSON: for line in lines { Console.print(line) }
        case .ended: break
        case .stopped, .interrupted: for line in lines { Console.log("godwit: \(line)") }
        }
        guard status == .success else { throw ExitCode(status.rawValue) }
    }
}
