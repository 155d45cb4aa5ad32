import ClusterCore
import ClusterProtocol
import ClusterVocabulary
import Jobs
import Testing

/// Slots are shared: no store waits without end because others have much.
@Suite struct SharingTests {
    /// Answers orders one by one and tells who got what, small stores as 0.
    private func shares(_ bench: inout CoordinatorBench, rounds: Int) -> [Int: Int] {
        var counts: [Int: Int] = [:]
        for _ in 0..<rounds {
            while let task = bench.task({ if case .admit = $0 { true } else { false } }) {
                if case .admit(let receipt) = task.kind {
                    bench.handle(.taskEnded(task.id, .admitted(receipt)))
                }
            }
            while let task = bench.task({ if case .step = $0 { true } else { false } }) {
                bench.handle(.taskEnded(task.id, .stepped))
            }
            guard let id = bench.sent.first(where: { bench.orders[$0] != nil }),
                let entry = bench.orders[id]
            else { break }
            bench.sent.removeAll { bench.orders[$0] == nil }
            bench.orders[id] = nil
            let isSmall = entry.order.job.work == .whole
            counts[isSmall ? 0 : entry.order.job.store, default: 0] += 1
            bench.say(.done(CoordinatorBench.receipt(entry.order)), entry.worker)
        }
        return counts
    }

    @Test func hugeAndSmallStoresShareSlots() {
        var bench = CoordinatorBench {
            $0.sharing.tasks = 50
            $0.sharing.batchJobs = 1
        }
        bench.join("w", slots: 2)
        bench.open(stores: 402)
        for number in 1...2 {
            bench.large(number, bytes: 100 << 20)
            bench.answer(.prepared(CoordinatorBench.chunks(100), .fresh(reason: nil)))
        }
        bench.small(3...402, bytes: 1 << 20)
        let counts = shares(&bench, rounds: 120)
        // The small ones together get what the large ones together get, by bytes.
        for store in 0...2 { #expect(counts[store] ?? 0 > 20, "\(counts)") }
        #expect(abs((counts[1] ?? 0) - (counts[2] ?? 0)) <= 4, "\(counts)")
    }

    @Test func runsShareSlots() {
        var bench = CoordinatorBench { $0.sharing.batchJobs = 1 }
        bench.join("w")
        for run in ["a", "b"] { bench.open(run, stores: 40) }
        bench.small(1...40, run: "a")
        bench.small(1...40, run: "b")
        var counts: [String: Int] = [:]
        for _ in 0..<30 {
            guard let entry = bench.orders.values.first else { break }
            bench.orders = [:]
            counts[entry.order.job.run, default: 0] += 1
            bench.say(.done(CoordinatorBench.receipt(entry.order)), "w")
        }
        #expect(counts.values.reduce(0, +) == 30, "\(counts)")
        #expect(abs((counts["a"] ?? 0) - (counts["b"] ?? 0)) <= 2, "\(counts)")
    }

    @Test func batchesShrinkTowardsTheEnd() {
        var bench = CoordinatorBench()
        bench.open(stores: 200)
        bench.small(1...200)
        for name in ["a", "b"] { bench.join(name) }
        var sizes: [Int] = []
        while !bench.orders.isEmpty {
            let ids = bench.sent.filter { bench.orders[$0] != nil }
            guard let first = ids.first, let worker = bench.orders[first]?.worker else { break }
            let mine = ids.filter { bench.orders[$0]?.worker == worker }
            sizes.append(mine.count)
            for id in mine {
                guard let entry = bench.orders.removeValue(forKey: id) else { continue }
                bench.say(.done(CoordinatorBench.receipt(entry.order)), worker)
            }
            bench.answerAll()
        }
        #expect(sizes.first == 16)
        #expect(sizes.suffix(2) == [1, 1])
        #expect(sizes.reduce(0, +) == 200)
        #expect(bench.runState() == .ended)
    }

    /// Results that wait for their check are held by the worker, which can name only so many of
    /// them when it comes back.
    @Test func aWorkerHoldsOnlySoMuch() throws {
        var bench = CoordinatorBench { $0.sharing.heldAttempts = 40 }
        bench.join("w", slots: 2)
        bench.open(stores: 400)
        bench.small(1...400)
        var done = 0
        while let entry = bench.orders.values.first {
            bench.orders[entry.order.attempt.id] = nil
            bench.say(.done(CoordinatorBench.receipt(entry.order)), "w")
            done += 1
        }
        #expect(done == 40)
        let worker = try #require(bench.machine.report().workers.first)
        #expect(worker.reason == .unchecked(jobs: 40))
        bench.answerAll()
        bench.finishAll()
        #expect(bench.runState() == .ended)
        #expect(bench.machine.check().isEmpty)
    }

    /// What a worker of many slots holds is shared by its slots.
    @Test func everySlotGetsItsShare() {
        var bench = CoordinatorBench { $0.sharing.heldAttempts = 128 }
        bench.open(stores: 600)
        bench.small(1...600)
        bench.join("w", slots: 64)
        // The batches would be of four jobs otherwise.
        #expect(bench.orders.count == 128)
    }

    @Test func chunksOfOneStoreComeFromOneEngine() {
        var bench = CoordinatorBench { $0.sharing.tasks = 20 }
        bench.join("old", engine: "1")
        bench.join("new", engine: "2")
        bench.open(stores: 2)
        for number in 1...2 {
            bench.large(number)
            bench.answer(.prepared(CoordinatorBench.chunks(6, engine: nil), .fresh(reason: nil)))
        }
        var engines: [Int: Set<String>] = [:]
        for entry in bench.orders.values {
            engines[entry.order.job.store, default: []].insert(entry.order.job.engine)
        }
        while let entry = bench.orders.values.first {
            engines[entry.order.job.store, default: []].insert(entry.order.job.engine)
            #expect((entry.worker == "old") == (entry.order.job.engine == "1"))
            bench.done(entry.order.job.work, store: entry.order.job.store)
        }
        #expect(engines[1]?.count == 1 && engines[2]?.count == 1)
        bench.finishAll()
        #expect(bench.state(1) == .done && bench.state(2) == .done)
    }

    @Test func onlySoManyShardsWaitForTheirMerge() {
        var bench = CoordinatorBench()
        bench.join("w", slots: 2)
        bench.open()
        bench.large()
        bench.answer(.prepared(CoordinatorBench.chunks(50), .fresh(reason: nil)))
        // The first chunk takes its time; the others must not fill the disk meanwhile.
        var done = 0
        while let entry = bench.orders.values.first(where: {
            $0.order.job.work != .copy(chunk: 0)
        }) {
            bench.done(entry.order.job.work)
            done += 1
        }
        #expect(done == 5)
        #expect(
            bench.machine.waitingReason(
                of: StoreKey(run: "r", number: 1), .copy(chunk: 20)) == .merge)
        bench.finishAll()
        #expect(bench.state(1) == .done)
    }

    @Test func storesAreWantedAsTheyAreUsedUp() {
        var bench = CoordinatorBench()
        bench.open(stores: 100_000)
        #expect(bench.machine.wantedStores == ["r": 32])
        bench.small(1...32)
        #expect(bench.machine.wantedStores.isEmpty)
        bench.join("w", slots: 2)
        #expect(bench.machine.wantedStores["r"] ?? 0 > 32)
    }

    @Test func everyWaitingJobHasAReason() {
        var bench = CoordinatorBench { $0.sharing.largeStores = 1 }
        let key = StoreKey(run: "r", number: 1)
        bench.open(stores: 3)
        bench.large(1)
        bench.large(2)
        func reason(_ work: Work, _ store: Int = 1) -> WaitingReason? {
            bench.machine.waitingReason(of: StoreKey(run: "r", number: store), work)
        }
        #expect(reason(.copy(chunk: 0)) == .stage(.preparing))
        #expect(reason(.copy(chunk: 0), 2) == .behindOtherStores)
        bench.answer(.prepared(CoordinatorBench.chunks(2, links: 1), .fresh(reason: nil)))
        #expect(reason(.copy(chunk: 0)) == .noWorker)
        #expect(bench.machine.waitingReason(run: "r") == .noWorker)
        bench.join("n", engine: "2")
        #expect(reason(.copy(chunk: 0)) == .noWorkerWithEngine("1"))
        bench.join("m", roots: ["other"])
        #expect(
            reason(.copy(chunk: 0))
                == .noSuitableWorker(
                    Shortage(
                        roots: NameList(["run"]), policies: NameList([]),
                        present: NameList(["other"]))))
        bench.join("w")
        #expect(reason(.copy(chunk: 0)) == nil)
        #expect(reason(.copy(chunk: 1)) == .allWorkersBusy)
        #expect(reason(.link(chunk: 0)) == .stage(.copying))
        bench.fail(.copy(chunk: 0), .inputOutput)
        guard case .backOff? = reason(.copy(chunk: 0)) else {
            Issue.record("no back-off")
            return
        }
        bench.request(.pause(run: "r"))
        #expect(reason(.copy(chunk: 0)) == .paused(.request))
        #expect(bench.machine.waitingReason(of: key, .copy(chunk: 1)) == nil)
    }
}
