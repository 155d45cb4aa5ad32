import ClusterCore
import ClusterProtocol
import ClusterVocabulary
import Jobs
import Testing

extension CoordinatorScenario {
    /// What is announced, asked for and then not there.
    static let askingScenarios: [CoordinatorScenario] = [
        CoordinatorScenario("swaps that are asked for twice leave no run open") { bench in
            bench.join("w")
            bench.open(stores: 1, defersSwap: true)
            bench.small(1...1)
            bench.finishAll()
            bench.request(.swap(run: "r", store: nil))
            bench.request(.swap(run: "r", store: nil))
            // Both questions were answered before the store was taken by the first.
            for _ in 0..<2 { bench.handle(.lookedUp(RunOffer(run: "r", stores: 1))) }
            bench.handle(
                .offered(
                    StoreOffer(
                        key: StoreKey(run: "r", number: 1), bytes: 1,
                        entry: .swap(isRequested: true))))
            bench.answerAll()
            #expect(bench.state(1) == .done)
            #expect(bench.runState() == nil && bench.machine.wantedStores == ["r": 1])
            bench.handle(.exhausted(run: "r", left: 0))
            #expect(bench.runState() == .ended && bench.machine.wantedStores.isEmpty)
            // What is known to be less is not made more.
            bench.handle(.exhausted(run: "r", left: 3))
            #expect(bench.machine.wantedStores.isEmpty)
        },
        CoordinatorScenario("a run whose results wait for their swap can be given up") { bench in
            bench.join("w")
            bench.open(stores: 1, defersSwap: true)
            bench.small(1...1)
            bench.finishAll()
            #expect(bench.runState() == nil && bench.machine.isOver(run: "r"))
            bench.request(.pause(run: "r"))
            #expect(bench.machine.isOver(run: "r"))
            bench.request(.cancel(run: "r"))
            #expect(bench.runState() == .cancelled)
        },
        CoordinatorScenario("a run does not end while the ledger is asked for its stores") {
            bench in
            bench.join("w")
            for (run, first, found) in [("a", 1, 1), ("b", 3, 0)] {
                bench.open(run, stores: 2)
                bench.small(first...(first + 1), run: run)
                bench.fail(.whole, store: first, .damaged)
                bench.request(.replay(run: run, store: nil))
                bench.finishAll()
                #expect(bench.runState(run) == nil)
                bench.handle(.lookedUp(RunOffer(run: run, stores: found)))
                if found > 0 {
                    bench.handle(
                        .offered(
                            StoreOffer(
                                key: StoreKey(run: run, number: first), bytes: 1,
                                entry: .whole(CoordinatorBench.plan(.whole)),
                                jobs: [.whole: JobHistory(epoch: 1, attempts: 1)])))
                    bench.finishAll()
                }
                #expect(bench.runState(run) == .ended)
            }
        },
        CoordinatorScenario(
            "a run with nothing to do ends although others have all places",
            settings: { $0.sharing.runs = 1 }
        ) { bench in
            bench.open("a", stores: 1)
            bench.open("b", stores: 0)
            #expect(bench.runState("b") == .ended)
            bench.request(.cancel(run: "a"))
            #expect(bench.runState("a") == .cancelled)
        },
        CoordinatorScenario("a run that is over is let go of, and comes back for a replay") {
            bench in
            bench.join("w")
            bench.open(stores: 1)
            bench.small(1...1)
            bench.handle(.forgotten(run: "r"))
            #expect(!bench.machine.isOver(run: "r"))
            bench.fail(.whole, .damaged)
            #expect(bench.runState() == .ended && bench.machine.isOver(run: "r"))
            // Not while the ledger is asked.
            bench.request(.replay(run: "r", store: nil))
            bench.handle(.forgotten(run: "r"))
            #expect(bench.machine.report().runs.count == 1)
            bench.handle(.lookedUp(RunOffer(run: "r", stores: 0)))
            bench.handle(.forgotten(run: "r"))
            #expect(bench.machine.report().runs.isEmpty)
            bench.request(.replay(run: "r", store: nil))
            #expect(bench.last.lookups.isEmpty)
            bench.handle(.run(RunOffer(run: "r", stores: 0, failed: 1, isOver: true)))
            #expect(bench.last.records.isEmpty && bench.last.notes.isEmpty)
            #expect(bench.machine.report().runs.map(\.state) == [.ended])
            bench.request(.replay(run: "r", store: nil))
            bench.handle(.lookedUp(RunOffer(run: "r", stores: 1)))
            #expect(bench.runState() == .open)
            bench.small(1...1)
            bench.finishAll()
            #expect(bench.state(1) == .done && bench.runState() == .ended)
        },
        CoordinatorScenario("a delivery for a run that is not here is looked up") { bench in
            bench.join("w")
            bench.open(stores: 1)
            bench.small(1...1)
            let order = try #require(bench.order(.whole))
            bench.finishAll()
            bench.handle(.forgotten(run: "r"))
            bench.say(.done(CoordinatorBench.receipt(order)), "w")
            let key = StoreKey(run: "r", number: 1)
            #expect(bench.last.lookups == [.store(key)])
            bench.handle(.absent(key, accepted: [order.attempt.id]))
            #expect(bench.said(to: "w") == [.committed(attempt: order.attempt.id)])
        },
    ]
}
