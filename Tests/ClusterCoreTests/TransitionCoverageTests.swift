import ClusterCore
import ClusterTables
import ClusterVocabulary
import Testing
import WorkerRules

/// Every listed transition is taken by some story, and none that is not listed.
@Suite struct TransitionCoverageTests {
    @Test func allTransitionsAreTaken() throws {
        var coordinator = StateLogs()
        for scenario in CoordinatorScenario.all {
            coordinator.add(try scenario.told().machine.transitions)
        }
        for scenario in LifeScenario.all { coordinator.add(try scenario.told().transitions) }
        var worker = WorkerLogs()
        for scenario in WorkerScenario.all { worker.add(scenario.run().machine.transitions) }
        expectWhole("worker, as its coordinator sees it", coordinator.workers)
        expectWhole("attempt", coordinator.attempts)
        expectWhole("job", coordinator.jobs)
        expectWhole("store", coordinator.stores)
        expectWhole("run", coordinator.runs)
        expectWhole("life of a run", coordinator.lives)
        expectWhole("connection of a worker", worker.links)
        expectWhole("work of a worker", worker.works)
        expectWhole("order at its worker", worker.orders)
    }

    private func expectWhole<State>(_ name: String, _ log: StateLog<State>) {
        let all = State.transitions.count
        let missing = log.missing.map { "\($0.from) to \($0.to)" }
        print("transitions covered: \(all - missing.count) of \(all), \(name)")
        #expect(missing.isEmpty, "\(name): \(missing)")
    }

    @Test func tablesListNothingTwice() {
        expectUnique(WorkerPhase.self)
        expectUnique(AttemptPhase.self)
        expectUnique(JobPhase.self)
        expectUnique(StorePhase.self)
        expectUnique(RunPhase.self)
        expectUnique(RunLifePhase.self)
        expectUnique(LinkPhase.self)
        expectUnique(WorkPhase.self)
        expectUnique(HeldPhase.self)
    }

    private func expectUnique<State: ListedState>(_ type: State.Type) {
        let pairs = type.transitions.map { [$0.from.rawValue, $0.to.rawValue] }
        #expect(Set(pairs).count == pairs.count, "\(type)")
        #expect(type.transitions.allSatisfy { $0.from != $0.to && !$0.cause.isEmpty })
        #expect(type.allCases.map(\.rawValue) == Array(0..<type.allCases.count))
    }
}
