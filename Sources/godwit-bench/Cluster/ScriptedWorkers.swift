import ClusterProtocol
import Jobs
import Synchronization
import Threads
import ZeroMQ

/// Many workers in one thread, each with a connection of its own, which answer every order at
/// once, or at a fixed rate, with a receipt that names no file.
final class ScriptedWorkers: PollLoopHandler {
    private let sockets: PollSockets
    private let codec = MessageCodec()
    private let setup: Setup
    private let results: Results
    private var workers: [ObjectIdentifier: Worker] = [:]
    private var order: [ObjectIdentifier] = []
    private var nextBeat: Int64 = 0
    /// Answers that wait for their time.
    private var held: [(socket: Socket, receipt: Receipt)] = []
    private var nextRelease: Int64 = 0
    /// Milliseconds between two moments at which answers are given.
    private static let releaseInterval: Int64 = 10

    struct Setup: Sendable {
        var endpoint: String
        var workers: Int
        var slots = 1
        /// Commits that end the benchmark; nil goes on.
        var jobs: Int?
        /// Answers a second; nil for at once.
        var rate: Int?
    }

    private struct Worker {
        let name: String
        let socket: Socket
        var isWelcome = false
        var running: Set<String> = []
    }

    /// What other threads may look at.
    final class Results: Sendable {
        /// One element each, when all workers are in and when the last commit came.
        let joined = BoundedMailbox<Bool>(capacity: 1)
        let ended = BoundedMailbox<Bool>(capacity: 1)
        let figures = Mutex(Figures())
    }

    struct Figures {
        /// Microseconds of `Instants` at which the commit of an attempt arrived.
        var committed: [(attempt: String, at: Int64)] = []
        var firstOrder: Int64 = 0
        var welcome = 0
        /// Messages that the coordinator should not have sent.
        var odd: [String] = []
    }

    init(_ sockets: PollSockets, _ setup: Setup, _ results: Results) throws {
        (self.sockets, self.setup, self.results) = (sockets, setup, results)
        for number in 1...setup.workers {
            var options = SocketOptions()
            options.routingID = try RoutingID("bench-\(number)")
            let socket = try sockets.open(.dealer, options: options)
            try socket.connect(setup.endpoint)
            workers[ObjectIdentifier(socket)] = Worker(name: "worker-\(number)", socket: socket)
            order.append(ObjectIdentifier(socket))
            sockets.awaitRoom(on: socket)
        }
    }

    var nextWake: Int64? { setup.rate == nil ? nextBeat : min(nextBeat, nextRelease) }

    func wake(at now: Int64) throws {
        if now >= nextBeat {
            nextBeat = now + 1000
            for worker in workers.values where worker.isWelcome {
                try send(
                    .heartbeat(scratchFree: 0, runningAttempts: worker.running.sorted()),
                    worker.socket)
            }
        }
        guard let rate = setup.rate, now >= nextRelease else { return }
        // What could not be given in time is not made up for.
        nextRelease = now + Self.releaseInterval
        let due = max(1, Int64(rate) * Self.releaseInterval / 1000)
        let count = min(Int(due), held.count)
        for (socket, receipt) in held.prefix(count) { try send(.done(receipt), socket) }
        held.removeFirst(count)
    }

    func becameWritable(_ socket: Socket) throws {
        guard let worker = workers[ObjectIdentifier(socket)], !worker.isWelcome else { return }
        try send(
            .hello(
                WorkerHello(
                    worker: worker.name, protocols: .current, engine: EmptyCoordinator.engine,
                    sqlite: "3", policies: [], roots: ["local"], slots: setup.slots,
                    scratchBytes: 0, held: [])), socket)
    }

    func received(_ messages: [Message], on socket: Socket) throws {
        let key = ObjectIdentifier(socket)
        let now = Instants.microseconds()
        for message in messages {
            let said: CoordinatorMessage = try codec.decode(message.frame.bytes)
            switch said {
            case .welcome:
                workers[key]?.isWelcome = true
                let all = results.figures.withLock {
                    $0.welcome += 1
                    return $0.welcome == setup.workers
                }
                // They come in all at once: the first order is given when the last one is there.
                if all { try beReady() }
            case .jobs(let orders): try take(orders, key, socket, now)
            case .committed(let attempt):
                workers[key]?.running.remove(attempt)
                let count = results.figures.withLock {
                    $0.committed.append((attempt, now))
                    return $0.committed.count
                }
                if count == setup.jobs { results.ended.send(true) }
            case .heartbeat: continue
            case .refused, .denied, .revoke, .drain, .bye:
                results.figures.withLock { $0.odd.append("\(said)") }
            }
        }
    }

    private func beReady() throws {
        for key in order {
            if let worker = workers[key] {
                try send(.ready(freeSlots: setup.slots), worker.socket)
            }
        }
        results.joined.send(true)
    }

    private func take(
        _ orders: [JobOrder], _ key: ObjectIdentifier, _ socket: Socket, _ now: Int64
    ) throws {
        results.figures.withLock { if $0.firstOrder == 0 { $0.firstOrder = now } }
        for order in orders {
            workers[key]?.running.insert(order.attempt.id)
            let receipt = Receipt(job: order.job, attempt: order.attempt, rows: 1)
            if setup.rate == nil {
                try send(.done(receipt), socket)
            } else {
                held.append((socket, receipt))
            }
        }
    }

    private func send(_ message: WorkerMessage, _ socket: Socket) throws {
        guard try socket.send(Frame(try codec.encode(message))) == .sent else {
            throw BenchError("the coordinator takes no more messages")
        }
    }
}
