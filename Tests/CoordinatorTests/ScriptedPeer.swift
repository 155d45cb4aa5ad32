import CLinux
import CZeroMQ
import ClusterCore
import ClusterProtocol
@testable import Coordinator
import DurableFiles
import Jobs
import MigrationPlans
import RunLedger
@testable import RunService
import Synchronization
import TestSupport
import Testing
import Threads
@testable import ZeroMQ

/// A worker or a client, spoken for by a test.
final class ScriptedPeer {
    let name: String
    private let socket: Socket
    private var waiting: [[JobOrder]] = []
    private static let count = Atomic(0)

    init(_ name: String, _ endpoint: String, receives: Int32 = 1000) throws {
        self.name = name
        let number = Self.count.add(1, ordering: .relaxed).newValue
        var options = SocketOptions()
        options.routingID = try RoutingID("\(name)-\(number)")
        options.lingerMilliseconds = 0
        options.receiveHighWaterMark = receives
        socket = try Socket(.dealer, in: CoordinatorLab.context(), options: options)
        try socket.connect(endpoint)
    }

    /// Goes away without a word.
    func vanish() { socket.close() }

    func send(_ bytes: [UInt8]) throws {
        while try socket.send(Frame(bytes)) == .wouldBlock {
            guard wait(for: ZMQ_POLLOUT) else { throw Missing(description: "room to send") }
        }
    }

    func send(frames: [[UInt8]]) throws {
        while try socket.send(frames.map { Frame($0) }) == .wouldBlock {
            guard wait(for: ZMQ_POLLOUT) else { throw Missing(description: "room to send") }
        }
    }

    func say(_ message: WorkerMessage) throws { try send(MessageCodec().encode(message)) }

    func ask(_ request: ClientRequest) throws { try send(MessageCodec().encode(request)) }

    private func wait(for events: Int32) -> Bool {
        var item = zmq_pollitem_t(socket: socket.raw, fd: 0, events: Int16(events), revents: 0)
        return zmq_poll(&item, 1, 60_000) > 0
    }

    private func frame(_ what: String) throws -> [UInt8] {
        while true {
            if let message = try socket.receive() { return message.frame.bytes }
            guard wait(for: ZMQ_POLLIN) else { throw Missing(description: what) }
        }
    }

    /// The next message that gives a value; those before it are passed over.
    @discardableResult
    func next<Value>(
        _ what: String, _ value: (CoordinatorMessage) -> Value?
    ) throws -> Value {
        let found = try awaited {
            let message: CoordinatorMessage = try MessageCodec().decode(frame(what))
            if let found = value(message) { return found }
            // Orders may come while something else is waited for.
            if case .jobs(let orders) = message { waiting.append(orders) }
            return nil
        }
        guard let found else { throw Missing(description: what) }
        return found
    }

    /// Makes sure that nothing was said but what these are: what follows was asked for later.
    func expectNothing(but isMeant: (CoordinatorMessage) -> Bool = { _ in false }) throws {
        try hello()
        let isWelcome = try awaited {
            let message = try heard("a welcome")
            if case .welcome = message { return true }
            if message != .heartbeat { #expect(isMeant(message), "\(message)") }
            return nil
        }
        #expect(isWelcome == true)
    }

    /// The next message, whatever it is.
    func heard(_ what: String) throws -> CoordinatorMessage { try next(what) { $0 } }

    /// The next answer that gives a value; those before it are passed over.
    @discardableResult
    func reply<Value>(_ what: String, _ value: (ClientReply) -> Value?) throws -> Value {
        let found = try awaited { value(try MessageCodec().decode(frame(what))) }
        guard let found else { throw Missing(description: what) }
        return found
    }

    // MARK: - As a worker

    func hello(
        slots: Int = 1, held: [HeldAttempt] = [], as name: String? = nil, instance: String = ""
    ) throws {
        try say(
            .hello(
                WorkerHello(
                    worker: name ?? self.name, protocols: .current,
                    engine: MigrationPlan.engineVersion,
                    sqlite: "3", policies: [], roots: ["all"], slots: slots, scratchBytes: 1 << 40,
                    held: held, instance: instance)))
    }

    func welcome() throws -> Welcome {
        try next("a welcome") { if case .welcome(let welcome) = $0 { welcome } else { nil } }
    }

    /// Orders that came while something else was waited for.
    func takeWaiting() -> [JobOrder]? { waiting.isEmpty ? nil : waiting.removeFirst() }

    func orders() throws -> [JobOrder] {
        if let orders = takeWaiting() { return orders }
        return try next("orders") { if case .jobs(let orders) = $0 { orders } else { nil } }
    }

    /// What a slot would deliver of an order, as far as a coordinator looks at it.
    static func receipt(_ order: JobOrder) -> Receipt {
        let file = FileReference(
            root: order.attempt.folder.root, path: order.attempt.folder.path + "/store.sqlite")
        return Receipt(
            job: order.job, attempt: order.attempt,
            files: [
                DeliveredFile(file: file, bytes: 10, digest: String(repeating: "0", count: 64))
            ], rows: 5)
    }

    func committed(_ attempt: String) throws {
        try next("the commit of \(attempt)") { message -> Bool? in
            if case .committed(attempt) = message { true } else { nil }
        }
    }

    func denied(_ attempt: String) throws -> DenialReason {
        try next("the denial of \(attempt)") { message in
            if case .denied(attempt, let reason) = message { reason } else { nil }
        }
    }

    /// Does orders as they come until so many were committed.
    func work(_ count: Int) throws {
        var left = count
        while left > 0 {
            for order in try orders() {
                try say(.done(Self.receipt(order)))
                try committed(order.attempt.id)
                left -= 1
            }
        }
    }

    // MARK: - As a client

    func status(_ run: String?) throws -> StatusReport {
        try ask(.status(run: run))
        return try reply("a status") { if case .status(let report) = $0 { report } else { nil } }
    }

    /// Asks until a run is as it should be.
    func wait(for run: String, until condition: (RunStatus) -> Bool) throws {
        let isThere = try awaited {
            if let found = try status(run).runs.first, condition(found) { return true }
            return nil
        }
        if isThere == nil { throw Missing(description: "the right state of \(run)") }
    }

    func refusal() throws -> Refusal {
        try reply("a refusal") { if case .refused(let refusal) = $0 { refusal } else { nil } }
    }

    func done() throws {
        try reply("an answer") { reply -> Bool? in if case .done = reply { true } else { nil } }
    }

    func accepted() throws -> String {
        try reply("a run") { if case .accepted(let run) = $0 { run } else { nil } }
    }

    /// Watches until an event gives a value.
    @discardableResult
    func event<Value>(_ what: String, _ value: (WatchEvent) -> Value?) throws -> Value {
        try reply(what) { if case .event(let event) = $0 { value(event) } else { nil } }
    }

    func note<Value>(_ what: String, _ value: (Note) -> Value?) throws -> Value {
        try event("a note \(what)") { event in
            if case .note(let note) = event { value(note) } else { nil }
        }
    }

    /// Watches until a store is reported as failed.
    func failure(
        isEarlier: Bool = false
    ) throws -> (key: StoreKey, file: String?, cause: FailureReason?) {
        try note("of a failed store") { note in
            guard case .store(let key, let file, .ended(.failed, let cause, isEarlier)) = note
            else { return nil }
            return (key, file, cause)
        }
    }

    func end(of run: String) throws -> Int {
        try event("the end of \(run)") { event in
            if case .ended(run, let failures) = event { failures } else { nil }
        }
    }
}
