import ClusterProtocol
import RunReports

/// What is known of a connection that does not work, as a text that says what to check.
struct ClientErrors {
    private let connection: CoordinatorConnection
    /// Whether the connection was there.
    var isConnected = false
    /// How the last handshake ended that did not succeed.
    var unfinished: String?

    init(_ connection: CoordinatorConnection) { self.connection = connection }

    private var endpoint: String { connection.endpoint }

    /// Nothing answered in time.
    func silence(_ patience: CoordinatorClient.Patience) -> CommandFailure {
        if isConnected {
            return CommandFailure(
                .inputOutput,
                "the coordinator at \(endpoint) took the request and has not answered within "
                    + "\(patience.answer.words): look at its log, and at godwit status "
                    + connection.options)
        }
        let beginning = "no coordinator answers at \(endpoint) within \(patience.connecting.words)"
        if let unfinished {
            let remedy =
                connection.keys.map {
                    "the \(KeyFiles.coordinatorName) of \($0) may not be this coordinator's key"
                } ?? "it may be another program, or a coordinator that asks for --keys"
            return CommandFailure(
                .inputOutput, "\(beginning): something listens there, but \(unfinished); \(remedy)")
        }
        return CommandFailure(
            .inputOutput,
            "\(beginning): is godwit coordinate running, and is this the endpoint of its "
                + "--listen?")
    }

    /// The handshake was refused.
    func keptOut(_ refusal: HandshakeRefusal) -> CommandFailure {
        let text =
            switch refusal {
            case .unknownKey:
                "the coordinator at \(endpoint) refuses the key of "
                    + "\(connection.keys ?? "this client")"
                    + (connection.publicKey.map {
                        ": put its public half, \($0), into a file NAME.pub in allowed/clients "
                            + "of the coordinator's keys"
                    } ?? "")
            case .workersKey:
                "the coordinator at \(endpoint) has the key of \(connection.keys ?? "this side") "
                    + "on its list of workers: this is a worker's key; give a client's, such as "
                    + "that of clients/NAME in the folder of keys"
            case .mechanism where connection.keys == nil:
                "the coordinator at \(endpoint) asks for keys: give --keys FOLDER"
            case .mechanism:
                "what listens at \(endpoint) uses no keys: it is another program, or a "
                    + "coordinator in the clear, to which one connects without --keys"
            case .other(let reason):
                "the handshake with \(endpoint) failed: \(reason); "
                    + "is it a coordinator, and are the keys those that go with it?"
            }
        return .usage(text)
    }

    /// The coordinator said no.
    ///
    /// Its own words about a run that is not there may name folders of its machine.
    func refused(_ refusal: Refusal, of request: ClientRequest) -> CommandFailure {
        if refusal.code == .notFound, let run = request.run, refusal.text.contains("no run \(run)")
        {
            return .usage(
                "the coordinator at \(endpoint) has no run \(run); godwit status "
                    + "\(connection.options) lists those that it has")
        }
        let text = refusal.text.replacing(Refusal.connectOptions, with: connection.options)
        switch refusal.code {
        case .quarantined, .nameTaken: return CommandFailure(.canBeRepeated, text)
        case .notFound, .notPossible, .badRequest: return .usage(text)
        case .protocolVersion, .badMessage:
            return .usage("the coordinator at \(endpoint) does not understand: \(refusal.text)")
        }
    }

    /// A reply is not one.
    func unreadable(_ error: ProtocolError) -> CommandFailure {
        .usage("the answer of \(endpoint) cannot be read: \(error)")
    }

    /// A reply is not what this request is answered by.
    func unexpected() -> CommandFailure {
        CommandFailure(.bug, "the coordinator at \(endpoint) answered something else than asked")
    }

    /// The connection ended before the answer.
    func lost() -> CommandFailure {
        CommandFailure(
            .canBeRepeated,
            "the connection to \(endpoint) was lost before the answer, and what was asked for may "
                + "have begun: look with godwit status \(connection.options)")
    }
}

extension Duration {
    /// As people write it.
    var words: String { Seconds.words(self / .seconds(1)) }
}
