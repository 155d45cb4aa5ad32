import ClusterProtocol
import ClusterVocabulary
import Jobs
import Testing

/// What a run does that has little space, and what a swap does that was asked for.
@Suite struct ShortSpaceTests {
    /// Jobs that workers have, of a run.
    private func running(_ bench: CoordinatorBench) -> Int { bench.orders.count }

    @Test func afterAFullDiskJobsRunOneAtATimeUntilOneSucceeds() {
        var bench = CoordinatorBench { $0.sharing.batchJobs = 1 }
        bench.join("w", slots: 4)
        bench.open(stores: 6)
        bench.small(1...6)
        #expect(running(bench) == 4)
        for store in 1...4 { bench.fail(.whole, store: store, .noSpace) }
        #expect(bench.runState() == .paused && running(bench) == 0)
        bench.wait(30_000, beating: ["w"])
        #expect(bench.runState() == .open)
        #expect(running(bench) == 1)
        // The one that runs alone also fills the disk.
        bench.fail(.whole, store: bench.orders.values.first?.order.job.store ?? 0, .noSpace)
        bench.wait(30_000, beating: ["w"])
        #expect(running(bench) == 1)
        bench.done(.whole, store: bench.orders.values.first?.order.job.store ?? 0)
        bench.say(.ready(freeSlots: 4), "w")
        #expect(running(bench) > 1)
        bench.finishAll()
        #expect(bench.runState() == .ended)
        for store in 1...6 { #expect(bench.state(store) == .done) }
    }

    /// A plan of three copies that are merged and one that is appended.
    private func plan(hasSnapshot: Bool) -> StorePlan {
        let plain = CoordinatorBench.plan(
            .partitioned(steps: [.merge(chunks: 0..<2), .append(chunk: 2), .link(chunk: 0)]))
        return StorePlan(
            shape: plain.shape, template: plain.template, attempts: plain.attempts,
            hasSnapshot: hasSnapshot, roots: plain.roots)
    }

    @Test(arguments: [false, true])
    func withASnapshotAllCopiesAreMadeBeforeTheFirstMerge(hasSnapshot: Bool) {
        var bench = CoordinatorBench()
        bench.join("w", slots: 3)
        bench.open()
        bench.large()
        bench.answer(.prepared(plan(hasSnapshot: hasSnapshot), .fresh(reason: nil)))
        bench.done(.copy(chunk: 0))
        bench.done(.copy(chunk: 1))
        #expect(bench.tasks.contains { $0.kind.isStep } == !hasSnapshot)
        bench.done(.copy(chunk: 2))
        #expect(bench.tasks.contains { $0.kind.isStep })
        bench.finishAll()
        #expect(bench.state(1) == .done)
    }

    /// A swap that was put off is asked for while the store has changed.
    private func asked(_ outcome: TaskOutcome) -> CoordinatorBench {
        var bench = CoordinatorBench()
        bench.join("w")
        bench.open(stores: 1, defersSwap: true)
        bench.small(1...1)
        bench.finishAll()
        #expect(bench.state(1) == .validated)
        bench.request(.swap(run: "r", store: nil))
        bench.handle(.lookedUp(RunOffer(run: "r", stores: 1, defersSwap: true)))
        bench.handle(
            .offered(
                StoreOffer(
                    key: StoreKey(run: "r", number: 1), bytes: 1,
                    entry: .swap(isRequested: true))))
        #expect(bench.tasks.map(\.kind) == [.swap])
        bench.answer(outcome)
        return bench
    }

    @Test func whatIsBuiltAgainForARequestedSwapDoesNotWait() {
        var bench = asked(.failed(.sourceChanged, text: "written since"))
        bench.finishAll(plan: CoordinatorBench.plan(.whole))
        #expect(bench.state(1) == .done)
        #expect(!bench.tasks.contains { $0.kind == .keep })
    }

    @Test func aRequestedSwapThatFailsLeavesTheResult() {
        var bench = asked(.failed(.inputOutput, text: "no answer"))
        var tries = 1
        while tries < 20 {
            bench.wait(100_000)
            guard !bench.tasks.isEmpty else { break }
            bench.answer(.failed(.inputOutput, text: "no answer"))
            tries += 1
        }
        #expect(tries > 1)
        #expect(bench.state(1) == .validated)
        let failed = bench.records.contains { record in
            if case .storeChanged(_, .failed, _) = record { true } else { false }
        }
        #expect(!failed)
    }
}

extension CoordinatorTask.Kind {
    /// Whether it takes shards into the result.
    fileprivate var isStep: Bool { if case .step = self { true } else { false } }
}
