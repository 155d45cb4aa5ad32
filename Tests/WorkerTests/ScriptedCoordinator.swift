import CLinux
import ClusterProtocol
import Jobs
import TestSupport
import Testing
import Threads
import ZeroMQ

@testable import Worker

/// What a test waits for did not happen.
struct Missing: Error, CustomStringConvertible {
    let description: String
}

/// A coordinator that says what its test wants and hands over what it hears.
final class ScriptedCoordinator {
    struct Heard: Sendable {
        let peer: RoutingID
        /// Under which its key came in.
        let user: String?
        let message: WorkerMessage
    }

    /// How connections fared that did not come in.
    enum Kept: Hashable, Sendable {
        case refused(AccessRefusal)
        case failed(MonitorEvent.Kind)
    }

    /// Lives as long as the process: contexts that end beside those that use CURVE can crash
    /// libzmq before 4.3.5.
    static let context = Result { try Context() }

    private let loop: PollLoop<PeerHandler>
    private let heard = BoundedMailbox<Heard>(capacity: 100_000)
    /// Who said hello last.
    private(set) var peer: RoutingID?
    private(set) var user: String?
    /// Where it listens.
    let endpoint: String
    private let kept = BoundedMailbox<Kept>(capacity: 10_000)

    /// - Parameters:
    ///   - endpoint: to listen at.
    ///   - security: of its socket.
    ///   - access: who may come in; nil where no policy is asked.
    /// - Throws: `ZeroMQError`, `ThreadError`.
    init(
        _ endpoint: String, security: SocketOptions.Security = .none, access: AccessPolicy? = nil
    ) throws {
        let (heard, kept) = (heard, kept)
        let bound = BoundedMailbox<String>(capacity: 1)
        func start() throws -> PollLoop<PeerHandler> {
            try PollLoop(
                name: "script", context: try Self.context.get(), access: access,
                clock: { clinux_monotonic_nanoseconds() / 1_000_000 }
            ) { sockets in
                var options = SocketOptions()
                options.security = security
                let router = try sockets.open(.router, options: options, isMonitored: true)
                let place = try router.bind(endpoint)
                bound.send(place)
                return PeerHandler(sockets, router, place, heard, kept)
            }
        }
        loop = try Self.retrying(access == nil ? 1 : 500, start)
        self.endpoint = bound.receive() ?? endpoint
    }

    /// The context's one place for the list is free only some time after the last user's end.
    private static func retrying<Value>(_ count: Int, _ body: () throws -> Value) throws -> Value {
        let silence = BoundedMailbox<Bool>(capacity: 1)
        for _ in 1..<count {
            do { return try body() } catch is ZeroMQError {
                _ = silence.receive(within: .milliseconds(10))
            }
        }
        return try body()
    }

    /// Lets in another key from now on.
    func allow(_ key: PublicKey, as name: String) {
        loop.submit { $0.sockets.access?.names[key] = name }
    }

    /// Waits for a connection that was kept out in a way that gives a value.
    func keptOut<Value>(_ what: String, _ value: (Kept) -> Value?) throws -> Value {
        let found = try awaited {
            guard case .element(let kept) = kept.receive(within: .seconds(60)) else {
                throw Missing(description: what)
            }
            return value(kept)
        }
        guard let found else { throw Missing(description: what) }
        return found
    }

    /// Goes away without a word, and returns when its endpoint is free for the next one.
    func vanish() throws {
        loop.submit { try $0.leave() }
        try loop.join()
    }

    /// The next message from the worker that gives a value; those before it are passed over.
    @discardableResult
    func next<Value>(
        _ what: String, _ value: (WorkerMessage) -> Value?
    ) throws -> Value {
        let found = try awaited {
            guard case .element(let heard) = heard.receive(within: .seconds(60)) else {
                throw Missing(description: what)
            }
            if case .hello = heard.message { (peer, user) = (heard.peer, heard.user) }
            return value(heard.message)
        }
        guard let found else { throw Missing(description: what) }
        return found
    }

    func hello() throws -> WorkerHello {
        try next("a hello") { if case .hello(let hello) = $0 { hello } else { nil } }
    }

    /// Waits for a hello and answers it.
    @discardableResult
    func welcome(
        keep: [String] = [], drop: [String] = [], version: Int = ProtocolRange.current.highest
    ) throws -> WorkerHello {
        let hello = try hello()
        try send(
            .welcome(
                Welcome(
                    coordinator: "script", protocolVersion: version, heartbeatMilliseconds: 20,
                    livenessBeats: 1000, keep: keep, drop: drop)))
        return hello
    }

    func progress(of attempt: String) throws -> Int64 {
        try next("progress of \(attempt)") { message in
            guard case .progress(attempt, let rows, _) = message else { return nil }
            return rows
        }
    }

    /// Waits for a heartbeat that names these attempts as held.
    func heartbeat(holding attempts: [String]) throws {
        try next("a heartbeat with \(attempts)") { message -> Bool? in
            if case .heartbeat(_, attempts) = message { true } else { nil }
        }
    }

    func done(_ attempt: String) throws -> Receipt {
        try next("the receipt of \(attempt)") { message in
            guard case .done(let receipt) = message, receipt.attempt == attempt else { return nil }
            return receipt
        }
    }

    func failure(of attempt: String) throws -> AttemptFailure {
        try next("the failure of \(attempt)") { message in
            guard case .failed(let failure) = message, failure.attempt == attempt else {
                return nil
            }
            return failure
        }
    }

    func send(_ message: CoordinatorMessage) throws {
        try send(frames: [MessageCodec().encode(message)])
    }

    /// Sends anything at all to who said hello last.
    func send(frames: [[UInt8]]) throws {
        let peer = try #require(peer)
        loop.submit { try $0.router.send(frames.map { Frame($0) }, to: peer) }
    }

    final class PeerHandler: PollLoopHandler {
        let sockets: PollSockets
        let router: Socket
        let endpoint: String
        let heard: BoundedMailbox<Heard>
        let kept: BoundedMailbox<Kept>

        init(
            _ sockets: PollSockets, _ router: Socket, _ endpoint: String,
            _ heard: BoundedMailbox<Heard>, _ kept: BoundedMailbox<Kept>
        ) {
            self.sockets = sockets
            self.router = router
            self.endpoint = endpoint
            self.heard = heard
            self.kept = kept
        }

        func received(_ messages: [Message], on socket: Socket) throws {
            for message in messages {
                let peer = try #require(message.peer)
                let told: WorkerMessage = try MessageCodec().decode(message.frame.bytes)
                _ = heard.sendIfRoom(Heard(peer: peer, user: message.userID, message: told))
            }
        }

        func leave() throws { try router.unbind(endpoint) }

        func refused(_ refusal: AccessRefusal) { _ = kept.sendIfRoom(.refused(refusal)) }

        func observed(_ event: MonitorEvent, of socket: Socket) throws {
            if event.refusal != nil { _ = kept.sendIfRoom(.failed(event.kind)) }
            // The endpoint's file is removed by then, so that it cannot be the next one's.
            if case .closed = event.kind { sockets.end() }
            if case .closeFailed = event.kind { sockets.end() }
        }
    }
}
