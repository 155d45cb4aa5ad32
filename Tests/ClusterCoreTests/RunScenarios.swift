import ClusterCore
import ClusterProtocol
import ClusterVocabulary
import Jobs
import Testing

extension CoordinatorScenario {
    static let runScenarios: [CoordinatorScenario] = [
        CoordinatorScenario("a paused run hands nothing out, finishes what runs, and goes on") {
            bench in
            bench.join("w")
            bench.open(stores: 2)
            bench.small(1...2)
            bench.request(.pause(run: "r"))
            #expect(bench.runState() == .paused)
            bench.done(.whole, store: 1)
            #expect(bench.orders.isEmpty)
            #expect(bench.tasks.isEmpty)
            #expect(bench.machine.waitingReason(run: "r") == .paused(.request))
            bench.request(.resume(run: "r"))
            bench.finishAll()
            #expect(bench.runState() == .ended)
        },
        CoordinatorScenario("a swap between two names is no failure") { bench in
            bench.join("w")
            bench.open(stores: 1)
            bench.small(1...1)
            bench.done(.whole, store: 1)
            for _ in 0..<3 {
                #expect(bench.runState() != .paused)
                bench.answer(.interrupted(.inputOutput, text: "no answer"))
                bench.wait(100_000, beating: ["w"])
            }
            #expect(bench.state(1) == .running)
            #expect(bench.runState() == .paused)
            bench.request(.resume(run: "r"))
            bench.answer(.interrupted(.noSpace, text: "full"))
            #expect(bench.runState() == .paused)
            #expect(bench.state(1) == .running)
            bench.wait(40_000, beating: ["w"])
            bench.finishAll()
            #expect(bench.state(1) == .done)
            #expect(bench.runState() == .ended)
        },
        CoordinatorScenario("a swap between two names stops no other store") { bench in
            bench.join("w")
            bench.open(stores: 3)
            bench.small(1...1)
            bench.done(.whole, store: 1)
            for _ in 0..<8 {
                bench.answer(.interrupted(.inputOutput, text: "it is open"))
                #expect(bench.runState() != .paused)
                bench.wait(100_000, beating: ["w"])
            }
            let swap = bench.tasks
            bench.tasks = []
            bench.small(2...3)
            bench.finishAll()
            #expect(bench.state(2) == .done && bench.state(3) == .done)
            #expect(bench.state(1) == .running)
            bench.tasks = swap
            bench.answer(.interrupted(.inputOutput, text: "it is open"))
            #expect(bench.runState() == .paused)
            #expect(bench.state(1) == .running)
            bench.request(.resume(run: "r"))
            bench.finishAll()
            #expect(bench.state(1) == .done)
            #expect(bench.runState() == .ended)
        },
        CoordinatorScenario("a move whose sync failed is not tried again by itself") { bench in
            bench.join("w")
            for (run, store) in [("a", 1), ("b", 2)] {
                bench.open(run, stores: 1)
                bench.small(store...store, run: run)
                bench.say(.ready(freeSlots: 1), "w")
                let order = try #require(bench.orders.values.first { $0.order.job.run == run })
                bench.say(.done(CoordinatorBench.receipt(order.order)), "w")
                bench.orders = bench.orders.filter { $0.value.order.job.run != run }
                bench.answerAll(until: { if case .swap = $0 { true } else { false } })
                if run == "b" { bench.request(.cancel(run: "b")) }
                bench.answer(.interrupted(.wrongPlan, text: "not synced"))
                #expect(bench.last.notes.contains(.run(run, .stopped(reason: "not synced"))))
                bench.wait(100_000, beating: ["w"])
                #expect(bench.tasks.isEmpty)
                #expect(bench.state(store, run: run) == .running)
            }
            #expect(bench.runState("a") == .paused && bench.runState("b") == .cancelled)
            bench.request(.resume(run: "a"))
            bench.answer(.swapped)
            #expect(bench.runState("a") == .ended)
        },
        CoordinatorScenario("a cancelled run plans no store again") { bench in
            bench.join("w")
            bench.open(stores: 1)
            bench.small(1...1)
            bench.done(.whole, store: 1)
            bench.request(.cancel(run: "r"))
            #expect(bench.state(1) == .running)
            bench.answer(.failed(.sourceChanged, text: "written since"))
            #expect(bench.state(1) == .cancelled)
            #expect(bench.tasks.isEmpty)
            #expect(bench.runState() == .cancelled)
        },
        CoordinatorScenario("a full disk pauses the run, which tries again by itself") { bench in
            bench.join("w")
            bench.open(stores: 2)
            bench.small(1...1)
            bench.large(2)
            bench.fail(.whole, .noSpace)
            #expect(bench.runState() == .paused)
            bench.answer(.failed(.noSpace, text: "full"))
            #expect(bench.orders.isEmpty)
            bench.wait(30_000, beating: ["w"])
            #expect(bench.runState() == .open)
            bench.fail(.whole, .noSpace)
            bench.handle(.room(run: "r"))
            #expect(bench.runState() == .open)
            bench.finishAll()
            #expect(bench.runState() == .ended)
        },
        CoordinatorScenario(
            "too many failures stop a run", settings: { $0.sharing.batchJobs = 1 }
        ) { bench in
            bench.join("w")
            bench.open(stores: 5, limits: RunLimits(failures: 2))
            bench.small(1...5)
            bench.fail(.whole, store: 1, .damaged)
            #expect(bench.runState() == nil)
            bench.fail(.whole, store: 2, .damaged)
            #expect(bench.runState() == .paused)
            #expect(bench.orders.isEmpty)
            #expect(bench.machine.isIdle)
            bench.request(.resume(run: "r"))
            bench.finishAll()
            #expect(bench.runState() == .ended)
        },
        CoordinatorScenario("a bug stops the run") { bench in
            bench.join("w")
            bench.open(stores: 2)
            bench.small(1...1)
            bench.large(2)
            bench.fail(.whole, .bug)
            #expect(bench.state(1) == .failed)
            #expect(bench.runState() == .paused)
            bench.request(.resume(run: "r"))
            while let task = bench.tasks.first {
                bench.tasks.removeFirst()
                bench.handle(.taskEnded(task.id, .failed(.bug, text: "bug")))
            }
            #expect(bench.runState() == .ended)
        },
        CoordinatorScenario("a replay runs what failed and nothing else") { bench in
            bench.join("w", slots: 2)
            bench.open(stores: 2)
            bench.small(1...2)
            bench.fail(.whole, store: 1, .damaged)
            bench.finishAll()
            #expect(bench.runState() == .ended)
            let sent = bench.records.count { if case .attemptBegan = $0 { true } else { false } }
            bench.request(.replay(run: "r", store: nil))
            #expect(bench.last.lookups == [.failed(run: "r", store: nil)])
            bench.handle(.lookedUp(RunOffer(run: "r", stores: 1)))
            #expect(bench.runState() == .open)
            bench.handle(
                .offered(
                    StoreOffer(
                        key: StoreKey(run: "r", number: 1), bytes: 1,
                        entry: .whole(CoordinatorBench.plan(.whole)),
                        jobs: [.whole: JobHistory(epoch: 1, attempts: 1)])))
            #expect(bench.order(.whole)?.attempt.id == "r-1-whole-2")
            bench.finishAll()
            #expect(bench.state(1) == .done)
            let again = bench.records.count { if case .attemptBegan = $0 { true } else { false } }
            #expect(again == sent + 1)
        },
        CoordinatorScenario("only so many runs are at work", settings: { $0.sharing.runs = 1 }) {
            bench in
            bench.join("w")
            bench.open("a")
            for name in ["b", "c", "d"] { bench.open(name) }
            #expect(bench.machine.waitingReason(run: "b") == .behindOtherRuns)
            #expect(bench.machine.wantedStores == ["a": 1])
            bench.request(.pause(run: "c"))
            bench.request(.cancel(run: "d"))
            bench.small(1...1, run: "a")
            bench.finishAll()
            #expect(bench.runState("a") == .ended)
            bench.request(.resume(run: "c"))
            bench.request(.pause(run: "c"))
            bench.small(1...1, run: "b")
            bench.small(1...1, run: "c")
            bench.finishAll()
            bench.request(.cancel(run: "c"))
            #expect(bench.runState("c") == .cancelled)
        },
        CoordinatorScenario("a run that was paused before stays so, and may end paused") { bench in
            bench.join("w")
            bench.handle(.run(RunOffer(run: "r", stores: 1, pausedBy: .request)))
            bench.small(1...1)
            #expect(bench.orders.isEmpty)
            bench.request(.resume(run: "r"))
            let order = try #require(bench.order(.whole))
            bench.done(.whole)
            bench.request(.pause(run: "r"))
            bench.answer(.swapped)
            #expect(bench.runState() == .ended)
            #expect(order.attempt.epoch == 1)
        },
        CoordinatorScenario("limits of a run hold", settings: { $0.sharing.batchJobs = 1 }) {
            bench in
            bench.join("w", slots: 8)
            bench.open(stores: 6, limits: RunLimits(stores: 3, jobs: 2))
            bench.small(1...6)
            #expect(bench.orders.count == 2)
            #expect(
                bench.machine.waitingReason(of: StoreKey(run: "r", number: 3), .whole)
                    == .jobLimit(2))
            bench.done(.whole, store: 1)
            bench.done(.whole, store: 2)
            #expect(bench.orders.count == 1)
            #expect(
                bench.machine.waitingReason(of: StoreKey(run: "r", number: 4), .whole)
                    == .storeLimit(3))
            bench.finishAll()
            #expect(bench.runState() == .ended)
        },
        CoordinatorScenario("a throttle holds back jobs and bytes") { bench in
            bench.join("w", slots: 4)
            bench.request(
                .throttle(ThrottleSettings(run: nil, bytesPerSecond: 1000, jobs: nil)))
            bench.open(stores: 4)
            bench.small(1...4, bytes: 5000)
            let first = bench.orders.count
            #expect(first >= 1 && first < 4)
            bench.wait(30_000, beating: ["w"])
            bench.request(.throttle(ThrottleSettings(run: nil, bytesPerSecond: nil, jobs: nil)))
            bench.request(.throttle(ThrottleSettings(run: "r", bytesPerSecond: nil, jobs: 1)))
            bench.finishAll()
            bench.wait(70_000, beating: ["w"])
            bench.finishAll()
            #expect(bench.runState() == .ended)
        },
    ]

    static let endScenarios: [CoordinatorScenario] = [
        CoordinatorScenario("a cancelled run gives everything up at every stage") { bench in
            bench.join("w", slots: 8)
            bench.open(stores: 12)
            let none = TaskOutcome.prepared(CoordinatorBench.chunks(0), .fresh(reason: nil))
            let some = TaskOutcome.prepared(
                CoordinatorBench.chunks(2, links: 2), .fresh(reason: nil))
            let linked = TaskOutcome.prepared(
                CoordinatorBench.chunks(0, links: 2), .fresh(reason: nil))
            let outcomes: [[TaskOutcome]] = [
                [], [none], [none, .indexed], [none, .indexed, .validated], [some], [some],
                [linked], [linked], [some], [],
            ]
            for (place, list) in outcomes.enumerated() {
                let number = place + 1
                let key = StoreKey(run: "r", number: number)
                bench.large(number)
                for outcome in list {
                    guard let task = bench.tasks.firstIndex(where: { $0.store == key }) else {
                        continue
                    }
                    bench.handle(.taskEnded(bench.tasks.remove(at: task).id, outcome))
                }
            }
            // One copies with a merge at work, one links so, one is to be planned again.
            bench.done(.copy(chunk: 0), store: 5)
            bench.done(.link(chunk: 0), store: 7)
            bench.done(.copy(chunk: 0), store: 9)
            bench.fail(.copy(chunk: 1), store: 9, .sourceChanged)
            bench.small(12...12)
            bench.request(.cancel(run: "r"))
            #expect(bench.runState() == .cancelled)
            let tasks = bench.tasks
            bench.tasks = []
            for task in tasks {
                let outcome: TaskOutcome =
                    switch task.kind {
                    case .prepare: none
                    case .admit(let receipt): .admitted(receipt)
                    case .step: .stepped
                    case .index: .indexed
                    case .validate: .validated
                    case .keep: .kept
                    case .swap: .swapped
                    }
                bench.handle(.taskEnded(task.id, outcome))
            }
            #expect(bench.tasks.isEmpty)
            #expect(bench.state(4) == .done)
            for number in [1, 2, 3, 5, 6, 7, 8, 9, 10, 12] {
                #expect(bench.state(number) == .cancelled, "store \(number)")
            }
            bench.request(.resume(run: "r"))
            #expect(bench.runState() == .cancelled)
        }
    ].map { scenario in
        var roomy = scenario
        roomy.settings = { settings in
            settings.sharing.largeStores = 20
            settings.sharing.tasks = 20
        }
        return roomy
    }
}
