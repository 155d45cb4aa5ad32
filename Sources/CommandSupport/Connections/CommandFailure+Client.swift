package import ClusterClient
import ClusterProtocol
import RunReports

/// Requests that a coordinator did not answer, as texts that say what to check.
extension CommandFailure {
    /// A failure to speak to a coordinator, or its refusal.
    package init(_ error: ClientError) {
        let endpoint = error.connection.endpoint
        let options = error.connection.options
        switch error.cause {
        case .noAnswer(let time):
            self.init(
                .inputOutput,
                "the coordinator at \(endpoint) received the request but did not answer within "
                    + "\(time.words): see its log and godwit status \(options)")
        case .noCoordinator(let time, let unfinished):
            self.init(.inputOutput, Self.absence(error.connection, time, unfinished))
        case .handshakeRefused(let refusal):
            self = .usage(Self.text(of: refusal, error.connection))
        case .refused(let refusal, let request):
            self = Self.refused(refusal, request, error.connection)
        case .unreadable(let fault):
            self = .usage("the answer from \(endpoint) cannot be read: \(fault)")
        case .unexpectedAnswer:
            self.init(.bug, "the coordinator at \(endpoint) sent an unexpected answer")
        case .lost:
            self.init(
                .canBeRepeated,
                "the connection to \(endpoint) was lost before the answer arrived. The coordinator "
                    + "may have accepted the request. Check with godwit status \(options)")
        case .interrupted:
            self.init(.canBeRepeated, "interrupted before the answer arrived")
        case .notSendable(let fault): self = .usage(Self.text(ofUnsent: fault))
        case .noRun:
            self = .usage(
                "the coordinator at \(endpoint) has no runs yet; start one with godwit submit")
        case .socket(let fault): self.init(CommandStatus(fault), "\(fault)")
        case .thread(let reason): self.init(.inputOutput, reason)
        }
    }

    private static func absence(
        _ connection: CoordinatorConnection, _ time: Duration, _ unfinished: String?
    ) -> String {
        let beginning = "no coordinator answers at \(connection.endpoint) within \(time.words)"
        guard let unfinished else {
            return "\(beginning): is godwit coordinate running, and is this the endpoint of its "
                + "--listen?"
        }
        let remedy =
            connection.keys.map {
                "the \(KeyFiles.coordinatorName) of \($0) may not be this coordinator's key"
            } ?? "it may be another program, or a coordinator that requires --keys"
        return "\(beginning): something listens there, but \(unfinished); \(remedy)"
    }

    static func text(
        of refusal: HandshakeRefusal, _ connection: CoordinatorConnection
    ) -> String {
        let endpoint = connection.endpoint
        switch refusal {
        case .unknownKey:
            return "the coordinator at \(endpoint) refuses the key of "
                + "\(connection.keys ?? "this client")"
                + (connection.publicKey.map {
                    ": put its public half, \($0), into a file NAME.pub in allowed/clients "
                        + "of the coordinator's keys"
                } ?? "")
        case .workersKey:
            return "the coordinator at \(endpoint) has the key of "
                + "\(connection.keys ?? "this side") on its list of workers: this is a worker's "
                + "key; give a client's, such as that of clients/NAME in the folder of keys"
        case .mechanism where connection.keys == nil:
            return "the coordinator at \(endpoint) requires keys: use --keys FOLDER"
        case .mechanism:
            return "the program at \(endpoint) does not use keys. It may be another program or a "
                + "coordinator started without keys. For the latter, leave out --keys"
        case .other(let reason):
            return "the handshake with \(endpoint) failed: \(reason); "
                + "check that it is a coordinator and that the keys are for it"
        }
    }

    /// The coordinator said no.
    ///
    /// Its own words about a run that is not there may name folders of its machine.
    private static func refused(
        _ refusal: Refusal, _ request: ClientRequest, _ connection: CoordinatorConnection
    ) -> CommandFailure {
        let (run, options) = (refusal.run ?? request.run ?? "", connection.options)
        let text = refusal.text
        switch refusal.code {
        case .noRun:
            return .usage(
                "the coordinator at \(connection.endpoint) has no run \(run); godwit status "
                    + "\(options) lists those that it has")
        case .otherRun: return .usage("\(text) (godwit cancel \(run) \(options))")
        case .awaitsSwap: return .usage("\(text): godwit swap \(run) \(options)")
        case .quarantined, .nameTaken: return CommandFailure(.canBeRepeated, text)
        case .notFound, .notPossible, .badRequest: return .usage(text)
        case .protocolVersion, .badMessage:
            return .usage(
                "the coordinator at \(connection.endpoint) could not read the request: "
                    + refusal.text)
        }
    }

    private static func text(ofUnsent fault: ProtocolError) -> String {
        switch fault {
        case .tooLong, .tooMany:
            "\(fault): name folders or patterns instead of single stores, or submit them in "
                + "several runs"
        default: "\(fault)"
        }
    }
}

extension Duration {
    /// As people write it.
    var words: String { Seconds.words(self / .seconds(1)) }
}
