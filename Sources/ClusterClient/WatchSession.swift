package import ClusterProtocol
import Jobs

/// Follows a run, or all runs, of a coordinator, also over its restarts.
package final class WatchSession {
    /// Why the watching ended.
    package enum Ending: Hashable, Sendable {
        /// The run is over; what is known of it, if the coordinator still told.
        case ended(RunStatus?, failures: Int?)
        /// It stopped before its end and waits to be resumed.
        case stopped(reason: String)
        /// The watcher was asked to end; the run continues.
        case interrupted
    }

    /// How long things may take, for tests to shorten.
    package struct Times: Sendable {
        /// Silence of a coordinator after which the session connects again.
        package var silence = Duration.seconds(30)
        /// Between two tries.
        package var pause = Duration.seconds(1)

        package init() {}
    }

    private let client: CoordinatorClient
    private let run: String?
    private let observer: any WatchObserver
    private let times: Times
    private let endsWhenStopped: Bool
    private var isTrying = false
    /// What was reported about files that the run did not take, though they may hold a user's data.
    package private(set) var leftOut: Note?
    /// What was reported about failed stores of the run, by number; the first ones alone.
    package private(set) var failures: [Int: Note] = [:]

    /// - Parameters:
    ///   - client: one that the coordinator has answered before.
    ///   - run: nil follows all, until `interrupter` is called.
    ///   - observer: shows what happens.
    ///   - endsWhenStopped: whether a run that stopped before its end ends the session.
    ///   - times: how long things may take.
    package init(
        _ client: CoordinatorClient, run: String?, observer: any WatchObserver,
        endsWhenStopped: Bool = true, times: Times = Times()
    ) {
        self.client = client
        self.run = run
        self.observer = observer
        self.endsWhenStopped = endsWhenStopped
        self.times = times
    }

    /// Ends the session; fit for any thread.
    package var interrupter: @Sendable () -> Void { client.interrupter() }

    /// Follows until the run is over or the session is interrupted.
    ///
    /// - Throws: `ClientError` where the coordinator refuses or speaks another protocol, and what
    ///   the observer throws. A coordinator that is not there is no error: the session tries
    ///   again for as long as it takes.
    package func follow() throws -> Ending {
        try client.open(sending: .watch(run: run))
        while true {
            guard let heard = try client.next(within: times.silence) else {
                if try again(.silent(for: times.silence)) { return .interrupted }
                continue
            }
            if let ending = try take(heard) { return ending }
        }
    }

    private func take(_ news: ClientEvent) throws -> Ending? {
        switch news {
        case .connected:
            if isTrying { observer.observe(.connectedAgain) }
            isTrying = false
        case .reply(.event(let event)): return try take(event)
        case .reply(.status(let report)): return try take(.status(report))
        case .reply(.done): return end(failures: nil)
        case .reply(.refused(let refusal)): throw error(.refused(refusal, .watch(run: run)))
        case .reply(.accepted): break
        case .unreadable(let fault): throw error(.unreadable(fault))
        case .unfinished: break
        case .lost:
            if try again(.lost) { return .interrupted }
        case .keptOut(let refusal):
            if try again(.handshakeRefused(refusal)) { return .interrupted }
        case .interrupted: return .interrupted
        }
        return nil
    }

    private func error(_ cause: ClientError.Cause) -> ClientError {
        ClientError(cause, client.connection)
    }

    private func take(_ event: WatchEvent) throws -> Ending? {
        try observer.observe(event)
        switch event {
        case .status: break
        case .note(let note):
            remember(note)
            if endsWhenStopped, case .run(run, .stopped(let reason)) = note {
                return .stopped(reason: reason)
            }
        case .ended(let ended, let failures):
            if ended == run { return end(failures: failures) }
        }
        return nil
    }

    /// Keeps for the end which files were left out and why stores failed.
    private func remember(_ note: Note) {
        guard let run, note.run == run else { return }
        switch note {
        case .run(_, .filesLeftOut): leftOut = note
        case .store(let key, _, .ended(.failed, _, _)):
            let store = key.number
            guard failures[store] != nil || failures.count < Note.mostFailures else { return }
            failures[store] = note
        case .store(let key, _, .ended): failures[key.number] = nil
        default: return
        }
    }

    /// Connects again after a pause.
    ///
    /// - Returns: whether a signal came meanwhile.
    private func again(_ reason: WatchConnection) throws(ClientError) -> Bool {
        if !isTrying {
            observer.observe(reason)
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
        do throws(ClientError) {
            if let run, case .status(let report) = try client.ask(.status(run: run)) {
                last = report.runs.first { $0.run == run }
            }
        } catch {
            observer.observe(.endUnknown(error))
        }
        return .ended(last, failures: failures)
    }
}
