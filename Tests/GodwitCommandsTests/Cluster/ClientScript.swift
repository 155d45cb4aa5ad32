import CLinux
import ClusterProtocol
import Foundation
import Jobs
import Synchronization
import TestSupport
import Testing
import Threads
import ZeroMQ

/// What a test waits for did not happen.
struct Unheard: Error, CustomStringConvertible {
    let description: String
}

/// A coordinator that says to clients what its test wants, and hands over what they ask.
final class ClientScript {
    struct Asked: Sendable {
        let peer: RoutingID
        let request: ClientRequest
    }

    /// Lives as long as the process: contexts that end beside those that use CURVE can crash
    /// libzmq before 4.3.5.
    static let context = Result { try Context() }

    /// Contexts with access policies, of which each can have one; they live as long, too.
    private static let guarded = Mutex<[Context]>([])

    /// A context for a coordinator that asks for keys.
    static func guardedContext() throws -> Context {
        let context = try Context()
        guarded.withLock { $0.append(context) }
        return context
    }

    /// The clock of loops, in seconds.
    static let clock: @Sendable () -> Double = {
        Double(clinux_monotonic_nanoseconds()) / 1_000_000_000
    }

    private let loop: PollLoop<PeerHandler>
    private let asked = BoundedMailbox<Asked>(capacity: 10_000)
    /// Who asked last.
    private(set) var peer: RoutingID?

    init(
        _ endpoint: String, in context: Context? = nil, access: AccessPolicy? = nil,
        security: SocketOptions.Security = .none
    ) throws {
        let asked = asked
        loop = try PollLoop(
            name: "script", context: try context ?? Self.context.get(), access: access,
            clock: { clinux_monotonic_nanoseconds() / 1_000_000 }
        ) { sockets in
            var options = SocketOptions()
            options.security = security
            let router = try sockets.open(.router, options: options, isMonitored: true)
            try router.bind(endpoint)
            return PeerHandler(sockets, router, endpoint, asked)
        }
    }

    /// Goes away without a word, and returns when its endpoint is free for the next one.
    func vanish() throws {
        loop.submit { try $0.router.unbind($0.endpoint) }
        try loop.join()
    }

    /// The next request.
    @discardableResult
    func next() throws -> ClientRequest {
        guard case .element(let asked) = asked.receive(within: .seconds(60)) else {
            throw Unheard(description: "a request")
        }
        peer = asked.peer
        return asked.request
    }

    /// Answers who asked last.
    func answer(_ reply: ClientReply) throws { try send(MessageCodec().encode(reply)) }

    /// Expects a request and answers it.
    func expect(_ request: ClientRequest, _ replies: ClientReply...) throws {
        #expect(try next() == request)
        for reply in replies { try answer(reply) }
    }

    /// Sends anything at all to who asked last.
    func send(_ frame: [UInt8]) throws {
        let peer = try #require(peer)
        loop.submit { try $0.router.send(Frame(frame), to: peer) }
    }

    final class PeerHandler: PollLoopHandler {
        let sockets: PollSockets
        let router: Socket
        let endpoint: String
        let asked: BoundedMailbox<Asked>

        init(
            _ sockets: PollSockets, _ router: Socket, _ endpoint: String,
            _ asked: BoundedMailbox<Asked>
        ) {
            self.sockets = sockets
            self.router = router
            self.endpoint = endpoint
            self.asked = asked
        }

        func received(_ messages: [Message], on socket: Socket) throws {
            for message in messages {
                let peer = try #require(message.peer)
                let request: ClientRequest = try MessageCodec().decode(message.frame.bytes)
                _ = asked.sendIfRoom(Asked(peer: peer, request: request))
            }
        }

        func observed(_ event: MonitorEvent, of socket: Socket) throws {
            // The endpoint's file is removed by then, so that it cannot be the next one's.
            if case .closed = event.kind { sockets.end() }
            if case .closeFailed = event.kind { sockets.end() }
        }
    }
}

/// The built program with its folder, while a test speaks with it.
final class ClientProcess {
    private let process = Process()
    private let output: URL
    private let log: URL

    /// Starts the program; `--connect` with the endpoint in the folder is added.
    init(_ words: [String], in folder: URL, isConnected: Bool = true) throws {
        let name = UUID().uuidString
        output = folder.appendingPathComponent("out-\(name)")
        log = folder.appendingPathComponent("log-\(name)")
        for file in [output, log] { try Data().write(to: file) }
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("godwit")
        process.arguments = words + (isConnected ? ["--connect", Self.endpoint(in: folder)] : [])
        process.currentDirectoryURL = folder
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: log)
        try process.runBounded()
    }

    static func endpoint(in folder: URL) -> String { "ipc://\(folder.path)/c" }

    var identifier: Int32 { process.processIdentifier }

    /// Waits for the end.
    func finish() throws -> (status: Int32, output: String, log: String) {
        process.waitUntilExit()
        return (process.terminationStatus, try Self.text(output), try Self.text(log))
    }

    /// What it has written to standard error so far.
    func logSoFar() throws -> String { try Self.text(log) }

    private static func text(_ url: URL) throws -> String {
        String(decoding: try Data(contentsOf: url), as: UTF8.self)
    }
}

/// Reports of coordinators.
enum ClusterSamples {
    /// A note of a store of run `r3` that failed.
    static func failure(
        store: Int, _ code: FailureCause, _ text: String, file: String? = nil,
        isEarlier: Bool = false
    ) -> Note {
        .store(
            StoreKey(run: "r3", number: store), file: file,
            .ended(.failed, FailureReason(code, text), isEarlier: isEarlier))
    }

    static func run(
        _ name: String = "r3", state: RunState = .open, stores: [StoreState: Int] = [.done: 2],
        jobs: [String: Int] = [:], waitingFor: WaitingReason? = nil
    ) -> RunStatus {
        RunStatus(
            run: name, state: state, stores: stores, jobs: jobs, rows: 1_234_567, bytes: 5 << 20,
            rowsPerSecond: 120_000, bytesPerSecond: 84_200_000, secondsLeft: 245,
            waitingFor: waitingFor)
    }

    static func worker(
        _ name: String = "w1", host: String = "host-a", state: WorkerStatus.State = .active,
        reason: IdleReason? = nil
    ) -> WorkerStatus {
        WorkerStatus(
            name: name, host: host, engine: "1", slots: 4, running: 3, state: state,
            reason: reason)
    }

    static func report(
        _ runs: [RunStatus] = [run()], _ workers: [WorkerStatus] = [worker()]
    ) -> StatusReport {
        StatusReport(coordinator: "c1", engine: "1", runs: runs, workers: workers)
    }
}
