import ClusterCore
import ClusterProtocol
import ClusterVocabulary
@testable import Coordinator
import DurableFiles
import Glibc
import Jobs
import RunLedger
import TestSupport
import Testing

/// The ledger first, and only then anybody else.
@Suite struct DurabilityTests {
    private func beats(_ plan: inout CoordinatorPlan) {
        plan.settings.heartbeat = 1000
    }

    @Test func nothingLeavesBeforeItIsDurable() throws {
        try CoordinatorLab.run(change: beats) { lab in
            let run = try lab.begin([lab.sharing.forge("a.sqlite")])
            lab.sharing.disk.fail(.commitLedger, .before, ENOSPC)
            let worker = try lab.peer("w1")
            try worker.hello()
            _ = try worker.welcome()
            try worker.say(.ready(freeSlots: 1))
            try lab.notedFullLedger()

            // Heartbeats go on, and nothing else does.
            for _ in 0..<3 {
                lab.wait(1000)
                #expect(try worker.heard("a heartbeat") == .heartbeat)
            }
            #expect(try lab.sharing.ledger.attempts(run: run, store: 1).isEmpty)
            let client = try lab.peer("client")
            let status = try client.status(run)
            #expect(status.runs.first?.waitingFor == .ledgerFull)
            #expect(status.workers.map(\.name) == ["w1"])

            // It goes on by itself.
            lab.sharing.disk.fail(nil)
            lab.wait(CoordinatorLoop.retryInterval)
            let order = try #require(try worker.orders().first)
            #expect(
                try lab.sharing.ledger.attempts(run: run, store: 1).map(\.id)
                    == [order.attempt.id])
            try client.ask(.watch(run: run))
            try worker.say(.done(ScriptedPeer.receipt(order)))
            try worker.committed(order.attempt.id)
            #expect(try client.end(of: run) == 0)
            #expect(try lab.states(run) == [.done: 1])
        }
    }

    @Test func anAcceptanceIsDurableBeforeItIsTold() throws {
        try CoordinatorLab.run(change: beats) { lab in
            let run = try lab.begin([lab.sharing.forge("a.sqlite")])
            let worker = try lab.worker("w1")
            let order = try #require(try worker.orders().first)
            // The fault must meet the acceptance, not the attempt.
            let isKnown: Bool? = try awaited {
                try lab.sharing.ledger.attempts(run: run, store: 1).isEmpty ? nil : true
            }
            #expect(isKnown == true)
            lab.sharing.disk.fail(.commitLedger, .before, ENOSPC)
            try worker.say(.done(ScriptedPeer.receipt(order)))
            try lab.notedFullLedger()
            // The first heartbeat may be older than the delivery.
            for _ in 0..<3 {
                lab.wait(1000)
                #expect(try worker.heard("a heartbeat") == .heartbeat)
            }
            #expect(try lab.sharing.ledger.acceptedReceipts(run: run, store: 1).isEmpty)
            // A copy of the delivery changes nothing.
            try worker.say(.done(ScriptedPeer.receipt(order)))
            lab.sharing.disk.fail(nil)
            lab.wait(CoordinatorLoop.retryInterval)
            try worker.committed(order.attempt.id)
            _ = try lab.tasks.next("the swap") { if case .swap = $0.kind { true } else { false } }
            #expect(try lab.sharing.ledger.acceptedReceipts(run: run, store: 1).count == 1)
            #expect(try lab.sharing.ledger.attemptsAfterAcceptance(run: run) == 0)
        }
    }

    @Test func aLedgerThatCannotBeWrittenEndsTheCoordinator() throws {
        try CoordinatorLab.run { lab in
            let run = try lab.begin([lab.sharing.forge("a.sqlite")])
            let worker = try lab.peer("w1")
            try worker.hello()
            _ = try worker.welcome()
            lab.sharing.disk.fail(.commitLedger, .before, EIO)
            try worker.say(.ready(freeSlots: 1))
            #expect(throws: (any Error).self) { try lab.join() }
            lab.sharing.disk.fail(nil)
            try lab.sharing.reopen()
            try lab.start()
            #expect(try lab.sharing.ledger.attempts(run: run, store: 1).isEmpty)
            let again = try lab.worker("w1")
            try again.work(1)
        }
    }

    @Test func aSecondCoordinatorOnTheLedgerIsRefused() throws {
        try CoordinatorLab.run { lab in
            let error = #expect(throws: LedgerError.self) {
                _ = try Ledger(folder: lab.sharing.state, holder: LockHolder(text: "another"))
            }
            #expect(error?.kind == .locked(holder: "the tests"))
        }
    }
}
