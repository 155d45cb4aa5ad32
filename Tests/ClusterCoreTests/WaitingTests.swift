import ClusterCore
import ClusterProtocol
import ClusterVocabulary
import Jobs
import Testing

/// Whatever waits is told with its reason, and so is a worker that has nothing to do.
@Suite struct WaitingTests {
    private func run(_ bench: CoordinatorBench, _ name: String = "r") -> RunStatus? {
        bench.machine.report(run: name).runs.first
    }

    private func reason(_ bench: CoordinatorBench, _ name: String = "r") -> WaitingReason? {
        run(bench, name)?.waitingFor
    }

    private func worker(_ bench: CoordinatorBench, _ name: String) -> IdleReason? {
        bench.machine.workerStatus.first { $0.name == name }?.reason
    }

    @Test func attemptsThatNobodyIsHeardOfWithAreToldApart() {
        let bench = UnclaimedTests.bench(31)
        #expect(run(bench)?.jobs == ["unclaimed": 1, "accepted": 3, "waiting": 27])
        #expect(reason(bench) == .unclaimed(jobs: 1, seconds: 30))
        #expect(worker(bench, "w") == .waits(run: "r", .merge))
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
        #expect(reason(bench) == .unclaimed(jobs: 2, seconds: 24))
        #expect(worker(bench, "w") == .silent(seconds: 24))
        bench.wait(24_000)
        guard
            case .backOff(1..., let cause)? = bench.machine.waitingReason(
                of: StoreKey(run: "r", number: 1), .copy(chunk: 0))
        else {
            Issue.record("the job does not rest")
            return
        }
        #expect(cause == FailureReason(.leaseExpired, "no progress before its lease ended"))
    }

    @Test func theRootThatIsMissingIsNamed() {
        var bench = CoordinatorBench()
        bench.open()
        bench.small(1...1)
        #expect(reason(bench) == .noWorker)
        bench.join("w", roots: ["a", "rum"])
        let shortage = Shortage(
            roots: NameList(["run"]), policies: NameList([]), present: NameList(["a", "rum"]))
        #expect(reason(bench) == .noSuitableWorker(shortage))
        #expect(worker(bench, "w") == .lacks(run: "r", shortage))
        bench.join("v", engine: "2")
        #expect(worker(bench, "v") == .otherEngine("2", run: "r", needed: "1"))
        bench.join("u", isReady: false)
        #expect(reason(bench) == .noReadyWorker(UnreadyWorkers(notReady: 1)))
        bench.request(.drain(worker: "u"))
        #expect(reason(bench) == .noReadyWorker(UnreadyWorkers(draining: 1)))
        bench.join("t")
        #expect(worker(bench, "t") == nil)
        #expect(reason(bench) == nil)
        bench.done(.whole)
        bench.answerAll()
        #expect(worker(bench, "t") == .noJob)
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
        let all = WaitingReason.throttledJobs(run: nil, 1)
        #expect(reason(bench) == all)
        #expect(worker(bench, "w") == .waits(run: "r", all))
        bench.request(jobs(nil, nil))
        #expect(reason(bench) == .jobLimit(3))
        bench.request(jobs("r", 2))
        #expect(reason(bench) == .throttledJobs(run: "r", 2))
        bench.request(jobs("r", nil))
        for store in 1...3 { bench.done(.whole, store: store) }
        bench.request(.throttle(ThrottleSettings(run: nil, bytesPerSecond: 900, jobs: nil)))
        for store in 4...6 { bench.done(.whole, store: store) }
        #expect(reason(bench) == .throttled(run: nil, bytesPerSecond: 900))
    }

    @Test func whatTheCoordinatorDoesItselfIsTold() {
        var bench = CoordinatorBench { $0.sharing.largeStores = 1 }
        bench.join("w")
        bench.open(stores: 2)
        bench.large(1)
        bench.large(2)
        #expect(worker(bench, "w") == .waits(run: "r", .behindOtherStores))
        bench.answer(.prepared(CoordinatorBench.chunks(1), .fresh(reason: nil)))
        #expect(bench.order(.copy(chunk: 0)) != nil)
        bench.done(.copy(chunk: 0))
        // It merges, then indexes, then validates; nothing of that is for workers.
        for outcome in [TaskOutcome.stepped, .indexed, .validated] {
            let reason = WaitingReason.behindCoordinator
            #expect(worker(bench, "w") == .waits(run: "r", reason), "before \(outcome)")
            #expect(self.reason(bench) == reason)
            bench.answer(outcome)
        }
    }

    @Test func idleWorkersOfARunThatIsPausedSaySo() {
        var bench = CoordinatorBench()
        bench.join("w", slots: 2)
        bench.open(stores: 2)
        bench.request(.pause(run: "r"))
        bench.small(1...2)
        #expect(worker(bench, "w") == .waits(run: "r", .paused(.request)))
    }

    @Test func restingTasksTellWhatTheyFailedFor() {
        var bench = CoordinatorBench()
        bench.join("w")
        bench.open()
        bench.large()
        bench.answer(.failed(.inputOutput, text: "the disk is away"))
        guard case .backOff(1..., let cause)? = reason(bench) else {
            Issue.record("the task does not rest")
            return
        }
        #expect(cause == FailureReason(.inputOutput, "the disk is away"))
    }
}
