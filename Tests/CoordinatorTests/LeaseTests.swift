import CLinux
import ClusterCore
import ClusterProtocol
import ClusterVocabulary
@testable import Coordinator
import CoreDataStore
import DurableFiles
import Foundation
import Glibc
import Jobs
import MigrationPlans
import RunLedger
@testable import RunService
import StateFolders
import StoreRuns
import Testing
import ZeroMQ

/// Real workers that stand still for longer than their lease.
@Suite(.serialized) struct LeaseTests {
    private static func coordinator(
        _ sharing: SharingLab
    ) throws -> (RunningCoordinator, endpoint: String) {
        let endpoint = "ipc://\(sharing.folder)/c"
        var settings = CoordinatorLab.settings(1)
        settings.heartbeat = 500
        settings.livenessBeats = 4
        settings.lease = 3000
        let plan = CoordinatorLab.plan(sharing, endpoint: endpoint, settings: settings)
        let coordinator = try RunningCoordinator(
            plan, context: CoordinatorLab.context(),
            dependencies: CoordinatorDependencies(
                clock: { clinux_monotonic_nanoseconds() / 1_000_000 }, note: { _ in },
                tell: { _ in })
        ) { try StoreTasks(threads: 2, checkers: 2, note: { _ in }, answer: $0) }
        return (coordinator, endpoint)
    }

    /// Workers of one coordinator; those that live are killed at the end.
    private final class Workers {
        let lab: ClusterProcess
        let endpoint: String
        private var started: [Process] = []

        init(_ lab: ClusterProcess, _ endpoint: String) {
            (self.lab, self.endpoint) = (lab, endpoint)
        }

        deinit {
            for worker in started where worker.isRunning {
                kill(worker.processIdentifier, SIGKILL)
                worker.waitUntilExit()
            }
        }

        func start(_ name: String, faults: String) throws -> Process {
            let worker = try lab.start(
                [
                    "work", "--connect", endpoint, "--slots", "1", "--name", name, "--root",
                    "all=\(lab.folder.path)",
                ], program: ClusterProcess.faulty, faults: faults,
                log: lab.folder.appendingPathComponent("\(name).log"))
            started.append(worker)
            return worker
        }

        /// Waits until a worker and its slot stand still.
        ///
        /// - Returns: the worker's children.
        func slots(ofStopped worker: Process) throws -> [Int32] {
            try ClusterProcess.wait("a worker that stands still") {
                ClusterProcess.state(of: worker.processIdentifier) == "T"
            }
            let slots = try ClusterProcess.children(of: worker.processIdentifier)
            try ClusterProcess.wait("a slot that stands still") {
                slots.contains { ClusterProcess.state(of: $0) == "T" }
            }
            return slots
        }
    }

    @Test(arguments: [Strategy?.none, .partitioned])
    func aLateResultIsDeniedAndChangesNothing(strategy: Strategy?) throws {
        try SharingLab.run { sharing in
            let (coordinator, endpoint) = try Self.coordinator(sharing)
            let lab = ClusterProcess(folder: URL(fileURLWithPath: sharing.folder.description))
            let workers = Workers(lab, endpoint)
            let outcome = Result { try outlast(coordinator, workers, sharing, strategy) }
            coordinator.terminate()
            try coordinator.join()
            try outcome.get()
            // The woken worker tidies up behind itself.
            try ClusterProcess.wait("folders that are gone") { try sharing.strays().isEmpty }
        }
    }

    private func outlast(
        _ coordinator: RunningCoordinator, _ workers: Workers, _ sharing: SharingLab,
        _ strategy: Strategy?
    ) throws {
        let (first, second) = (
            try sharing.forge("a.sqlite", notes: 120), try sharing.forge("b.sqlite", seed: 2)
        )
        let results = try [first, second].map { try sharing.ownResult(of: $0, strategy: strategy) }
        // It stops at the first job that it gets, and so does its slot.
        let sleeper = try workers.start("w1", faults: "stop:1:*:1")
        let run = try coordinator.begin(
            sharing.request([first], strategy: strategy), over: sharing.found([first]),
            waitsForRoom: true
        ).id
        let slots = try workers.slots(ofStopped: sleeper)
        // Another one does its job once the lease has ended.
        let other = try workers.start("w2", faults: "")
        try ClusterProcess.wait("the end without it") {
            try sharing.ledger.run(run)?.state == .ended
        }
        #expect(try SharingLab.bytes(of: first) == results[0])
        try expectLate(run, sharing)

        // It wakes up, delivers what is not wanted, and is all that is left for the next run.
        other.terminate()
        other.waitUntilExit()
        for slot in slots { kill(slot, SIGCONT) }
        kill(sleeper.processIdentifier, SIGCONT)
        // As store 2: it would stop at another store 1.
        let found = Array(try sharing.found([first, second]).suffix(1))
        let next = try coordinator.begin(
            sharing.request([second], strategy: strategy), over: found, waitsForRoom: true
        ).id
        try ClusterProcess.wait("the end of the next run") {
            try sharing.ledger.run(next)?.state == .ended
        }
        #expect(try sharing.ledger.storeCounts(of: next) == [.done: 1])
        #expect(try SharingLab.bytes(of: second) == results[1])
        #expect(try SharingLab.bytes(of: first) == results[0])
        try expectLate(run, sharing)
    }

    /// One store is done, by attempts of which one lost its lease and another one was accepted.
    private func expectLate(_ run: String, _ sharing: SharingLab) throws {
        #expect(try sharing.ledger.storeCounts(of: run) == [.done: 1])
        #expect(try sharing.ledger.attemptsAfterAcceptance(run: run) == 0)
        let attempts = try sharing.ledger.attempts(run: run, store: 1)
        let late = try #require(
            attempts.first { attempt in
                if case .failed(let reason) = attempt.outcome {
                    reason.cause == .leaseExpired
                } else {
                    false
                }
            })
        #expect(attempts.filter { $0.work == late.work && $0.outcome == .accepted }.count == 1)
    }
}
