import ClusterProtocol
import Jobs

extension RandomMessages {
    /// A report for every reason for which a run waits, and for every one of a worker.
    mutating func reasonReports() -> [StatusReport] {
        waitingReasons().map { report(runs: [run($0)], workers: []) }
            + idleReasons().map { report(runs: [], workers: [worker($0)]) }
    }

    /// One of every case, those with a cause or a run also without.
    mutating func waitingReasons() -> [WaitingReason] {
        [
            .noWorker, .noReadyWorker(unready()), .noWorkerWithEngine(name()),
            .noSuitableWorker(shortage()), .unclaimed(jobs: index(), seconds: amount()),
            .allWorkersBusy, .backOff(seconds: amount(), cause()),
            .backOff(seconds: amount(), nil), .paused(.request), .paused(.space(text())),
            .paused(.stopped(text())), .behindOtherRuns, .storeLimit(index()), .jobLimit(index()),
            .throttledJobs(run: identifier(), index()), .throttledJobs(run: nil, index()),
            .throttled(run: identifier(), bytesPerSecond: amount()),
            .throttled(run: nil, bytesPerSecond: amount()), .behindOtherStores,
            .behindCoordinator, .merge, .quarantined(cause()), .quarantined(nil), .offers,
            .behindOtherTasks, .failedOnFreeWorkers, .noRoom(text()), .ledgerFull,
            .ledgerUnreadable,
        ] + WaitingReason.StoreStage.allCases.map { .stage($0) }
    }

    private mutating func idleReasons() -> [IdleReason] {
        [
            .notReady, .silent(seconds: amount()), .silent(seconds: nil), .finishing,
            .quarantined(text()), .unchecked(jobs: index()),
            .waits(run: identifier(), pick(waitingReasons())),
            .otherEngine(pick(["", name()]), run: identifier(), needed: name()),
            .lacks(run: identifier(), shortage()), .noJob,
        ]
    }

    private mutating func shortage() -> Shortage {
        Shortage(roots: names(), policies: names(), present: names())
    }

    private mutating func names() -> NameList { NameList(Set(list(12) { $0.name() })) }

    private mutating func unready() -> UnreadyWorkers {
        UnreadyWorkers(quarantined: index(), draining: index(), notReady: index())
    }

    mutating func run(_ reason: WaitingReason?) -> RunStatus {
        RunStatus(
            run: identifier(), state: pick(RunState.allCases), stores: states(), jobs: counts(),
            rows: amount(), bytes: amount(), rowsPerSecond: amount(), bytesPerSecond: amount(),
            secondsLeft: maybe { $0.amount() }, waitingFor: reason)
    }

    mutating func worker(_ reason: IdleReason?) -> WorkerStatus {
        WorkerStatus(
            name: name(), host: pick(["", "machine-2"]), engine: name(), slots: number(0...64),
            running: number(0...64), state: pick(WorkerStatus.State.allCases), reason: reason)
    }

    mutating func report(runs: [RunStatus], workers: [WorkerStatus]) -> StatusReport {
        StatusReport(coordinator: name(), engine: name(), runs: runs, workers: workers)
    }

    private mutating func states() -> [StoreState: Int] {
        var counts: [StoreState: Int] = [:]
        for state in StoreState.allCases where number(0...1) == 1 {
            counts[state] = number(0...100_000)
        }
        return counts
    }

    private mutating func counts() -> [String: Int] {
        var counts: [String: Int] = [:]
        for name in list(5, { $0.name() }) { counts[name] = number(0...100_000) }
        return counts
    }
}
