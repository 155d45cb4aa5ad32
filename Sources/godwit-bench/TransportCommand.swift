import ArgumentParser
import CTransportPeer
import Glibc
import Threads
import ZeroMQ

/// What our sockets cost: a router that hands pre-encoded jobs to dealers, against the same in
/// plain C.
struct TransportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transport",
        abstract: "Hands out jobs that are nothing but frames; peer: plain C over libzmq.")

    @Option(help: "Workers, each with a connection of its own.")
    var workers = 100

    @Option(help: "Jobs that each worker has under way.")
    var window = 2

    @Option(help: "Jobs of a round.")
    var jobs = 300_000

    @Option(help: "Rounds; each runs both sides.")
    var rounds = 5

    @Option(help: "I/O threads of libzmq.")
    var ioThreads = 2

    /// Bytes of a typical job as protobuf, and of what answers it.
    static let jobBytes = 522
    static let doneBytes = 64

    func run() throws {
        var ours: [Double] = []
        var peers: [Double] = []
        var processor = (ours: 0.0, peer: 0.0)
        for round in 1...max(1, rounds) {
            // Turns change, so that neither side always finds the machine warmer.
            for isPeer in round % 2 == 1 ? [true, false] : [false, true] {
                let before = Self.processorSeconds()
                let seconds = isPeer ? try peer() : try TransportRun(self).seconds()
                let used = Self.processorSeconds() - before
                if isPeer { peers.append(seconds) } else { ours.append(seconds) }
                if isPeer { processor.peer += used } else { processor.ours += used }
            }
            print("round \(round): C \(rate(peers[round - 1])), ours \(rate(ours[round - 1]))")
        }
        let ratios = zip(ours, peers).map { $0 / $1 }.sorted()
        let median = ratios[ratios.count / 2]
        print("C     median \(rate(peers.sorted()[peers.count / 2]))")
        print("ours  median \(rate(ours.sorted()[ours.count / 2]))")
        print(
            "ours takes \(rounded(median)) times as long (\(ratios.map(rounded)), bar 1.7), "
                + "\(workers) workers, \(window) jobs each")
        print("processor time: \(rounded(processor.ours / processor.peer)) times that of C")
    }

    /// What all threads of this process have used; other programs disturb it less than the clock.
    private static func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private func rate(_ seconds: Double) -> String { "\(Int(Double(jobs) / seconds)) jobs/s" }
    private func rounded(_ ratio: Double) -> Double { (ratio * 100).rounded() / 100 }

    private func peer() throws -> Double {
        var load = ctransport_load(
            workers: Int32(workers), window: Int32(window), jobs: Int64(jobs),
            job_bytes: Self.jobBytes, done_bytes: Self.doneBytes, io_threads: Int32(ioThreads))
        let result = ctransport_run(&load)
        guard result >= 0 else {
            throw ValidationError("the peer in C failed with errno \(-result)")
        }
        return Double(result) / 1e9
    }
}

/// One round of ours: a loop that serves, and one that has all the dealers.
private struct TransportRun {
    private let setup: TransportCommand

    init(_ setup: TransportCommand) { self.setup = setup }

    func seconds() throws -> Double {
        let context = try Context(ioThreads: setup.ioThreads)
        let count = (workers: setup.workers, window: setup.window, jobs: setup.jobs)
        let bound = BoundedMailbox<String>(capacity: 1)
        let ended = BoundedMailbox<Duration>(capacity: 1)
        let server = try PollLoop(name: "server", context: context, clock: { 0 }) { sockets in
            let router = try sockets.open(.router)
            bound.send(try router.bind("tcp://127.0.0.1:*"))
            return JobServer(workers: count.workers, window: count.window, jobs: count.jobs, ended)
        }
        let endpoint = bound.receive() ?? ""
        let workers = try PollLoop(name: "workers", context: context, clock: { 0 }) { sockets in
            for _ in 0..<count.workers {
                let dealer = try sockets.open(.dealer)
                try dealer.connect(endpoint)
                sockets.awaitRoom(on: dealer)
            }
            return JobWorkers()
        }
        let time = ended.receive()
        server.end()
        workers.end()
        try server.join()
        try workers.join()
        let (seconds, attoseconds) = (time ?? .zero).components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}

/// Hands out the jobs once all workers are ready.
private final class JobServer: PollLoopHandler {
    private let job = Frame([UInt8](repeating: 2, count: TransportCommand.jobBytes))
    private let setup: (workers: Int, window: Int, jobs: Int)
    private let ended: BoundedMailbox<Duration>
    private var ready: [RoutingID] = []
    private var given = 0
    private var done = 0
    private var begin = ContinuousClock.now

    init(workers: Int, window: Int, jobs: Int, _ ended: BoundedMailbox<Duration>) {
        setup = (workers, window, jobs)
        self.ended = ended
    }

    func received(_ messages: [Message], on socket: Socket) throws {
        for message in messages {
            guard let peer = message.peer else { continue }
            guard message.frame.count > 1 else {
                ready.append(peer)
                if ready.count == setup.workers { try start(socket) }
                continue
            }
            done += 1
            try give(to: peer, socket)
        }
        if done == setup.jobs { ended.send(ContinuousClock.now - begin) }
    }

    private func start(_ socket: Socket) throws {
        begin = .now
        for _ in 0..<setup.window {
            for peer in ready { try give(to: peer, socket) }
        }
    }

    private func give(to peer: RoutingID, _ socket: Socket) throws {
        guard given < setup.jobs else { return }
        guard try socket.send(job, to: peer) == .sent else {
            throw ValidationError("a worker took no job")
        }
        given += 1
    }
}

/// All workers: each answers its jobs.
private final class JobWorkers: PollLoopHandler {
    private let ready = Frame("R")
    private let done = Frame([UInt8](repeating: 1, count: TransportCommand.doneBytes))

    func becameWritable(_ socket: Socket) throws { try socket.send(ready) }

    func received(_ messages: [Message], on socket: Socket) throws {
        for _ in messages { try socket.send(done) }
    }
}
