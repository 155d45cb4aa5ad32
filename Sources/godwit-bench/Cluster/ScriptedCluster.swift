import Foundation
import GRDB
import Synchronization
import Threads
import ZeroMQ

/// A coordinator process and scripted workers in this one.
struct ScriptedCluster {
    let coordinator: CompanionProcess
    let results = ScriptedWorkers.Results()
    private let loop: PollLoop<ScriptedWorkers>
    private let state: String

    /// - Parameters:
    ///   - place: where the state folder lies.
    ///   - setup: of the workers; the endpoint is filled in.
    ///   - jobs: of the run; 0 begins none.
    ///   - shards: that one step takes.
    /// - Throws: `BenchError` where not all workers come in, and for what cannot be started.
    init(
        _ place: BenchFolder, _ setup: ScriptedWorkers.Setup, jobs: Int, shards: Int
    ) throws {
        state = place.file("coordinator-state")
        // Addresses of local sockets are short (unix(7)).
        let socket = "/tmp/godwit-bench-\(ProcessInfo.processInfo.processIdentifier)"
        if FileManager.default.fileExists(atPath: socket) {
            try FileManager.default.removeItem(atPath: socket)
        }
        var setup = setup
        setup.endpoint = "ipc://\(socket)"
        coordinator = try CompanionProcess(
            BenchFolder.program,
            [
                "empty-coordinator", state, setup.endpoint, "--jobs", "\(jobs)", "--shards",
                "\(shards)", "--slots", "\(setup.workers * setup.slots)",
            ], log: place.file("coordinator.log"))
        let (results, chosen) = (results, setup)
        let clock = ContinuousClock()
        let start = clock.now
        loop = try PollLoop(
            name: "workers", context: Context(ioThreads: 1),
            clock: { Int64((clock.now - start) / .milliseconds(1)) }
        ) { try ScriptedWorkers($0, chosen, results) }
        guard Self.isTold(results.joined, within: 120) else {
            try end()
            throw BenchError("not all workers came in: see coordinator.log in the folder")
        }
    }

    /// Waits until so many jobs are committed as the setup says.
    func waitForEnd(seconds: Int) throws {
        guard Self.isTold(results.ended, within: seconds) else {
            let count = results.figures.withLock { $0.committed.count }
            throw BenchError("only \(count) jobs were committed in \(seconds) s")
        }
    }

    private static func isTold(_ mailbox: BoundedMailbox<Bool>, within seconds: Int) -> Bool {
        switch mailbox.receive(within: .seconds(seconds)) {
        case .element: true
        case .nothingYet, .closed: false
        }
    }

    /// Ends workers and coordinator.
    func end() throws {
        loop.end()
        try loop.join()
        try coordinator.closeInput()
        if let odd = results.figures.withLock({ $0.odd.first }) {
            throw BenchError("a worker received \(odd)")
        }
    }

    /// When each attempt was ordered, in microseconds of `Instants`, and how many were accepted:
    /// what the ledger says.
    func ledger() throws -> (begun: [String: Int64], accepted: Int) {
        var configuration = Configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(
            path: state + "/ledger.sqlite", configuration: configuration)
        return try queue.read { database in
            var begun: [String: Int64] = [:]
            let rows = try Row.fetchCursor(database, sql: "SELECT id, begun_at FROM attempt")
            while let row = try rows.next() { begun[row[0]] = row[1] }
            let accepted = try Int.fetchOne(
                database, sql: "SELECT count(*) FROM job WHERE accepted IS NOT NULL")
            return (begun, accepted ?? 0)
        }
    }
}

/// Times of many events.
struct Percentiles {
    private let sorted: [Double]

    init(_ values: [Double]) { sorted = values.sorted() }

    subscript(_ share: Double) -> Double {
        guard !sorted.isEmpty else { return 0 }
        return sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
    }

    var highest: Double { sorted.last ?? 0 }
    var count: Int { sorted.count }
}
