import ClusterProtocol
import ClusterVocabulary
import Jobs
import RunSupervision
import Testing

/// A story about the life of a run, with what has to come of it.
struct LifeScenario: CustomTestStringConvertible, Sendable {
    let name: String
    let run: @Sendable (inout LifeBench) throws -> Void

    init(_ name: String, _ run: @escaping @Sendable (inout LifeBench) throws -> Void) {
        self.name = name
        self.run = run
    }

    var testDescription: String { name }

    func told() throws -> LifeBench {
        var bench = LifeBench()
        try run(&bench)
        return bench
    }

    static let all: [LifeScenario] = beginnings + ends + submissions + requests
}

@Suite struct LifeScenarioTests {
    @Test(arguments: LifeScenario.all) func storyEndsWell(_ scenario: LifeScenario) throws {
        _ = try scenario.told()
    }
}

extension LifeScenario {
    static let beginnings = [
        LifeScenario("a submitted run comes to its end and is forgotten") { bench in
            bench.stores = [1, 2]
            bench.submit(bench.opening())
            #expect(bench.replies == [.accepted(run: LifeBench.run)])
            #expect(bench.phase == .fed)
            bench.migrate()
            #expect(bench.phase == .ending)
            #expect(bench.states == [.ended] && bench.left.count == 2)
            bench.handle(.sweep)
            #expect(bench.forgotten.isEmpty, "its end is not told")
            bench.finish()
            #expect(bench.phase == .reported && bench.endsTold == 1)
            bench.handle(.sweep)
            #expect(bench.forgotten == [LifeBench.run] && bench.phase == nil)
        },
        LifeScenario("a run waits for space, which is looked at again") { bench in
            bench.stores = [1]
            bench.shortage = "full"
            bench.submit(bench.opening(shortage: "full"))
            #expect(bench.phase == .held && bench.states == [.paused])
            #expect(bench.supervisor.waitingReason(of: LifeBench.run) == .noRoom("full"))
            #expect(bench.works.isEmpty, "its stores are not read")
            bench.wait(60_000)
            bench.finish()
            #expect(bench.phase == .held)
            bench.shortage = nil
            bench.wait(60_000)
            bench.answerAll("reserve")
            #expect(bench.phase == .fed && bench.states == [.paused, .open])
            bench.migrate()
            bench.finish()
            #expect(bench.endsTold == 1)
        },
        LifeScenario("a run without work ends at once") { bench in
            bench.submit(bench.opening())
            #expect(bench.phase == .ending)
            bench.finish()
            #expect(bench.endsTold == 1)
        },
        LifeScenario("a run that was cancelled since it was read does not enter") { bench in
            bench.stores = [1]
            bench.submit(bench.opening(.cancelled))
            #expect(bench.phase == nil)
            guard case .refused? = bench.replies.first else {
                return _ = Issue.record("it was not refused")
            }
            let end = try bench.next("end")
            #expect(end == .end(run: LifeBench.run, isCancelled: true, but: [], number: nil))
        },
        LifeScenario("a run that had ended is opened where stores wait in it") { bench in
            bench.stores = [1]
            bench.handle(.opened(bench.opening(.ended), .resumed, client: nil))
            #expect(bench.states == [.open] && bench.phase == .fed)
        },
    ]

    static let ends = [
        LifeScenario("a held run is cancelled") { bench in
            bench.stores = [1]
            bench.submit(bench.opening(shortage: "full"))
            bench.request(.cancel(run: LifeBench.run))
            #expect(bench.phase == .ending)
            bench.finish()
            #expect(bench.endsTold == 1 && bench.states == [.paused, .cancelled])
        },
        LifeScenario("stores at work when their run is cancelled end it once more") { bench in
            bench.stores = [1]
            bench.submit(bench.opening())
            bench.answerAll("readStores")
            // A swap that has begun is finished.
            bench.request(.cancel(run: LifeBench.run))
            let first = try bench.next("end")
            #expect(first == .end(run: LifeBench.run, isCancelled: true, but: [1], number: 1))
            bench.answer(first)
            bench.finish()
            #expect(bench.endsTold == 0, "a store is at work")
            bench.swapAll()
            bench.finish()
            #expect(bench.endsTold == 1)
        },
        LifeScenario("results that wait for their swap are cancelled") { bench in
            bench.submit(bench.opening(validated: 1, isDeferring: true))
            bench.finish()
            #expect(bench.phase == .reported && bench.endsTold == 1)
            bench.request(.cancel(run: LifeBench.run))
            #expect(bench.phase == .ending)
            bench.finish()
            #expect(bench.endsTold == 2)
        },
        LifeScenario("what an earlier start left is carried out and reported") { bench in
            bench.handle(.endLeft(run: LifeBench.run, isCancelled: true, reports: true))
            bench.answer(try bench.next("end"))
            bench.answer(try bench.next("report"))
            #expect(bench.phase == nil && bench.endsTold == 0)
        },
        LifeScenario("a late report of an earlier end is none of the run's own end") { bench in
            bench.handle(.endLeft(run: LifeBench.run, isCancelled: false, reports: true))
            bench.answer(try bench.next("end"))
            let late = try bench.next("report")
            bench.stores = [1]
            bench.handle(.opened(bench.opening(.ended), .resumed, client: nil))
            bench.migrate()
            let own = try bench.next("end")
            bench.answer(late)
            #expect(bench.phase == .ending && bench.endsTold == 0)
            bench.handle(.sweep)
            #expect(bench.forgotten.isEmpty)
            bench.answer(own)
            bench.answer(try bench.next("report"))
            #expect(bench.phase == .reported && bench.endsTold == 1)
        },
    ]

    static let submissions = [
        LifeScenario("a run that is submitted again gets stores, and waits for space") { bench in
            bench.stores = [1]
            bench.submit(bench.opening())
            bench.answerAll("readStores")
            bench.stores = [1, 2]
            bench.submit(bench.opening(added: 1, shortage: "full"))
            #expect(bench.phase == .held)
            bench.wait(60_000)
            bench.answerAll("reserve")
            #expect(bench.phase == .fed)
            bench.migrate()
            bench.finish()
            #expect(bench.endsTold == 1 && bench.left.count == 2)
        },
        LifeScenario("a run that ends is submitted again without space") { bench in
            bench.submit(bench.opening())
            bench.submit(bench.opening(shortage: "full"))
            #expect(bench.phase == .ending)
            bench.finish()
            #expect(bench.phase == .held)
        },
        LifeScenario("a run that was reported is submitted again without space") { bench in
            bench.submit(bench.opening(validated: 1, isDeferring: true))
            bench.finish()
            bench.submit(bench.opening(validated: 1, shortage: "full", isDeferring: true))
            #expect(bench.phase == .held)
            bench.wait(60_000)
            bench.answerAll("reserve")
            #expect(bench.phase == .reported)
        },
        LifeScenario("a submission that no longer defers swaps has all of them done") { bench in
            // One result waits; the submission adds a store, and what is read first is the result.
            bench.submit(bench.opening(validated: 1, isDeferring: true))
            bench.finish()
            bench.stores = [1, 2]
            bench.submit(bench.opening(added: 1))
            #expect(bench.phase == .fed)
            let reading = try bench.next("readStores")
            guard case .readStores(let wanted) = reading else { return }
            bench.handle(
                .answered(
                    .stores(wanted, offers: [LifeBench.offer(1)], cursor: 1, isLast: false)))
            bench.migrate()
            #expect(Set(bench.left.map(\.key.number)) == [1, 2])
            bench.finish()
            #expect(bench.phase == .reported)
        },
    ]

    static let requests = [
        LifeScenario("a replay is requested while the end is carried out") { bench in
            bench.submit(bench.opening())
            bench.request(.replay(run: LifeBench.run, store: nil))
            bench.answerAll("end", "report")
            #expect(bench.phase == .fed && bench.endsTold == 0, "the ledger is being asked")
            bench.answerAll("reopen")
            #expect(bench.phase == .ending)
            bench.finish()
            #expect(bench.endsTold == 1)
            #expect(bench.events.contains(.note(.run(LifeBench.run, .nothingFailed))))
        },
        LifeScenario("a replay brings back a run that was forgotten") { bench in
            bench.request(.replay(run: LifeBench.run, store: nil))
            #expect(bench.phase == nil)
            bench.answerAll("findRun")
            #expect(bench.phase == .fed)
            bench.stores = [3]
            guard case .reopen(let run, let store) = try bench.next("reopen") else { return }
            bench.handle(
                .answered(
                    .reopened(run: run, store: store, count: 1, failed: 0, opensRun: true, nil)))
            bench.migrate()
            bench.finish()
            #expect(bench.endsTold == 1 && bench.left.map(\.key.number) == [3])
        },
        LifeScenario("a replay that fails halfway is tried again") { bench in
            bench.submit(bench.opening())
            bench.finish()
            bench.request(.replay(run: LifeBench.run, store: nil))
            guard case .reopen(let run, let store) = try bench.next("reopen") else { return }
            bench.stores = [1]
            let failure = WorkFailure(isTransient: true, text: "full")
            bench.handle(
                .answered(
                    .reopened(
                        run: run, store: store, count: 1, failed: 1, opensRun: true, failure)))
            bench.migrate()
            #expect(bench.phase == .fed, "the rest is tried again")
            bench.wait(RunSupervisor.retryInterval)
            bench.finish()
            #expect(bench.phase == .reported && bench.endsTold == 2)
        },
        LifeScenario("a cancelled run whose swap was requested has its end told") { bench in
            bench.submit(bench.opening(validated: 1, isDeferring: true))
            bench.finish()
            bench.request(.swap(run: LifeBench.run, store: nil))
            bench.request(.cancel(run: LifeBench.run))
            bench.answerAll("end", "report")
            #expect(bench.endsTold == 1, "the ledger is being asked")
            bench.answerAll("find")
            bench.finish()
            #expect(bench.phase == .reported && bench.endsTold == 2)
        },
        LifeScenario("what was read of a store before it left does not bring it back") { bench in
            bench.stores = [1]
            bench.submit(bench.opening())
            let key = StoreKey(run: LifeBench.run, number: 1)
            bench.answerAll("readStores")
            #expect(bench.supervisor.has(key))
            // More is read while the machine has it, and the answer is late.
            bench.submit(bench.opening(added: 1))
            guard case .readStores(let late) = try bench.next("readStores") else { return }
            bench.swapAll()
            #expect(!bench.supervisor.has(key))
            bench.handle(
                .answered(.stores(late, offers: [LifeBench.offer(1)], cursor: 1, isLast: true)))
            #expect(!bench.supervisor.has(key))
            bench.finish()
            #expect(bench.left.count == 1 && bench.endsTold == 1)
        },
        LifeScenario("a question about a store waits until its run may have entered") { bench in
            bench = LifeBench(isResuming: true)
            let held = HeldAttempt(
                run: LifeBench.run, store: 1, work: .whole, attempt: "a1", epoch: 1)
            let hello = CoordinatorBench.hello("w", held: [held])
            bench.handle(
                .machine(.message(.hello(hello), from: ConnectionID("w-1"), worker: "w")))
            #expect(bench.works.isEmpty)
            bench.handle(.resumed)
            #expect(bench.works == [.readReceipts(StoreKey(run: LifeBench.run, number: 1))])
        },
    ]
}

@Suite struct RunAtStartTests {
    @Test func eachRunIsResumedEndedOrLeft() {
        func decision(
            _ state: RunState, _ work: Bool, _ untidy: Bool, _ reported: Bool
        ) -> RunAtStart.Decision {
            RunAtStart(
                state: state, hasWork: work, isUntidy: untidy, isReported: reported
            ).decision
        }
        for untidy in [false, true] {
            #expect(decision(.open, false, untidy, false) == .resume)
            #expect(decision(.paused, true, untidy, false) == .resume)
            #expect(decision(.ended, true, untidy, true) == .resume)
        }
        #expect(decision(.ended, false, false, true) == .leave)
        #expect(decision(.ended, false, true, true) == .end(isCancelled: false, reports: false))
        #expect(decision(.ended, false, false, false) == .end(isCancelled: false, reports: true))
        #expect(decision(.cancelled, false, false, true) == .leave)
        #expect(
            decision(.cancelled, true, false, true) == .end(isCancelled: true, reports: false))
    }
}
