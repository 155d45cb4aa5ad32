import ClusterProtocol
import RunReports

/// Follows a run, or all runs, of a coordinator, also over its restarts.
final class WatchSession {
    /// Why the watching ended.
    enum Ending: Hashable, Sendable {
        /// The run is over; what is known of it, if the coordinator still told.
        case ended(RunStatus?, failures: Int?)
        /// It stopped before its end and waits to be resumed.
        case stopped(reason: String)
        /// The watcher was asked to end; the run continues.
        case interrupted
    }

    /// How long things may take, for tests to shorten.
    struct Times: Sendable {
        /// Silence of a coordinator after which the session connects again.
        var silence = Duration.seconds(30)
        /// Between two tries.
        var pause = Duration.seconds(1)

        init() {}
    }

    private let client: CoordinatorClient
    private let run: String?
    private let view: ClusterView
    private let times: Times
    private let endsWhenStopped: Bool
    private let tell: ((WatchEvent) throws(CommandFailure) -> Void)?
    private var isTrying = false
    /// What was reported about files that the run did not take, though they may hold a user's data.
    private(set) var leftOut: String?
    /// What was reported about failed stores of the run, by number; the first ones alone.
    private(set) var failures: [Int: String] = [:]

    /// - Parameters:
    ///   - client: one that the coordinator has answered before.
    ///   - run: nil follows all, until a signal.
    ///   - view: shows the events, where `tell` is nil.
    ///   - endsWhenStopped: whether a run that stopped before its end ends the session.
    ///   - times: how long things may take.
    ///   - tell: gets every event.
    init(
        _ client: CoordinatorClient, run: String?, view: ClusterView,
        endsWhenStopped: Bool = true, times: Times = Times(),
        tell: ((WatchEvent) throws(CommandFailure) -> Void)? = nil
    ) {
        self.client = client
        self.run = run
        self.view = view
        self.endsWhenStopped = endsWhenStopped
        self.times = times
        self.tell = tell
    }

    /// Follows until the run is over or a signal comes.
    ///
    /// - Throws: `CommandFailure` where the coordinator refuses or speaks another protocol. That
    ///   it is not there is no error: it is tried again for as long as it takes.
    func follow() throws(CommandFailure) -> Ending {
        Interruption.shared.atFirstSignal(client.interrupter())
        defer { view.end() }
        try client.open(sending: .watch(run: run))
        while true {
            guard let heard = try client.next(within: times.silence) else {
                if try again("nothing was heard of \(endpoint) for \(times.silence.words)") {
                    return .interrupted
                }
                continue
            }
            if let ending = try take(heard) { return ending }
        }
    }

    private var endpoint: String { client.connection.endpoint }

    private func take(_ news: ClientEvent) throws(CommandFailure) -> Ending? {
        let trouble = ClientErrors(client.connection)
        switch news {
        case .connected:
            if isTrying { view.log("connected to \(endpoint) again") }
            isTrying = false
        case .reply(.event(let event)): return try take(event)
        case .reply(.status(let report)): return try take(.status(report))
        case .reply(.done): return end(failures: nil)
        case .reply(.refused(let refusal)): throw trouble.refused(refusal, of: .watch(run: run))
        case .reply(.accepted): break
        case .unreadable(let error): throw trouble.unreadable(error)
        case .unfinished: break
        case .lost:
            if try again("the connection to \(endpoint) is lost") { return .interrupted }
        case .keptOut(let refusal):
            if try again("\(trouble.keptOut(refusal))") { return .interrupted }
        case .interrupted: return .interrupted
        }
        return nil
    }

    private func take(_ event: WatchEvent) throws(CommandFailure) -> Ending? {
        try tell?(event)
        switch event {
        case .status(let report): if tell == nil { view.show(report, endingWith: run) }
        case .note(let note):
            remember(note)
            if note.kind == "files-left-out" {
                guard note.run == run, leftOut != note.text else { return nil }
                leftOut = note.text
            } else if tell == nil {
                view.show(note)
            }
            if endsWhenStopped, let run, note.run == run, note.kind == WatchNote.runStopped {
                return .stopped(reason: note.text)
            }
        case .ended(let ended, let failures):
            if ended == run { return end(failures: failures) }
            if tell == nil {
                view.log("\(ended): ended, \(counted(failures, "store")) not migrated")
            }
        }
        return nil
    }

    /// Keeps the causes of failures for the end.
    private func remember(_ note: WatchNote) {
        guard let run, note.run == run, let store = note.store else { return }
        switch note.kind {
        case "store-failed", WatchNote.earlierFailure:
            guard failures[store] != nil || failures.count < WatchNote.mostFailures else { return }
            failures[store] = note.text
        case "store-done", "store-validated", "store-cancelled": failures[store] = nil
        default: return
        }
    }

    /// Connects again after a pause.
    ///
    /// - Returns: whether a signal came meanwhile.
    private func again(_ reason: String) throws(CommandFailure) -> Bool {
        if !isTrying {
            view.log("\(reason); the run does not depend on this: trying again")
            isTrying = true
        }
        client.forget()
        if case .interrupted = try client.next(within: times.pause) { return true }
        try client.open(sending: .watch(run: run))
        return false
    }

    /// How the run stands in the end, if the coordinator still answers.
    private func end(failures: Int?) -> Ending {
        var last: RunStatus?
        do throws(CommandFailure) {
            if let run, case .status(let report) = try client.ask(.status(run: run)) {
                last = report.runs.first { $0.run == run }
            }
        } catch {
            view.log("how the run ended is not known in detail: \(error)")
        }
        return .ended(last, failures: failures)
    }
}
