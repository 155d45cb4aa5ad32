import ClusterCore
import ClusterProtocol
import ClusterVocabulary
@testable import Coordinator
import DurableFiles
import Glibc
import Jobs
import RunLedger
import RunSupervision
@testable import StoreRuns
import StateFolders
import Synchronization
import Testing

/// What clients ask for.
@Suite struct RequestTests {
    @Test func pausedRunsGiveNothingOut() throws {
        try CoordinatorLab.run { lab in
            let run = try lab.begin([lab.sharing.forge("a.sqlite")])
            let client = try lab.peer("client")
            try client.ask(.pause(run: run))
            try client.done()
            #expect(try lab.sharing.ledger.run(run)?.state == .paused)
            let worker = try lab.worker("w1")
            try worker.expectNothing()
            let status = try client.status(run)
            #expect(status.runs.first?.waitingFor == .paused(.request))
            try client.ask(.resume(run: run))
            try client.done()
            #expect(try lab.sharing.ledger.run(run)?.state == .open)
            try worker.say(.ready(freeSlots: 1))
            try worker.work(1)
        }
    }

    @Test func cancelledRunsAreOver() throws {
        try CoordinatorLab.run { lab in
            let stores = try (1...3).map { try lab.sharing.forge("s\($0).sqlite") }
            let run = try lab.begin(stores)
            let worker = try lab.worker("w1")
            let orders = try worker.orders()
            let client = try lab.peer("client")
            try client.ask(.watch(run: run))
            try client.ask(.cancel(run: run))
            #expect(try client.end(of: run) == 3)
            #expect(try lab.states(run) == [.cancelled: 3])
            #expect(try lab.sharing.ledger.run(run)?.state == .cancelled)
            try worker.next("a revocation") { message -> Bool? in
                if case .revoke = message { true } else { nil }
            }
            try worker.say(.done(ScriptedPeer.receipt(try #require(orders.first))))
            _ = try worker.denied(try #require(orders.first).attempt.id)
            try client.ask(.resume(run: run))
            #expect(try client.refusal().code == .notPossible)
            try client.ask(.replay(run: run, store: nil))
            #expect(try client.refusal().code == .notPossible)
            // Its stores are free for another run.
            #expect(try lab.begin(stores) != run)
        }
    }

    @Test func drainedWorkersGetNothingNew() throws {
        try CoordinatorLab.run { lab in
            let worker = try lab.worker("w1")
            let client = try lab.peer("client")
            try client.ask(.drain(worker: "w1"))
            try client.done()
            #expect(try worker.heard("a drain") == .drain)
            _ = try lab.begin([lab.sharing.forge("a.sqlite")])
            let other = try lab.worker("w2")
            try other.work(1)
            try worker.expectNothing { $0 == .drain }
            try client.ask(.drain(worker: "unknown"))
            #expect(try client.refusal().code == .notFound)
        }
    }

    @Test func throttledJobsComeOneByOne() throws {
        try CoordinatorLab.run { lab in
            let client = try lab.peer("client")
            try client.ask(.throttle(ThrottleSettings(run: nil, bytesPerSecond: nil, jobs: 1)))
            try client.done()
            _ = try lab.begin([lab.sharing.forge("a.sqlite"), lab.sharing.forge("b.sqlite")])
            let worker = try lab.worker("w1", slots: 2)
            let first = try worker.orders()
            #expect(first.count == 1)
            try worker.say(.ready(freeSlots: 1))
            try worker.expectNothing()
            try worker.say(.done(ScriptedPeer.receipt(first[0])))
            try worker.committed(first[0].attempt.id)
            try worker.say(.ready(freeSlots: 2))
            try worker.work(1)
        }
    }

    @Test func replaysDoWhatFailedAndNothingElse() throws {
        try CoordinatorLab.run { lab in
            let stores = try (1...3).map { try lab.sharing.forge("s\($0).sqlite") }
            let run = try lab.begin(stores)
            let client = try lab.peer("client")
            try client.ask(.watch(run: run))
            let worker = try lab.worker("w1")
            var left = 3
            while left > 0 {
                for order in try worker.orders() {
                    left -= 1
                    if order.job.store == 2 {
                        try worker.say(
                            .failed(
                                AttemptFailure(
                                    attempt: order.attempt.id, cause: .damaged,
                                    text: "page 3 is damaged", slotEnded: false)))
                    } else {
                        try worker.say(.done(ScriptedPeer.receipt(order)))
                    }
                }
            }
            #expect(try client.failure().cause == FailureReason(.damaged, "page 3 is damaged"))
            #expect(try client.end(of: run) == 1)
            #expect(try lab.states(run) == [.done: 2, .failed: 1])
            let failed = try lab.sharing.ledger.store(run: run, 2)
            #expect(failed?.reason == FailureReason(.damaged, "page 3 is damaged"))

            for start in 0..<2 {
                // Also by a coordinator that has never heard of the run.
                if start == 1 { try lab.restart() }
                let asker = try lab.peer("asker")
                // Before there is a job, which the former process would get and lose.
                let again = try lab.worker("w1")
                try asker.ask(.replay(run: run, store: nil))
                #expect(try asker.accepted() == run)
                let order = try #require(try again.orders().first)
                #expect(order.job.store == 2)
                try asker.ask(.watch(run: run))
                let isLast = start == 1
                if isLast {
                    try again.say(.done(ScriptedPeer.receipt(order)))
                } else {
                    try again.say(
                        .failed(
                            AttemptFailure(
                                attempt: order.attempt.id, cause: .damaged, text: "still so",
                                slotEnded: false)))
                }
                #expect(try asker.end(of: run) == (isLast ? 0 : 1))
            }
            #expect(try lab.states(run) == [.done: 3])
            let counts = try lab.sharing.ledger.attemptCounts(run: run)
            #expect(counts.attempts == 5)
            #expect(counts.afterAcceptance == 0)
        }
    }

    @Test func swapsThatWerePutOffWaitForTheirRequest() throws {
        try CoordinatorLab.run { lab in
            let (run, _, client) = try lab.finished(stores: 2, defersSwap: true)
            #expect(try lab.states(run) == [.validated: 2])
            try client.ask(.swap(run: run, store: 2))
            #expect(try client.accepted() == run)
            #expect(try client.end(of: run) == 0)
            #expect(try lab.states(run) == [.validated: 1, .done: 1])
            try lab.restart()
            let again = try lab.peer("client")
            try again.ask(.watch(run: run))
            try again.ask(.swap(run: run, store: nil))
            #expect(try again.end(of: run) == 0)
            let swap = try lab.tasks.next("the swap") {
                if case .swap = $0.kind { $0.store.number == 1 } else { false }
            }
            #expect(swap.store.number == 1)
        }
    }

    @Test func aSwapThatIsAskedForTwiceLeavesNoRunOpen() throws {
        try CoordinatorLab.run { lab in
            let stores = try (1...2).map { try lab.sharing.forge("s\($0).sqlite") }
            let run = try lab.begin(stores, defersSwap: true)
            let client = try lab.peer("client")
            try client.ask(.watch(run: run))
            try lab.worker("w1").work(2)
            #expect(try client.end(of: run) == 0)
            try client.ask(.swap(run: run, store: 1))
            #expect(try client.end(of: run) == 0)
            // What the second question found was taken by the first one meanwhile.
            let found = RunAnswer.validated(run: run, store: nil, numbers: [1, 2], failed: 0)
            lab.coordinator?.queues.loop.submit { $0.handle(.answered(found)) }
            #expect(try client.end(of: run) == 0)
            #expect(try lab.states(run) == [.done: 2])
            #expect(try lab.sharing.ledger.run(run)?.state == .ended)
        }
    }

    @Test func aSubmittedRunIsTheSameWhenItIsAskedForAgain() throws {
        try CoordinatorLab.run { lab in
            _ = try lab.sharing.forge("a.sqlite")
            let request = try lab.sharing.request([lab.sharing.data])
            let text = try SubmittedRequest(request, output: nil).text()
            func submit(_ path: String, root: String = "all") -> ClientRequest {
                .submit(
                    SubmitRequest(
                        request: text, paths: [FileReference(root: root, path: path)]))
            }
            let client = try lab.peer("client")
            try client.ask(submit("data"))
            let run = try client.accepted()
            try client.ask(submit("data"))
            #expect(try client.accepted() == run)
            for wrong in [submit("data", root: "other"), submit("nowhere")] {
                try client.ask(wrong)
                #expect(try client.refusal().code == .badRequest)
            }
            try client.ask(
                .submit(
                    SubmitRequest(
                        request: "{}", paths: [FileReference(root: "all", path: "data")])))
            #expect(try client.refusal().code == .badRequest)
            try client.ask(.watch(run: run))
            try lab.worker("w1").work(1)
            #expect(try client.end(of: run) == 0)
        }
    }

    @Test func watchersAreToldAtOnceWhatIsOver() throws {
        try CoordinatorLab.run { lab in
            let (run, _, _) = try lab.finished()
            let late = try lab.peer("late")
            try late.ask(.watch(run: run))
            let first: StatusReport = try late.event("a status") { event in
                if case .status(let report) = event { report } else { nil }
            }
            #expect(first.runs.map(\.state) == [.ended])
            #expect(first.runs.first?.stores == [.done: 1])
            #expect(try late.end(of: run) == 0)
            for request in [
                ClientRequest.watch(run: "r99"), .status(run: "r99"), .pause(run: "r99"),
                .swap(run: "r99", store: nil),
            ] {
                try late.ask(request)
                #expect(try late.refusal().code == .noRun, "\(request)")
            }
        }
    }

    @Test func runsThatAreOverLeaveAndTheLedgerAnswersForThem() throws {
        try CoordinatorLab.run { lab in
            let stores = try (1...2).map { try lab.sharing.forge("s\($0).sqlite") }
            let run = try lab.begin(stores, defersSwap: true)
            let other = try lab.begin([lab.sharing.forge("other.sqlite")])
            let client = try lab.peer("client")
            try client.ask(.watch(run: run))
            let worker = try lab.worker("w1")
            try worker.work(3)
            #expect(try client.end(of: run) == 0)
            try lab.untilForgotten([run, other])
            let status = try #require(try client.status(other).runs.first)
            #expect(status.state == .ended && status.stores == [.done: 1] && status.rows == 5)
            try client.ask(.watch(run: other))
            #expect(try client.end(of: other) == 0)
            for request in [
                ClientRequest.replay(run: other, store: nil), .pause(run: other),
                .resume(run: other),
            ] {
                try client.ask(request)
                #expect(try client.refusal().code == .notPossible)
            }
            try lab.untilForgotten([run, other])

            // Its swaps are still to be asked for, one by one, and end each time.
            for (store, left) in [(2, 1), (1, 0)] {
                let asker = try lab.peer("asker")
                try asker.ask(.watch(run: run))
                try asker.ask(.swap(run: run, store: store))
                #expect(try asker.accepted() == run)
                #expect(try asker.end(of: run) == 0)
                #expect(try lab.states(run)[.validated] ?? 0 == left)
                try lab.untilForgotten([run, other])
            }
            #expect(try lab.sharing.ledger.run(run)?.state == .ended)
        }
    }

    @Test func aSwapThatWasInterruptedIsNoFailure() throws {
        try CoordinatorLab.run { lab in
            lab.tasks.outcome.withLock {
                $0 = { task, _ in
                    if case .swap = task.kind {
                        .interrupted(.inputOutput, text: "the disk does not answer")
                    } else {
                        ScriptedTasks.success(task)
                    }
                }
            }
            let run = try lab.begin([lab.sharing.forge("a.sqlite")])
            let client = try lab.peer("client")
            try client.ask(.watch(run: run))
            try lab.worker("w1").work(1)
            let reason = try client.note("that the run stopped") { note in
                if case .run(run, .stopped(let reason)) = note { reason } else { nil }
            }
            #expect(reason.contains("does not answer"))
            // Neither failed nor done: a rollback knows it, and the next try goes on with it.
            #expect(try lab.states(run) == [.running: 1])
            #expect(try lab.sharing.ledger.run(run)?.state == .paused)
            lab.tasks.answerAll()
            try client.ask(.resume(run: run))
            #expect(try client.end(of: run) == 0)
            #expect(try lab.states(run) == [.done: 1])
            #expect(try lab.sharing.ledger.attemptCounts(run: run).attempts == 1)
        }
    }

    @Test func aRunWaitsForRoomBeforeItBegins() throws {
        try CoordinatorLab.run { lab in
            let store = try lab.sharing.forge("a.sqlite")
            // Another run has reserved more than any disk has.
            let client = try lab.peer("client")
            let first = try lab.begin([lab.sharing.forge("b.sqlite")])
            try client.ask(.pause(run: first))
            try client.done()
            let other = try #require(try lab.sharing.ledger.stores(of: first, limit: 1).first)
            let device = try FileStatus(of: store).identity.device
            try lab.sharing.ledger.append([
                .reserved(
                    Reservation(
                        run: first, store: other.number, device: device, bytes: 1 << 60,
                        inodes: 0))
            ])
            let found = try lab.sharing.found([store])
            let coordinator = try #require(lab.coordinator)
            let request = try lab.sharing.request([store])
            let error = #expect(throws: RunError.self) {
                _ = try coordinator.begin(request, over: found, waitsForRoom: false)
            }
            guard case .noRoom? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            // Nothing was begun, and the store is free.
            #expect(
                try lab.sharing.ledger.runs().allSatisfy {
                    $0.id == first || !$0.state.isUnfinished
                })
            let run = try coordinator.begin(request, over: found, waitsForRoom: true).id
            try lab.told("that the run waits for space") { note in
                if case .run(run, .paused(.space)) = note { true } else { false }
            }
            let worker = try lab.worker("w1")
            guard case .noRoom(let text)? = try client.status(run).runs.first?.waitingFor else {
                Issue.record("it does not wait for room")
                return
            }
            #expect(text.contains("has too little space"))
            #expect(try lab.sharing.ledger.run(run)?.state == .paused)
            try worker.expectNothing()
            try client.ask(.cancel(run: run))
            try client.done()
            try client.ask(.watch(run: run))
            _ = try client.end(of: run)
        }
    }

    /// Anybody can make a file of terabytes with a hole.
    @Test func noRunWaitsForTheRoomOfAHole() throws {
        try CoordinatorLab.run { lab in
            let stores = try (1...2).map { try lab.sharing.forge("s\($0).sqlite") }
            #expect(truncate(stores[0].description, 1 << 43) == 0)
            let run = try lab.begin(stores)
            let client = try lab.peer("client")
            try client.ask(.watch(run: run))
            let status = try client.status(run)
            switch status.runs.first?.waitingFor {
            case .noRoom, .paused(.space): Issue.record("it waits for room")
            default: break
            }
            #expect(try lab.sharing.ledger.run(run)?.state == .open)
            try client.ask(.cancel(run: run))
            try client.done()
            _ = try client.end(of: run)
        }
    }
}
