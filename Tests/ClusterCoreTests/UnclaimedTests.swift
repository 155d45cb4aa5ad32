import ClusterCore
import ClusterProtocol
import ClusterVocabulary
import Jobs
import Testing

/// A coordinator that starts again finds attempts whose workers may never come back.
@Suite struct UnclaimedTests {
    /// A store of so many chunks whose first one an earlier start has given out; `w` has done
    /// all that it may do before that one's merge.
    static func bench(_ count: Int) -> CoordinatorBench {
        var bench = CoordinatorBench()
        bench.join("w")
        bench.open()
        bench.large(
            jobs: [.copy(chunk: 0): JobHistory(epoch: 1, attempts: 1, open: ["r-1-copy-0-1"])],
            isRunning: true)
        bench.answer(.prepared(CoordinatorBench.chunks(count), .kept(steps: 0)))
        while let entry = bench.orders.values.first { bench.done(entry.order.job.work) }
        return bench
    }

    @Test func aWorkerWithNothingElseToDoGetsWhatNobodyCameBackWith() {
        var bench = Self.bench(31)
        // What runs ahead of the merge is bounded, and the first chunk is not there.
        #expect(bench.accepted.count == 3)
        bench.wait(4000, beating: ["w"])
        #expect(bench.order(.copy(chunk: 0)) == nil)
        bench.wait(1000, beating: ["w"])
        let second = bench.order(.copy(chunk: 0))
        #expect(second?.attempt.id == "r-1-copy-0-2")
        #expect(second?.attempt.epoch == 1)
        bench.done(.copy(chunk: 0))
        #expect(bench.failures == [.stopped])
        bench.finishAll()
        #expect(bench.state(1) == .done)
    }

    @Test func whoComesBackInTimeKeepsItAlone() {
        var bench = Self.bench(31)
        bench.wait(4000, beating: ["w"])
        let held = HeldAttempt(
            run: "r", store: 1, work: .copy(chunk: 0), attempt: "r-1-copy-0-1", epoch: 1)
        bench.join("v", held: [held])
        for _ in 0..<9 {
            bench.say(.progress(attempt: held.attempt, rows: 1, bytes: 1), "v")
            bench.wait(1000, beating: ["w", "v"])
        }
        #expect(bench.order(.copy(chunk: 0)) == nil)
        #expect(bench.failures.isEmpty)
    }

    @Test func workersThatComeLaterGetWhatTheyMakePlaceFor() {
        var bench = CoordinatorBench()
        bench.open()
        let next = Receipt(
            run: "r", store: 1, work: .copy(chunk: 1), attempt: "r-1-copy-1-1", epoch: 1,
            files: [], rows: 1, sums: [:], counts: [:])
        bench.large(
            accepted: [next],
            jobs: [
                .copy(chunk: 0): JobHistory(epoch: 1, attempts: 1, open: ["r-1-copy-0-1"]),
                .copy(chunk: 1): JobHistory(epoch: 1, attempts: 1),
            ], isRunning: true)
        bench.answer(.prepared(CoordinatorBench.chunks(31), .kept(steps: 0)))
        // Without slots one shard may wait for its merge; with one slot three may.
        bench.join("w")
        #expect(bench.order(.copy(chunk: 2)) != nil)
        bench.done(.copy(chunk: 2))
        #expect(bench.order(.copy(chunk: 3)) != nil)
    }

    /// Attempts that no present worker may repeat hold up no other job.
    @Test func unassignableJobsDoNotBlockOthers() {
        var bench = CoordinatorBench()
        bench.join("w")
        bench.open()
        let here = CoordinatorBench.plan(.whole)
        let far = StorePlan(
            shape: .whole, template: here.template, attempts: here.attempts, roots: ["far"])
        for number in 1...100 {
            bench.handle(
                .offered(
                    StoreOffer(
                        key: StoreKey(run: "r", number: number), bytes: 1000,
                        entry: .whole(number == 100 ? here : far), isRunning: true,
                        jobs: [
                            .whole: JobHistory(
                                epoch: 1, attempts: 1, open: ["r-\(number)-whole-1"])
                        ])))
        }
        for _ in 0..<12 { bench.wait(1000, beating: ["w"]) }
        #expect(bench.order(.whole, store: 100)?.attempt.id == "r-100-whole-2")
        #expect(bench.orders.count == 1)
    }

    @Test func aStoreThatEndsHasNoJobsThatWait() {
        var bench = CoordinatorBench()
        bench.join("w")
        bench.open()
        bench.large()
        bench.answer(.prepared(CoordinatorBench.chunks(31), .fresh(reason: nil)))
        bench.done(.copy(chunk: 0))
        bench.request(.cancel(run: "r"))
        let status = bench.machine.status(run: "r")
        #expect(status?.stores[.running] == 1)
        #expect(status?.jobs["unclaimed"] == nil && status?.jobs["running"] == nil)
        #expect(status?.waitingFor == nil)
    }

    @Test func chunksOfUnknownEngineAreNotGivenToAnother() {
        var bench = CoordinatorBench()
        bench.join("w", engine: "2")
        bench.open()
        bench.large(
            jobs: [.copy(chunk: 0): JobHistory(epoch: 1, attempts: 1, open: ["r-1-copy-0-1"])],
            isRunning: true)
        bench.answer(
            .prepared(CoordinatorBench.chunks(1, engine: nil), .kept(steps: 0)))
        bench.wait(10_000, beating: ["w"])
        #expect(bench.orders.isEmpty)
        bench.wait(25_000, beating: ["w"])
        #expect(bench.order(.copy(chunk: 0))?.attempt.epoch == 2)
    }
}
