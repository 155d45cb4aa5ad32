import CLinux
import ClusterCore
import ClusterProtocol
import CoreDataStore
import DurableFiles
import Foundation
import Glibc
import Jobs
import MigrationEngine
import RunLedger
import Synchronization
import Testing
import Threads
import ZeroMQ

@testable import Coordinator
@testable import LocalRun

/// Real workers that stand still for longer than their lease.
@Suite(.serialized) struct LeaseTests {
    /// Real tasks, of which some wait until they may begin.
    private final class HeldTasks: TaskRunner {
        private let inner: StoreTasks
        private let state = Mutex<State>(State())

        private struct State {
            var holds = true
            var held: [(CoordinatorTask, TaskStore)] = []
        }

        init(_ inner: StoreTasks) { self.inner = inner }

        func begin(_ task: CoordinatorTask, of store: TaskStore) {
            // A store comes to no end before that.
            let isHeld = state.withLock { state in
                switch task.kind {
                case .index, .swap:
                    guard state.holds else { return false }
                    state.held.append((task, store))
                    return true
                case .prepare, .admit, .step, .validate, .keep: return false
                }
            }
            if !isHeld { inner.begin(task, of: store) }
        }

        /// Lets everything go.
        func letGo() {
            let held = state.withLock { state in
                state.holds = false
                defer { state.held = [] }
                return state.held
            }
            for (task, store) in held { inner.begin(task, of: store) }
        }

        func release(_ key: StoreKey, _ store: TaskStore, discards: Bool) {
            inner.release(key, store, discards: discards)
        }

        func end() { inner.end() }
    }

    private func coordinator(
        _ sharing: SharingLab, _ ahead: Passed, _ events: BoundedMailbox<WatchEvent>
    ) throws -> (RunningCoordinator, HeldTasks, String) {
        let endpoint = "ipc://\(sharing.folder)/c"
        var settings = CoordinatorLab.settings(1)
        settings.sharing.tasks = 64
        settings.lease = 10_000_000
        let plan = CoordinatorPlan(
            endpoint: endpoint, security: .plainServer(domain: "tests"),
            access: AccessPolicy(plain: .fromThisMachine(as: "local")),
            peer: { $0 == "local" ? .local : nil }, settings: settings,
            runs: sharing.surroundings)
        let made = Mutex<HeldTasks?>(nil)
        let coordinator = try RunningCoordinator(
            plan, context: CoordinatorLab.context(),
            surroundings: CoordinatorSurroundings(
                clock: { clinux_monotonic_nanoseconds() / 1_000_000 + ahead.milliseconds },
                note: { _ in }, watch: { _ = events.sendIfRoom($0) })
        ) { answer in
            let tasks = HeldTasks(
                try StoreTasks(threads: 2, note: { _ in }, answer: answer))
            made.withLock { $0 = tasks }
            return tasks
        }
        return (coordinator, try #require(made.withLock { $0 }), endpoint)
    }

    private func note(
        _ kind: String, in events: BoundedMailbox<WatchEvent>
    ) throws -> WatchNote {
        while case .element(let event) = events.receive(within: .seconds(60)) {
            if case .note(let note) = event, note.kind == kind { return note }
        }
        throw Missing(description: "a note of \(kind)")
    }

    @Test(arguments: [Strategy?.none, .partitioned])
    func aLateResultIsDeniedAndChangesNothing(strategy: Strategy?) throws {
        try SharingLab.run { sharing in
            let store = try sharing.forge("a.sqlite", notes: 120)
            let own = try sharing.ownResult(of: store, strategy: strategy)
            let (ahead, events) = (Passed(), BoundedMailbox<WatchEvent>(capacity: 100_000))
            let (coordinator, tasks, endpoint) = try coordinator(sharing, ahead, events)
            let lab = ClusterProcess(folder: URL(fileURLWithPath: sharing.folder.description))
            func work(_ name: String, _ faults: String) throws -> Process {
                try lab.start(
                    [
                        "work", "--connect", endpoint, "--slots", "1", "--name", name, "--root",
                        "all=\(sharing.folder)",
                    ], program: ClusterProcess.faulty, faults: faults,
                    log: lab.folder.appendingPathComponent("\(name).log"))
            }
            var workers: [Process] = []
            defer {
                for worker in workers where worker.isRunning {
                    kill(worker.processIdentifier, SIGKILL)
                    worker.waitUntilExit()
                }
                coordinator.terminate()
            }
            // It stops at the first job that it gets, and so does its slot.
            let sleeper = try work("w1", "stop:*:*:*")
            workers.append(sleeper)
            let run = try coordinator.begin(
                sharing.request([store], strategy: strategy), over: sharing.found([store]),
                waitsForRoom: true)
            try ClusterProcess.wait("a worker that stands still") {
                ClusterProcess.state(of: sleeper.processIdentifier) == "T"
            }
            let slots = try ClusterProcess.children(of: sleeper.processIdentifier)
            try ClusterProcess.wait("a slot that stands still") {
                slots.contains { ClusterProcess.state(of: $0) == "T" }
            }
            ahead.add(20_000_000)
            coordinator.setAccess(AccessPolicy(plain: .fromThisMachine(as: "local")))
            let expired = try note("lease-expired", in: events)
            #expect(expired.text.contains("w1"))

            // Another one does its job, before it wakes.
            let other = try work("w2", "")
            workers.append(other)
            _ = try note("job-accepted", in: events)
            if strategy != nil {
                try ClusterProcess.wait("all jobs") {
                    let counts = try sharing.ledger.attemptCounts(run: run)
                    return counts.jobs > 3 && counts.accepted == counts.jobs
                }
            }
            for slot in slots { kill(slot, SIGCONT) }
            kill(sleeper.processIdentifier, SIGCONT)
            // It delivers, or is told first that nobody wants it; nothing of it counts.
            try ClusterProcess.wait("a worker that goes on") {
                ClusterProcess.state(of: sleeper.processIdentifier) != "T"
            }
            tasks.letGo()
            while case .element(let event) = events.receive(within: .seconds(60)) {
                if case .ended(run, let failures) = event {
                    #expect(failures == 0)
                    break
                }
            }
            try expectLate(run, sharing)
            #expect(try SharingLab.comparable(store) == own)
            coordinator.terminate()
            try coordinator.join()
        }
    }

    /// One store is done, by attempts of which one lost its lease and another one was accepted.
    private func expectLate(_ run: String, _ sharing: SharingLab) throws {
        #expect(try sharing.ledger.storeCounts(of: run) == [.done: 1])
        #expect(try sharing.ledger.attemptsAfterAcceptance(run: run) == 0)
        let attempts = try sharing.ledger.attempts(run: run, store: 1)
        let late = try #require(
            attempts.first { attempt in
                if case .failed(let reason) = attempt.outcome {
                    reason.code == .leaseExpired
                } else {
                    false
                }
            })
        #expect(attempts.contains { $0.work == late.work && $0.outcome == .accepted })
    }
}
