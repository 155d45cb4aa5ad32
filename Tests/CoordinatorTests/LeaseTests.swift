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
import Testing
import ZeroMQ

@testable import Coordinator
@testable import LocalRun

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
        let plan = CoordinatorPlan(
            endpoint: endpoint, security: .plainServer(domain: "tests"),
            access: AccessPolicy(plain: .fromThisMachine(as: "local")),
            peer: { $0 == "local" ? .local : nil }, settings: settings,
            runs: sharing.surroundings)
        let coordinator = try RunningCoordinator(
            plan, context: CoordinatorLab.context(),
            surroundings: CoordinatorSurroundings(
                clock: { clinux_monotonic_nanoseconds() / 1_000_000 }, note: { _ in })
        ) { try StoreTasks(threads: 2, note: { _ in }, answer: $0) }
        return (coordinator, endpoint)
    }

    @Test(arguments: [Strategy?.none, .partitioned])
    func aLateResultIsDeniedAndChangesNothing(strategy: Strategy?) throws {
        try SharingLab.run { sharing in
            let (first, second) = (
                try sharing.forge("a.sqlite", notes: 120), try sharing.forge("b.sqlite", seed: 2)
            )
            let results = try [first, second].map {
                try sharing.ownResult(of: $0, strategy: strategy)
            }
            let (coordinator, endpoint) = try Self.coordinator(sharing)
            let lab = ClusterProcess(folder: URL(fileURLWithPath: sharing.folder.description))
            var workers: [Process] = []
            defer {
                for worker in workers where worker.isRunning {
                    kill(worker.processIdentifier, SIGKILL)
                    worker.waitUntilExit()
                }
            }
            func work(_ name: String, _ faults: String) throws -> Process {
                let worker = try lab.start(
                    [
                        "work", "--connect", endpoint, "--slots", "1", "--name", name, "--root",
                        "all=\(sharing.folder)",
                    ], program: ClusterProcess.faulty, faults: faults,
                    log: lab.folder.appendingPathComponent("\(name).log"))
                workers.append(worker)
                return worker
            }
            func migrate() throws {
                // It stops at the first job that it gets, and so does its slot.
                let sleeper = try work("w1", "stop:1:*:1")
                let run = try coordinator.begin(
                    sharing.request([first], strategy: strategy), over: sharing.found([first]),
                    waitsForRoom: true)
                try ClusterProcess.wait("a worker that stands still") {
                    ClusterProcess.state(of: sleeper.processIdentifier) == "T"
                }
                let slots = try ClusterProcess.children(of: sleeper.processIdentifier)
                try ClusterProcess.wait("a slot that stands still") {
                    slots.contains { ClusterProcess.state(of: $0) == "T" }
                }
                // Another one does its job once the lease has ended.
                let other = try work("w2", "")
                try ClusterProcess.wait("the end without it") {
                    try sharing.ledger.run(run)?.state == .ended
                }
                #expect(try SharingLab.comparable(first) == results[0])
                try expectLate(run, sharing)

                // It wakes up, delivers what nobody wants, and is all that is left for the next run.
                other.terminate()
                other.waitUntilExit()
                for slot in slots { kill(slot, SIGCONT) }
                kill(sleeper.processIdentifier, SIGCONT)
                // As store 2: it would stop at another store 1.
                let next = try coordinator.begin(
                    sharing.request([second], strategy: strategy),
                    over: Array(sharing.found([first, second]).suffix(1)), waitsForRoom: true)
                try ClusterProcess.wait("the end of the next run") {
                    try sharing.ledger.run(next)?.state == .ended
                }
                #expect(try sharing.ledger.storeCounts(of: next) == [.done: 1])
                #expect(try SharingLab.comparable(second) == results[1])
                #expect(try SharingLab.comparable(first) == results[0])
                try expectLate(run, sharing)
            }
            let outcome = Result { try migrate() }
            coordinator.terminate()
            try coordinator.join()
            try outcome.get()
            // The woken worker tidies up behind itself.
            try ClusterProcess.wait("folders that are gone") { try sharing.strays().isEmpty }
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
        #expect(attempts.filter { $0.work == late.work && $0.outcome == .accepted }.count == 1)
    }
}
