import ClusterCore
import ClusterProtocol
import Jobs
import Testing

/// Whatever waits is told with its reason, and so is a worker that has nothing to do.
@Suite struct WaitingTests {
    private func run(_ bench: CoordinatorBench, _ name: String = "r") -> RunStatus? {
        bench.machine.report(run: name).runs.first
    }

    private func reason(_ bench: CoordinatorBench, _ name: String = "r") -> String? {
        run(bench, name)?.waitingFor
    }

    private func worker(_ bench: CoordinatorBench, _ name: String) -> String? {
        bench.machine.workerStatus.first { $0.name == name }?.reason
    }

    @Test func attemptsThatNobodyIsHeardOfWithAreToldApart() {
        let bench = UnclaimedTests.bench(31)
        #expect(run(bench)?.jobs == ["unclaimed": 1, "accepted": 3, "waiting": 27])
        let text = "1 job waits for a worker that is not heard of; its lease ends in 30 s"
        #expect(reason(bench) == text)
        #expect(worker(bench, "w") == "r: waits for the merge of earlier shards")
    }

    @Test func whatASilentWorkerHasIsUnclaimed() {
        var bench = CoordinatorBench { $0.speculation.isOn = false }
        bench.join("w", slots: 2)
        bench.open()
        bench.large()
        bench.answer(.prepared(CoordinatorBench.chunks(2), .fresh(reason: nil)))
        #expect(run(bench)?.jobs == ["running": 2])
        #expect(reason(bench) == nil)
        bench.wait(6000)
        #expect(run(bench)?.jobs == ["unclaimed": 2])
        #expect(
            reason(bench)
                == "2 jobs wait for a worker that is not heard of; their leases end in 24 s")
        #expect(worker(bench, "w") == "not heard of; its leases end in 24 s")
        bench.wait(24_000)
        #expect(
            bench.machine.waitingReason(of: StoreKey(run: "r", number: 1), .copy(chunk: 0))?
                .description
                == "waits before the next try after: "
                + "leaseExpired: no progress before its lease ended")
    }

    @Test func theRootThatIsMissingIsNamed() {
        var bench = CoordinatorBench()
        bench.open()
        bench.small(1...1)
        #expect(reason(bench) == "no worker is connected")
        bench.join("w", roots: ["a", "rum"])
        #expect(reason(bench) == "no worker with the root run; the nearest has the roots a, rum")
        #expect(worker(bench, "w") == "the jobs of r need the root run; it has the roots a, rum")
        bench.join("v", engine: "2")
        #expect(worker(bench, "v") == "engine 2; the jobs of r need engine 1")
        bench.join("u", isReady: false)
        #expect(reason(bench) == "no suitable worker takes jobs: 1 not ready")
        bench.request(.drain(worker: "u"))
        #expect(reason(bench) == "no suitable worker takes jobs: 1 draining")
        bench.join("t")
        #expect(worker(bench, "t") == nil)
        #expect(reason(bench) == nil)
        bench.done(.whole)
        bench.answerAll()
        #expect(worker(bench, "t") == "no job waits")
    }

    @Test func limitsAreToldWithWhatLiftsThem() {
        var bench = CoordinatorBench { $0.sharing.batchJobs = 1 }
        bench.join("w", slots: 4)
        bench.open(stores: 9, limits: RunLimits(jobs: 3))
        let jobs = { (run: String?, jobs: Int?) in
            ClientRequest.throttle(ThrottleSettings(run: run, bytesPerSecond: nil, jobs: jobs))
        }
        bench.request(jobs(nil, 1))
        bench.small(1...9, bytes: 5000)
        let all = "throttled to 1 job at a time, all runs together, until the throttle is lifted"
        #expect(reason(bench) == all)
        #expect(worker(bench, "w") == "r: \(all)")
        bench.request(jobs(nil, nil))
        #expect(reason(bench) == "the run's limit of 3 jobs at a time is reached")
        bench.request(jobs("r", 2))
        #expect(
            reason(bench) == "throttled to 2 jobs at a time of run r, until its throttle is lifted")
        bench.request(jobs("r", nil))
        for store in 1...3 { bench.done(.whole, store: store) }
        bench.request(.throttle(ThrottleSettings(run: nil, bytesPerSecond: 900, jobs: nil)))
        for store in 4...6 { bench.done(.whole, store: store) }
        #expect(
            reason(bench)
                == "throttled to 900 bytes a second, all runs together, until the throttle is "
                + "lifted"
        )
    }

    @Test func whatTheCoordinatorDoesItselfIsTold() {
        var bench = CoordinatorBench { $0.sharing.largeStores = 1 }
        bench.join("w")
        bench.open(stores: 2)
        bench.large(1)
        bench.large(2)
        #expect(worker(bench, "w") == "r: other stores come first")
        bench.answer(.prepared(CoordinatorBench.chunks(1), .fresh(reason: nil)))
        #expect(bench.order(.copy(chunk: 0)) != nil)
        bench.done(.copy(chunk: 0))
        // It merges, then indexes, then validates; nothing of that is for workers.
        for outcome in [TaskOutcome.stepped, .indexed, .validated] {
            let words = "the coordinator merges or checks other stores first"
            #expect(worker(bench, "w") == "r: \(words)", "before \(outcome)")
            #expect(reason(bench) == words)
            bench.answer(outcome)
        }
    }

    @Test(
        arguments: [
            (WaitingReason.throttled(run: "r", bytesPerSecond: 10 << 20), "to 10.0 MiB a second"),
            (.throttled(run: "r", bytesPerSecond: 1), "to 1 byte a second"),
            (.throttled(run: "r", bytesPerSecond: (1 << 20) - 1), "to 1.0 MiB a second"),
            (.throttled(run: "r", bytesPerSecond: .max), "to 8388608.0 TiB a second"),
        ])
    func amountsAreWords(reason: WaitingReason, text: String) {
        #expect(reason.description == "throttled \(text) of run r, until its throttle is lifted")
    }

    @Test func idleWorkersOfARunThatIsPausedSaySo() {
        var bench = CoordinatorBench()
        bench.join("w", slots: 2)
        bench.open(stores: 2)
        bench.request(.pause(run: "r"))
        bench.small(1...2)
        #expect(worker(bench, "w") == "r: paused on request")
    }

    @Test func restingTasksTellWhatTheyFailedFor() {
        var bench = CoordinatorBench()
        bench.join("w")
        bench.open()
        bench.large()
        bench.answer(.failed(.inputOutput, text: "the disk is away"))
        #expect(
            reason(bench)
                == "waits before the next try after: inputOutput: the disk is away")
    }
}
