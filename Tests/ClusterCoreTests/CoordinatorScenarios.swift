import ClusterCore
import ClusterProtocol
import ClusterVocabulary
import Jobs
import Testing

/// A story told to a coordinator's machine, with what has to come of it.
struct CoordinatorScenario: CustomTestStringConvertible, Sendable {
    let name: String
    let run: @Sendable (inout CoordinatorBench) throws -> Void
    var settings: @Sendable (inout CoordinatorSettings) -> Void = { _ in }

    init(
        _ name: String,
        settings: @escaping @Sendable (inout CoordinatorSettings) -> Void = { _ in },
        _ run: @escaping @Sendable (inout CoordinatorBench) throws -> Void
    ) {
        self.name = name
        self.run = run
        self.settings = settings
    }

    var testDescription: String { name }

    /// Tells the story.
    func told() throws -> CoordinatorBench {
        var bench = CoordinatorBench(settings)
        try run(&bench)
        return bench
    }

    static var all: [CoordinatorScenario] {
        storeScenarios + attemptScenarios + workerScenarios + runScenarios + endScenarios
            + askingScenarios
    }
}

@Suite struct CoordinatorScenarioTests {
    @Test(arguments: CoordinatorScenario.all)
    func storyEndsWell(_ scenario: CoordinatorScenario) throws {
        let bench = try scenario.told()
        #expect(bench.machine.check().isEmpty)
        #expect(!bench.notes.contains { if case .unexpected = $0 { true } else { false } })
        // Whatever happens, a job is accepted once.
        #expect(bench.accepted.values.allSatisfy { $0 == 1 })
    }

    @Test func namesAreUnique() {
        let names = CoordinatorScenario.all.map(\.name)
        #expect(Set(names).count == names.count)
    }
}

// MARK: - Stores

extension CoordinatorScenario {
    static let storeScenarios: [CoordinatorScenario] = [
        CoordinatorScenario("a large store goes all its way") { bench in
            bench.join("w")
            bench.open()
            bench.large()
            #expect(bench.state(1) == .running)
            bench.answer(.prepared(CoordinatorBench.chunks(2, links: 1), .fresh(reason: nil)))
            bench.done(.copy(chunk: 0))
            bench.done(.copy(chunk: 1))
            bench.answer(.stepped)
            bench.answer(.stepped)
            bench.done(.link(chunk: 0))
            bench.answer(.stepped)
            bench.answer(.indexed)
            bench.answer(.validated)
            #expect(bench.last.records == [.swapIntended(StoreKey(run: "r", number: 1))])
            bench.answer(.swapped)
            #expect(bench.state(1) == .done)
            #expect(bench.runState() == .ended)
            #expect(bench.machine.isIdle)
        },
        CoordinatorScenario("a store without jobs whose plan does not fit is planned again") {
            bench in
            bench.join("w")
            bench.open()
            bench.large()
            bench.answer(.prepared(CoordinatorBench.chunks(0), .fresh(reason: nil)))
            bench.answer(.needsOtherPlan(reason: "another way"))
            #expect(
                bench.last.records
                    == [.progressReset(StoreKey(run: "r", number: 1), reason: "another way")])
            bench.answer(.prepared(CoordinatorBench.chunks(1), .fresh(reason: nil)))
            bench.done(.copy(chunk: 0))
            bench.answer(.stepped)
            bench.answer(.indexed)
            bench.answer(.validated)
            bench.answer(.swapped)
            #expect(bench.state(1) == .done)
            #expect(bench.machine.isIdle)
        },
        CoordinatorScenario("shards are merged in the order of the plan") { bench in
            bench.join("w", slots: 3)
            bench.open()
            bench.large()
            bench.answer(
                .prepared(
                    CoordinatorBench.plan(
                        .partitioned(steps: [.append(chunk: 0), .merge(chunks: 1..<3)])),
                    .fresh(reason: nil)))
            bench.done(.copy(chunk: 2))
            bench.done(.copy(chunk: 1))
            #expect(bench.tasks.isEmpty)
            bench.done(.copy(chunk: 0))
            #expect(bench.tasks.count == 1)
            bench.answer(.stepped)
            guard case .step(1, .merge(let chunks), let shards)? = bench.tasks.first?.kind else {
                Issue.record("no merge")
                return
            }
            #expect(chunks == 1..<3)
            #expect(shards.map(\.work) == [.copy(chunk: 1), .copy(chunk: 2)])
            bench.answerAll()
            #expect(bench.state(1) == .done)
        },
        CoordinatorScenario("a small store is one job and a swap") { bench in
            bench.join("w")
            bench.open()
            bench.small(1...1)
            #expect(bench.state(1) == .running)
            bench.done(.whole)
            bench.answer(.swapped)
            #expect(bench.state(1) == .done)
        },
        CoordinatorScenario("a store that turns out to be small joins the others") { bench in
            bench.join("w")
            bench.open()
            bench.large()
            bench.answer(.prepared(CoordinatorBench.plan(.whole), .fresh(reason: nil)))
            bench.done(.whole)
            bench.answer(.swapped)
            #expect(bench.state(1) == .done)
        },
        CoordinatorScenario("a store that needs no migration is done") { bench in
            bench.open()
            bench.large()
            bench.answer(.unchanged)
            #expect(bench.state(1) == .done)
            #expect(bench.runState() == .ended)
        },
        CoordinatorScenario("a swap that is put off waits for a request") { bench in
            bench.join("w")
            bench.open(stores: 2, defersSwap: true)
            bench.small(1...1)
            bench.large(2)
            bench.finishAll()
            #expect(bench.state(1) == .validated)
            #expect(bench.state(2) == .validated)
            #expect(bench.runState() == nil)
            bench.request(.swap(run: "r", store: nil))
            #expect(bench.last.lookups == [.validated(run: "r", store: nil)])
            bench.handle(.lookedUp(RunOffer(run: "r", stores: 2)))
            for number in 1...2 {
                bench.handle(
                    .offered(
                        StoreOffer(
                            key: StoreKey(run: "r", number: number), bytes: 1,
                            entry: .swap(isRequested: true))))
            }
            bench.answerAll()
            #expect(bench.state(1) == .done)
            #expect(bench.runState() == .ended)
        },
        CoordinatorScenario("a validated store stays so when its run is opened again") { bench in
            bench.open(stores: 1, defersSwap: true)
            bench.handle(
                .offered(
                    StoreOffer(
                        key: StoreKey(run: "r", number: 1), bytes: 1,
                        entry: .swap(isRequested: false), isRunning: true)))
            #expect(bench.records.isEmpty)
            #expect(bench.tasks.isEmpty)
        },
        CoordinatorScenario("differences end a store and void its progress") { bench in
            bench.join("w")
            bench.open()
            bench.large()
            bench.answer(.prepared(CoordinatorBench.chunks(0), .fresh(reason: nil)))
            bench.answer(.indexed)
            bench.answer(.different(text: "Person.name"))
            #expect(bench.state(1) == .failed)
            let key = StoreKey(run: "r", number: 1)
            #expect(bench.records.contains(.progressReset(key, reason: "Person.name")))
            #expect(
                bench.records.contains(
                    .storeChanged(key, .failed, FailureReason(.validationFailed, "Person.name"))))
            #expect(bench.runState() != .paused)
        },
        CoordinatorScenario("a task is retried a limited number of times") { bench in
            bench.open(stores: 2)
            bench.large(1)
            bench.large(2)
            for _ in 0..<2 {
                bench.answer(.failed(.inputOutput, text: "disk"))
                bench.wait(60_000)
            }
            bench.answer(.unchanged)
            bench.answer(.failed(.inputOutput, text: "disk"))
            bench.wait(60_000)
            bench.answer(.failed(.inputOutput, text: "disk"))
            bench.wait(60_000)
            while !bench.tasks.isEmpty { bench.answer(.failed(.inputOutput, text: "disk")) }
            #expect(bench.state(1) == .done || bench.state(2) == .done)
            #expect(bench.state(1) == .failed || bench.state(2) == .failed)
        },
        CoordinatorScenario("tasks end stores at every stage") { bench in
            bench.join("w", slots: 4)
            bench.open(stores: 4)
            for number in 1...4 { bench.large(number) }
            let stages: [[TaskOutcome]] = [
                [.failed(.damaged, text: "damaged")],
                [
                    .prepared(CoordinatorBench.chunks(0), .fresh(reason: nil)),
                    .failed(.damaged, text: "full of holes"),
                ],
                [
                    .prepared(CoordinatorBench.chunks(0), .fresh(reason: nil)), .indexed,
                    .failed(.damaged, text: "unreadable"),
                ],
                [
                    .prepared(CoordinatorBench.chunks(0), .fresh(reason: nil)), .indexed,
                    .validated, .failed(.damaged, text: "no swap"),
                ],
            ]
            for (number, outcomes) in stages.enumerated() {
                let key = StoreKey(run: "r", number: number + 1)
                for outcome in outcomes {
                    guard let place = bench.tasks.firstIndex(where: { $0.store == key }) else {
                        Issue.record("no task of \(key)")
                        return
                    }
                    bench.handle(.taskEnded(bench.tasks.remove(at: place).id, outcome))
                }
                #expect(bench.state(number + 1) == .failed)
            }
            #expect(bench.runState() == .ended)
        },
        CoordinatorScenario("a changed source is planned again at every stage") { bench in
            bench.join("w", slots: 2)
            bench.open(stores: 1)
            bench.large()
            let changed = TaskOutcome.failed(.sourceChanged, text: "changed")
            let plan = TaskOutcome.prepared(CoordinatorBench.chunks(0), .fresh(reason: nil))
            for outcomes in [[], [plan], [plan, .indexed], [plan, .indexed, .validated]] {
                for outcome in outcomes { bench.answer(outcome) }
                bench.answer(changed)
                #expect(bench.state(1) == .running)
            }
            bench.answer(plan)
            bench.answerAll()
            #expect(bench.state(1) == .done)
        },
    ].map { scenario in
        var patient = scenario
        let before = scenario.settings
        patient.settings = { settings in
            before(&settings)
            settings.quarantine.plans = 10
            settings.sharing.tasks = 20
        }
        return patient
    }
}
