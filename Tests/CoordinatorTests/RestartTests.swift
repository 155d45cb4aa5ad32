import ClusterCore
import ClusterProtocol
import ClusterVocabulary
@testable import Coordinator
import DurableFiles
import Glibc
import Jobs
import RunLedger
@testable import RunService
@testable import StoreRuns
import StateFolders
import Testing

/// What becomes of work when the coordinator starts again.
@Suite struct RestartTests {
    private func held(_ order: JobOrder) -> HeldAttempt {
        HeldAttempt(
            run: order.job.run, store: order.job.store, work: order.job.work,
            attempt: order.attempt.id, epoch: order.attempt.epoch)
    }

    @Test func whatAWorkerHoldsGoesOn() throws {
        try CoordinatorLab.run { lab in
            let run = try lab.begin([lab.sharing.forge("a.sqlite")])
            let first = try lab.worker("w1")
            let order = try #require(try first.orders().first)
            try lab.restart()
            let again = try lab.peer("w1")
            try again.hello(held: [held(order)])
            let welcome = try again.welcome()
            #expect(welcome.keep == [order.attempt.id] && welcome.drop.isEmpty)
            let client = try lab.peer("client")
            try client.wait(for: run) { ($0.jobs["running"] ?? 0) == 1 }
            try client.ask(.watch(run: run))
            try again.say(.done(ScriptedPeer.receipt(order)))
            try again.committed(order.attempt.id)
            #expect(try client.end(of: run) == 0)
            let counts = try lab.sharing.ledger.attemptCounts(run: run)
            #expect(counts.attempts == 1 && counts.afterAcceptance == 0)
        }
    }

    @Test func whatNobodyHoldsIsGivenOutAgainWhenItsLeaseHasEnded() throws {
        try CoordinatorLab.run { lab in
            let run = try lab.begin([lab.sharing.forge("a.sqlite")])
            let first = try lab.worker("w1")
            let order = try #require(try first.orders().first)
            try lab.restart()
            let other = try lab.worker("w2")
            try lab.peer("client").wait(for: run) { ($0.jobs["unclaimed"] ?? 0) == 1 }
            // Its lease gets the full term.
            try other.expectNothing()
            lab.wait(Int64(order.leaseMilliseconds) - 1_000_000)
            try other.expectNothing()
            lab.wait(2_000_000)
            let second = try #require(try other.orders().first)
            #expect(second.attempt.id != order.attempt.id)
            #expect(second.attempt.epoch > order.attempt.epoch)
            #expect(second.attempt.folder != order.attempt.folder)

            // Late, the first one delivers.
            let late = try lab.peer("w1")
            try late.hello(held: [held(order)])
            #expect(try late.welcome().drop == [order.attempt.id])
            try late.say(.done(ScriptedPeer.receipt(order)))
            #expect(try late.denied(order.attempt.id) == .staleEpoch)
            try other.say(.done(ScriptedPeer.receipt(second)))
            try other.committed(second.attempt.id)
            // And once more, when the store may have ended.
            try late.say(.done(ScriptedPeer.receipt(order)))
            let reason = try late.denied(order.attempt.id)
            #expect([.alreadyAccepted, .unknownAttempt, .staleEpoch].contains(reason))
            #expect(try lab.sharing.ledger.attemptsAfterAcceptance(run: run) == 0)
        }
    }

    @Test func attemptsOfWorkersThatEndWithTheirCoordinatorAreNotWaitedFor() throws {
        try CoordinatorLab.run(change: { $0.settings.adoptsOpenAttempts = false }) { lab in
            _ = try lab.begin([lab.sharing.forge("a.sqlite")])
            let first = try lab.worker("w1")
            let order = try #require(try first.orders().first)
            try lab.restart()
            let second = try #require(try lab.worker("w1").orders().first)
            #expect(second.attempt.epoch > order.attempt.epoch)
            #expect(second.attempt.id != order.attempt.id)
        }
    }

    @Test func acceptedJobsAreNotDoneAgain() throws {
        try CoordinatorLab.run { lab in
            let stores = try (1...3).map { try lab.sharing.forge("s\($0).sqlite") }
            lab.tasks.hold { if case .swap = $0.kind { true } else { false } }
            let run = try lab.begin(stores)
            let worker = try lab.worker("w1")
            try worker.work(3)
            #expect(try lab.sharing.ledger.attemptCounts(run: run).accepted == 3)
            try lab.restart()
            // Only their swaps are left, and no worker is needed.
            lab.tasks.answerAll()
            let client = try lab.peer("client")
            try client.ask(.watch(run: run))
            #expect(try client.end(of: run) == 0)
            let counts = try lab.sharing.ledger.attemptCounts(run: run)
            #expect(counts.attempts == 3 && counts.afterAcceptance == 0)
        }
    }

    @Test func aWorkerIsToldOnceMoreWhatWasAccepted() throws {
        try CoordinatorLab.run { lab in
            let run = try lab.begin([lab.sharing.forge("a.sqlite")])
            let worker = try lab.worker("w1")
            let client = try lab.peer("client")
            try client.ask(.watch(run: run))
            let order = try #require(try worker.orders().first)
            try worker.say(.done(ScriptedPeer.receipt(order)))
            try worker.committed(order.attempt.id)
            #expect(try client.end(of: run) == 0)
            // The answer was lost, and so were the coordinator's thoughts.
            try lab.restart()
            let again = try lab.peer("w1")
            try again.hello(held: [held(order)])
            _ = try again.welcome()
            try again.say(.done(ScriptedPeer.receipt(order)))
            // The run is over, and the ledger still knows.
            try again.committed(order.attempt.id)
        }
    }

    @Test func aReplayOpensItsRunWithItsFirstStores() throws {
        try SharingLab.run { lab in
            let run = try lab.begin([lab.forge("a.sqlite"), lab.forge("b.sqlite")])
            try lab.fail([1, 2], of: run.id)
            let runs = ClusterRuns(lab.dependencies)
            var reopened = ClusterRuns.Reopened()
            // Nothing of it is durable, or both.
            lab.disk.fail(.commitLedger, .before, ENOSPC)
            #expect(throws: RunError.self) { try runs.reopen(run.id, store: nil, &reopened) }
            lab.disk.fail(nil)
            #expect(reopened.stores == 0 && !reopened.opensRun)
            #expect(try lab.ledger.run(run.id)?.state == .ended)
            #expect(try lab.ledger.storeCounts(of: run.id) == [.failed: 2])
            try runs.reopen(run.id, store: 2, &reopened)
            #expect(reopened.stores == 1 && reopened.opensRun)
            #expect(try lab.ledger.run(run.id)?.state == .open)
            try runs.reopen(run.id, store: nil, &reopened)
            #expect(reopened.stores == 2)
            #expect(try lab.ledger.storeCounts(of: run.id) == [.waiting: 2])
            try lab.ledger.append([.runChanged(run: run.id, .cancelled, .cancelled, at: 1)])
            #expect(throws: RunError.self) { try runs.reopen(run.id, store: nil, &reopened) }
        }
    }

    @Test func storesThatWaitInARunThatHasEndedAreTakenUp() throws {
        try CoordinatorLab.run { lab in
            let stores = try (1...2).map { try lab.sharing.forge("s\($0).sqlite") }
            try lab.stop()
            let run = try lab.sharing.begin(stores).id
            try lab.sharing.fail([1, 2], of: run)
            // As a replay left it that was killed between its stores and its run.
            try lab.sharing.ledger.append([
                .storeChanged(run: run, store: 2, .waiting, reason: nil, at: 1)
            ])
            try lab.sharing.reopen()
            try lab.start()
            try lab.told(.run(run, .reopened(stores: 1)))
            let client = try lab.peer("client")
            try client.ask(.watch(run: run))
            try lab.worker("w1").work(1)
            #expect(try client.end(of: run) == 1)
            #expect(try lab.states(run) == [.done: 1, .failed: 1])
            #expect(try lab.sharing.ledger.run(run)?.state == .ended)
        }
    }

    @Test(arguments: [true, false])
    func whatACancelledRunLeftIsGivenUpAtTheNextStart(resumes: Bool) throws {
        try CoordinatorLab.run(change: { $0.resumesRuns = resumes }) { lab in
            let stores = try (1...4).map { try lab.sharing.forge("s\($0).sqlite") }
            try lab.stop()
            let run = try lab.sharing.begin(stores, defersSwap: true)
            var records: [LedgerRecord] = []
            for (store, states) in [
                (1, [StoreState.running]), (2, [.running, .validated]),
                (3, [.running, .failed, .waiting]),
            ] {
                for state in states {
                    let reason =
                        state == .failed ? FailureReason(.inputOutput, "t") : nil
                    records.append(
                        .storeChanged(
                            run: run.id, store: store, state, reason: reason, at: 1))
                }
                records.append(
                    .attemptBegan(
                        run: run.id, store: store, work: .whole, attempt: "a\(store)", epoch: 1,
                        at: 1))
                let folder = try lab.sharing.attempts(of: store, in: run)
                try lab.sharing.files.makeFolders(folder)
                try lab.sharing.files.publish([1], to: folder.appending("store.sqlite"))
            }
            try lab.sharing.ledger.append(
                records + [.runChanged(run: run.id, .cancelled, .cancelled, at: 1)])
            #expect(try lab.sharing.strays().count == 3)
            let folder = lab.sharing.state.appending("runs").appending(FilePath(run.id))
            let request = folder.appending("request.json")
            try lab.sharing.files.makeFolders(folder)
            try lab.sharing.files.publish([1], to: request)
            try lab.sharing.reopen()
            try lab.start()
            // Its last work item, as they are done one after the other.
            _ = try lab.onQueue()
            #expect(try lab.states(run.id) == [.cancelled: 4])
            #expect(try lab.sharing.strays().isEmpty)
            #expect(try FileStatus.ifPresent(request) == nil)
        }
    }

    @Test func theRequestOfAnEndedRunIsRemovedWhoeverWroteIt() throws {
        try CoordinatorLab.run { lab in
            let run = try lab.begin([lab.sharing.forge("a.sqlite")])
            let folder = lab.sharing.state.appending("runs").appending(FilePath(run))
            let request = folder.appending("request.json")
            let order = try #require(try lab.worker("w1").orders().first)
            #expect(try FileStatus.ifPresent(request) != nil)
            try lab.restart()
            // This process has not written it.
            let worker = try lab.peer("w1")
            try worker.hello(held: [held(order)])
            _ = try worker.welcome()
            let client = try lab.peer("client")
            try client.wait(for: run) { $0.jobs["running"] == 1 }
            try client.ask(.watch(run: run))
            try worker.say(.done(ScriptedPeer.receipt(order)))
            #expect(try client.end(of: run) == 0)
            #expect(try FileStatus.ifPresent(request) == nil)
            // Killed between the run's end and that.
            try lab.stop()
            try lab.sharing.files.publish([1], to: request)
            try lab.sharing.reopen()
            try lab.start()
            try lab.onQueue()
            #expect(try FileStatus.ifPresent(request) == nil)
        }
    }

    @Test func aPausedRunStaysPaused() throws {
        try CoordinatorLab.run { lab in
            let run = try lab.begin([lab.sharing.forge("a.sqlite")])
            let client = try lab.peer("client")
            try client.ask(.pause(run: run))
            try client.done()
            try lab.restart()
            let worker = try lab.worker("w1")
            let again = try lab.peer("client")
            #expect(try again.status(run).runs.first?.state == .paused)
            try worker.expectNothing()
            try again.ask(.resume(run: run))
            try again.done()
            try worker.say(.ready(freeSlots: 1))
            try worker.work(1)
        }
    }
}
