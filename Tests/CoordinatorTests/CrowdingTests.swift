import ClusterCore
import ClusterProtocol
@testable import Coordinator
import DurableFiles
import Glibc
import Jobs
import RunLedger
@testable import RunService
import RunSupervision
import Testing
import Threads

/// Nothing that was accepted is lost where too much is asked for, or the ledger cannot be read.
@Suite struct CrowdingTests {
    @Test func whatWasAcceptedIsDoneAndMoreIsRefused() throws {
        try CoordinatorLab.run(change: { $0.queueCapacity = 64 }) { lab in
            let run = try lab.begin([
                lab.sharing.forge("a.sqlite"), lab.sharing.forge("b.sqlite"),
            ])
            let worker = try lab.worker("w1")
            let order = try #require(try worker.orders().first)
            try worker.say(
                .failed(
                    AttemptFailure(
                        attempt: order.attempt.id, cause: .damaged, text: "damaged",
                        slotEnded: false)))
            let client = try lab.peer("client")
            try client.wait(for: run) { $0.stores[.failed] == 1 }
            try client.ask(.watch(run: run))
            let queue = try lab.fill { $0.begin }
            try client.ask(.replay(run: run, store: nil))
            #expect(try client.accepted() == run)
            try client.ask(.replay(run: run, store: nil))
            #expect(try client.refusal().text.contains("too many requests"))
            try client.ask(.swap(run: run, store: nil))
            #expect(try client.refusal().text.contains("too many requests"))
            #expect(try lab.states(run)[.failed] == 1)
            queue.empty()
            // Also the run's end, for which there was no place, is told.
            try worker.work(2)
            #expect(try client.end(of: run) == 0)
            #expect(try lab.states(run) == [.done: 2])
        }
    }

    @Test func aReplayWaitsForRoomInTheLedger() throws {
        try CoordinatorLab.run { lab in
            try lab.stop()
            let run = try lab.sharing.begin([lab.sharing.forge("a.sqlite")]).id
            try lab.sharing.fail([1], of: run)
            try lab.start()
            let client = try lab.peer("client")
            lab.sharing.disk.fail(.commitLedger, .before, ENOSPC)
            try client.ask(.replay(run: run, store: nil))
            #expect(try client.accepted() == run)
            try lab.noted("an unreadable ledger") {
                if case .ledgerUnreadable = $0 { true } else { false }
            }
            // The next try is fixed in the same turn as the note.
            try lab.onLoop { _ in }
            lab.sharing.disk.fail(nil)
            lab.wait(CoordinatorLoop.retryInterval)
            // Also a client that asks for its end before it is done.
            try client.ask(.watch(run: run))
            try lab.worker("w1").work(1)
            #expect(try client.end(of: run) == 0)
        }
    }

    @Test func aRunThatCannotBeReadRestsBeforeTheNextTry() throws {
        try CoordinatorLab.run { lab in
            let run = try lab.begin([lab.sharing.forge("a.sqlite")])
            let client = try lab.peer("client")
            try client.wait(for: run) { $0.jobs["waiting"] == 1 }
            let work = RunWork.readSwaps(run: run, numbers: [], reading: 1)
            for _ in 0..<3 {
                let failure = WorkFailure(isTransient: true, text: "the test says so")
                let outcome = RunWorks.Outcome(
                    answer: .failed(work, failure), reading: .failed(failure.text))
                try lab.onLoop { $0.take(outcome) }
            }
            #expect(try client.status(run).runs.first?.waitingFor == .ledgerUnreadable)
            #expect(
                try lab.notesSoFar().count {
                    if case .ledgerUnreadable = $0 { true } else { false }
                } == 1)
            lab.wait(RunSupervisor.retryInterval)
            var rests = true
            let end = ContinuousClock.now.advanced(by: .seconds(60))
            while rests, ContinuousClock.now < end {
                rests = try lab.onLoop { $0.supervisor.waitingReason(of: run) != nil }
            }
            #expect(!rests)
            try lab.onLoop { $0.noteReading() }
            try lab.noted(.ledgerReadable)
        }
    }

    @Test func aWorkersResultIsNotThrownAwayBecauseNobodyHasTimeToLook() throws {
        try CoordinatorLab.run(change: { $0.queueCapacity = 64 }) { lab in
            let run = try lab.begin([lab.sharing.forge("a.sqlite")])
            let order = try #require(try lab.worker("w1").orders().first)
            let client = try lab.peer("client")
            // A paused run reads no stores by itself.
            try client.ask(.pause(run: run))
            try client.done()
            try lab.restart()
            _ = try lab.peer("client").status(run)
            let queue = try lab.fill { $0.read }
            let worker = try lab.peer("w1")
            try worker.hello(held: [
                HeldAttempt(
                    run: order.job.run, store: order.job.store, work: order.job.work,
                    attempt: order.attempt.id, epoch: order.attempt.epoch)
            ])
            #expect(try worker.welcome().drop.isEmpty)
            // It was looked for, and there was no place.
            try lab.onLoop { _ in }
            // The queue has room again before the next try: the one after it is 2 s away.
            queue.empty()
            lab.wait(CoordinatorLoop.retryInterval)
            try lab.peer("client").wait(for: run) { $0.jobs["running"] == 1 }
            try worker.say(.done(ScriptedPeer.receipt(order)))
            try worker.committed(order.attempt.id)
        }
    }
}
