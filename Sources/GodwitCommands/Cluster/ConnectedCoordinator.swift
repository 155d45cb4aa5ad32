import ClusterProtocol
import RunReports
import ZeroMQ

/// A coordinator as commands ask it: each request with the answer that it must have.
struct ConnectedCoordinator {
    let client: CoordinatorClient
    private let trouble: ClientErrors

    var connection: CoordinatorConnection { client.connection }

    /// - Parameters:
    ///   - connection: where to, and with which keys.
    ///   - clock: seconds of a clock that never goes back.
    /// - Throws: `CommandFailure`.
    init(
        _ connection: CoordinatorConnection,
        clock: @escaping @Sendable () -> Double = MonotonicClock.start()
    ) throws(CommandFailure) {
        let context: Context
        do throws(ZeroMQError) {
            context = try Context()
        } catch {
            throw CommandFailure(.inputOutput, "\(error)")
        }
        client = try CoordinatorClient(connection, context: context, clock: clock)
        trouble = ClientErrors(connection)
    }

    /// Where runs stand.
    ///
    /// - Parameter run: nil takes all.
    /// - Returns: the report, with the workers.
    /// - Throws: `CommandFailure`, also for a run that is not there.
    func status(of run: String?) throws(CommandFailure) -> StatusReport {
        guard case .status(let report) = try client.ask(.status(run: run)) else {
            throw trouble.unexpected()
        }
        return report
    }

    /// The workers.
    func workers() throws(CommandFailure) -> [WorkerStatus] {
        guard case .status(let report) = try client.ask(.workers) else {
            throw trouble.unexpected()
        }
        return report.workers
    }

    /// A run by its id, known to be there; nil takes the newest.
    ///
    /// - Throws: `CommandFailure` with status 64 where there is none.
    func run(_ id: String?) throws(CommandFailure) -> String {
        let report = try status(of: id)
        if let id { return id }
        guard let newest = report.runs.max(by: { RunNumber($0.run) < RunNumber($1.run) }) else {
            throw .usage(
                "the coordinator at \(connection.endpoint) has no run yet; godwit submit begins one"
            )
        }
        return newest.run
    }

    /// Asks for something that is done at once.
    func perform(_ request: ClientRequest) throws(CommandFailure) {
        switch try client.ask(request) {
        case .done, .accepted: return
        case .refused, .status, .event: throw trouble.unexpected()
        }
    }

    /// Asks for something that a run goes on with.
    ///
    /// - Returns: the run.
    func begin(_ request: ClientRequest, of run: String) throws(CommandFailure) -> String {
        switch try client.ask(request) {
        case .accepted(let accepted): return accepted
        case .done: return run
        case .refused, .status, .event: throw trouble.unexpected()
        }
    }
}

/// The target of a command over a connection: a run, for the rest is the coordinator's.
enum ConnectedTarget {
    /// The run that an argument names.
    ///
    /// - Throws: `CommandFailure` with status 64 for the path of a store, which only a state
    ///   folder knows.
    static func run(_ target: String?) throws(CommandFailure) -> String? {
        guard let target, target.contains("/") else { return target }
        throw .usage(
            "with --connect a target is a run, such as r3; name one of its stores by --store "
                + "NUMBER, as the notes of the run tell it")
    }
}
