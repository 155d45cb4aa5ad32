import ClusterProtocol
import ClusterTables
import ClusterVocabulary
import Jobs

/// Where the runs stand, for people.
struct StatusSurvey {
    let snapshot: MachineSnapshot

    private var machine: MachineState { _read { yield snapshot.state } }
    private var waits: WaitSurvey { WaitSurvey(snapshot: snapshot) }

    /// Runs and workers; O(stores and attempts in hand).
    ///
    /// - Parameter run: one run; nil takes all.
    /// - Returns: the report.
    func report(run: String?) -> StatusReport {
        let indexes = machine.runs.keys.filter { run == nil || machine.runs[$0]?.name == run }
        let waits = waits.waits(of: Array(Set(indexes + machine.runs.open)))
        return StatusReport(
            coordinator: machine.settings.coordinator,
            engine: machine.settings.engines?.sorted().first ?? "",
            runs: status(of: indexes, waits),
            workers: WorkerSurvey(snapshot: snapshot, waits: waits).status)
    }

    /// The workers alone.
    var workers: StatusReport {
        let waits = waits.waits(of: machine.runs.open)
        return StatusReport(
            coordinator: machine.settings.coordinator, engine: "", runs: [],
            workers: WorkerSurvey(snapshot: snapshot, waits: waits).status)
    }

    /// One run without its workers; nil where it is not here.
    ///
    /// O(1) for one that is over.
    func status(run name: String) -> RunStatus? {
        guard let index = machine.runs.index(of: name) else { return nil }
        return status(of: [index], waits.waits(of: [index])).first
    }

    private func status(of indexes: [Int], _ found: [Int: RunWaits]) -> [RunStatus] {
        var tallies: [Int: Tally] = [:]
        let counted = indexes.filter { (machine.runs[$0]?.inside ?? 0) > 0 }
        if !counted.isEmpty {
            for index in counted { tallies[index] = Tally() }
            for store in machine.stores.values where tallies[store.run] != nil {
                tallies[store.run]?.add(store) { waits.isUnclaimed($0) }
            }
        }
        return indexes.compactMap { index in
            guard let run = machine.runs[index] else { return nil }
            let tally = tallies[index] ?? Tally()
            var counts = run.ended
            counts[.running, default: 0] += tally.running
            counts[.waiting, default: 0] += run.toOffer + tally.waiting
            return RunStatus(
                run: run.name, state: standing(run.phase), stores: counts.filter { $0.value > 0 },
                jobs: tally.jobs.filter { $0.value > 0 }, rows: run.rows, bytes: run.bytes,
                rowsPerSecond: 0, bytesPerSecond: 0, secondsLeft: nil,
                waitingFor: found[index]?.first)
        }
    }

    private func standing(_ phase: RunPhase) -> RunState {
        switch phase {
        case .queued, .open: .open
        case .paused: .paused
        case .ended: .ended
        case .cancelled: .cancelled
        }
    }
}

/// Stores in hand of a run, and their jobs by state.
private struct Tally {
    var waiting = 0
    var running = 0
    var jobs: [String: Int] = [:]

    mutating func add(_ store: StoreProgress, isUnclaimed: (JobState) -> Bool) {
        if store.phase == .waiting { waiting += 1 } else { running += 1 }
        // Of a store that ends no job counts any more.
        if store.phase == .ending { return }
        for job in store.jobs.values {
            let word = isUnclaimed(job) ? "\(AttemptPhase.unclaimed)" : "\(job.phase)"
            jobs[word, default: 0] += 1
        }
        let all = store.isWhole ? 1 : store.copies.count + store.links.count
        jobs["waiting", default: 0] += max(0, all - store.jobs.count)
    }
}
