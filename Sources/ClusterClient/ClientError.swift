package import ClusterProtocol
import Threads
package import ZeroMQ

/// A request that a coordinator did not answer, or not as asked.
package struct ClientError: Error, Sendable {
    /// What went wrong, with its facts.
    package enum Cause: Sendable {
        /// The coordinator is connected and did not answer in this time.
        case noAnswer(within: Duration)
        /// No coordinator answers in this time. A handshake that something began may have ended
        /// as `unfinished` says.
        case noCoordinator(within: Duration, unfinished: String?)
        case handshakeRefused(HandshakeRefusal)
        /// The coordinator refuses the request.
        case refused(Refusal, ClientRequest)
        /// The answer is no message of this protocol's version.
        case unreadable(ProtocolError)
        /// The answer belongs to another kind of request.
        case unexpectedAnswer
        /// The connection ended before the answer; the request may have been carried out.
        case lost
        /// A signal asked the process to end before there was an answer.
        case interrupted
        /// The request is beyond the bounds of messages.
        case notSendable(ProtocolError)
        /// The coordinator has no run.
        case noRun
        case socket(ZeroMQError)
        /// The client's thread could not begin, or ended without a cause.
        case thread(String)
    }

    package let cause: Cause
    package let connection: CoordinatorConnection

    package init(_ cause: Cause, _ connection: CoordinatorConnection) {
        self.cause = cause
        self.connection = connection
    }

    /// What a body throws, as an error of this module.
    static func translating<Result>(
        _ connection: CoordinatorConnection, _ body: () throws -> Result
    ) throws(ClientError) -> Result {
        do {
            return try body()
        } catch let error as ZeroMQError {
            throw ClientError(.socket(error), connection)
        } catch {
            throw ClientError(.thread("\(error)"), connection)
        }
    }
}
