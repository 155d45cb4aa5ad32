import CLinux
import ClusterProtocol
import ClusterVocabulary
import DurableFiles
import Foundation
import Jobs
import MigrationPlans
import Synchronization
import TestSupport
import Testing
import Threads
@testable import Worker
import WorkerRules
import ZeroMQ

/// A worker in this process with real slots and an endpoint of its own.
final class LoopLab {
    let endpoint: String
    let plan: WorkerPlan
    let worker: RunningWorker
    private let notes: BoundedMailbox<WorkerNote>
    /// Closed when the worker says that it has ended.
    let ended = BoundedMailbox<Bool>(capacity: 1)

    static let clock: @Sendable () -> Int64 = { clinux_monotonic_nanoseconds() / 1_000_000 }

    /// Impatient about connections, patient about everything else.
    static func settings(grace: Int64) -> WorkerSettings {
        var settings = WorkerSettings(
            worker: "w1", protocols: .current, engine: MigrationPlan.engineVersion, sqlite: "3",
            slots: 1, jitterSeed: 1)
        settings.reconnect = Backoff(first: 1, longest: 4)
        settings.welcomeWait = 60_000
        settings.progressEvery = 1
        settings.repeatEvery = 600_000
        settings.grace = grace
        return settings
    }

    init(
        in folder: URL, _ slots: SlotPlan, endpoint: String? = nil, grace: Int64 = 600_000,
        parent: Int64? = nil, scratch: FilePath? = nil, scratchLimit: Int64 = .max
    ) throws {
        let endpoint = endpoint ?? "ipc://\(folder.path)/c"
        var plan = WorkerPlan(
            endpoint: endpoint, security: .none, settings: Self.settings(grace: grace),
            slots: slots)
        plan.parent = parent
        plan.scratch = scratch
        plan.scratchLimit = scratchLimit
        plan.scratchLookMilliseconds = 5
        let notes = BoundedMailbox<WorkerNote>(capacity: 10_000)
        let count = CountedIDs()
        let ended = ended
        self.endpoint = endpoint
        self.plan = plan
        self.notes = notes
        worker = try RunningWorker(
            plan, context: try ScriptedCoordinator.context.get(),
            dependencies: WorkerDependencies(
                clock: Self.clock, routingID: { count.next() },
                note: { _ = notes.sendIfRoom($0) }, ended: { ended.close() }))
    }

    /// Runs a body with a worker of some slots and the coordinator it connects to.
    static func with(
        slots: Int = 1, grace: Int64 = 600_000,
        _ body: (LoopLab, ScriptedCoordinator) throws -> Void
    ) throws {
        try withTemporaryFolder { url in
            let folder = try #require(FilePath(url))
            let lab = try LoopLab(
                in: url, PoolLab.plan(slots, silence: 600_000, roots: ["run": folder]),
                grace: grace)
            try body(lab, ScriptedCoordinator(lab.endpoint))
        }
    }

    /// Waits for a note that gives a value; those before it are passed over.
    func note<Value>(_ what: String, _ value: (WorkerNote) -> Value?) throws -> Value {
        let found = try awaited {
            guard case .element(let note) = notes.receive(within: .seconds(60)) else {
                throw Missing(description: what)
            }
            return value(note)
        }
        guard let found else { throw Missing(description: what) }
        return found
    }

    func unreadable() throws -> String {
        try note("a message that cannot be read") { note in
            if case .unreadable(let text) = note { text } else { nil }
        }
    }

    /// The process of a slot.
    func process(of slot: Int) throws -> Int64 { try #require(try processIfAny(of: slot)) }

    /// The process of a slot; nil for one that has not started.
    func processIfAny(of slot: Int) throws -> Int64? {
        let ids = BoundedMailbox<Int64?>(capacity: 1)
        worker.loop.submit { ids.send($0.pool.processID(of: slot)) }
        return try #require(ids.receive())
    }

    /// An order that misbehaves as asked, or does nothing.
    static func order(_ fault: String, _ attempt: String) -> JobOrder {
        let file = FileReference(root: "run", path: "plan.json")
        let job = Job(
            run: fault, store: 1, work: .copy(chunk: 1), plan: file,
            planDigest: String(repeating: "0", count: 64), source: file, sourceSupport: nil,
            destination: nil, sourceFingerprint: "state", engine: "1", limits: .local)
        return JobOrder(
            job: job,
            attempt: Attempt(
                id: attempt, epoch: 1,
                folder: FileReference(root: "run", path: "attempts/\(attempt)")),
            leaseMilliseconds: 60_000)
    }
}

/// Routing ids, each another.
final class CountedIDs: Sendable {
    private let count = Mutex(0)

    func next() -> String {
        count.withLock { count in
            count += 1
            return "connection-\(count)"
        }
    }
}
