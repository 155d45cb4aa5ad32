package import ClusterProtocol
import ZeroMQ

/// A coordinator as programs ask it: each request with the answer that it must have.
package struct ConnectedCoordinator {
    package let client: CoordinatorClient

    package var connection: CoordinatorConnection { client.connection }

    /// - Parameters:
    ///   - connection: where to, and with which keys.
    ///   - clock: seconds of a clock that never goes back.
    ///   - routingID: random ones, a new one for each call.
    /// - Throws: `ClientError`.
    package init(
        _ connection: CoordinatorConnection, clock: @escaping @Sendable () -> Double,
        routingID: @escaping @Sendable () -> String
    ) throws(ClientError) {
        let context: Context
        do throws(ZeroMQError) {
            context = try Context()
        } catch {
            throw ClientError(.socket(error), connection)
        }
        client = try CoordinatorClient(
            connection, context: context, clock: clock, routingID: routingID)
    }

    /// Where runs stand.
    ///
    /// - Parameter run: nil takes all.
    /// - Returns: the report, with the workers.
    /// - Throws: `ClientError`, also for a run that is not there.
    package func status(of run: String?) throws(ClientError) -> StatusReport {
        guard case .status(let report) = try client.ask(.status(run: run)) else {
            throw ClientError(.unexpectedAnswer, connection)
        }
        return report
    }

    /// The workers.
    package func workers() throws(ClientError) -> [WorkerStatus] {
        guard case .status(let report) = try client.ask(.workers) else {
            throw ClientError(.unexpectedAnswer, connection)
        }
        return report.workers
    }

    /// A run by its id, known to be there; nil takes the newest.
    ///
    /// - Throws: `ClientError` where there is none.
    package func run(_ id: String?) throws(ClientError) -> String {
        let report = try status(of: id)
        if let id { return id }
        guard let newest = report.runs.max(by: { RunNumber($0.run) < RunNumber($1.run) }) else {
            throw ClientError(.noRun, connection)
        }
        return newest.run
    }

    /// Asks for something that is done at once.
    package func perform(_ request: ClientRequest) throws(ClientError) {
        switch try client.ask(request) {
        case .done, .accepted: return
        case .refused, .status, .event: throw ClientError(.unexpectedAnswer, connection)
        }
    }

    /// Asks for something that a run goes on with.
    ///
    /// - Returns: the run.
    package func begin(_ request: ClientRequest, of run: String) throws(ClientError) -> String {
        switch try client.ask(request) {
        case .accepted(let accepted): return accepted
        case .done: return run
        case .refused, .status, .event: throw ClientError(.unexpectedAnswer, connection)
        }
    }
}
