package import ClusterProtocol
import Jobs

// Where everything stands, for people.

extension CoordinatorMachine {
    /// Where the runs and the workers stand; O(stores and attempts in hand).
    ///
    /// Stores that never entered the machine are counted as `waiting` where they are to be
    /// offered; rates and the time that is left are the loop's, which keeps the history.
    ///
    /// - Parameter run: one run; nil takes all.
    /// - Returns: the report.
    package func report(run: String? = nil) -> StatusReport {
        let indexes = runs.keys.filter { run == nil || runs[$0]?.name == run }
        let waits = waits(of: Array(Set(indexes + openRuns)))
        return StatusReport(
            coordinator: settings.coordinator, engine: settings.engines?.sorted().first ?? "",
            runs: status(of: indexes, waits), workers: workerStatus(waits))
    }

    /// Where a run stands, without its workers; nil where it is not here.
    ///
    /// O(1) for one that is over.
    package func status(run: String) -> RunStatus? {
        guard let index = runIndexes[run] else { return nil }
        return status(of: [index], waits(of: [index])).first
    }

    /// What was written and read in each run so far.
    package var transfers: [(run: String, rows: Int64, bytes: Int64)] {
        runs.values.map { ($0.name, $0.rows, $0.bytes) }
    }

    /// Why a run was stopped, so that only a request lets it go on; nil where it was not.
    package func stopReason(run: String) -> String? {
        guard let index = runIndexes[run], case .stopped(let reason)? = runs[index]?.hold else {
            return nil
        }
        return reason
    }

    private func status(of indexes: [Int], _ waits: [Int: RunWaits]) -> [RunStatus] {
        var tallies: [Int: Tally] = [:]
        let counted = indexes.filter { (runs[$0]?.inside ?? 0) > 0 }
        if !counted.isEmpty {
            for index in counted { tallies[index] = Tally() }
            for store in stores.values where tallies[store.run] != nil {
                tallies[store.run]?.add(store) { isUnclaimed($0) }
            }
        }
        return indexes.compactMap { index in
            guard let run = runs[index] else { return nil }
            let tally = tallies[index] ?? Tally()
            var counts = run.ended
            counts[.running, default: 0] += tally.running
            counts[.waiting, default: 0] += run.toOffer + tally.waiting
            return RunStatus(
                run: run.name, state: state(run.phase), stores: counts.filter { $0.value > 0 },
                jobs: tally.jobs.filter { $0.value > 0 }, rows: run.rows, bytes: run.bytes,
                rowsPerSecond: 0, bytesPerSecond: 0, secondsLeft: nil,
                waitingFor: waits[index]?.first?.description)
        }
    }

    private func state(_ phase: RunPhase) -> RunState {
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

// MARK: - Checks

extension CoordinatorMachine {
    /// What does not hold although it must, for tests and simulations; empty where all is well.
    ///
    /// O(everything).
    package func check() -> [String] {
        var found = broken.map(\.description)
        for (id, attempt) in attempts {
            guard let job = stores[attempt.job.store]?.jobs[attempt.job.work] else {
                found.append("attempt \(id) has no job")
                continue
            }
            if !job.live.contains(id) { found.append("attempt \(id) is not its job's") }
            if attempt.epoch != job.epoch { found.append("attempt \(id) is of another epoch") }
            let isLeased = attempt.phase == .leased || attempt.phase == .unclaimed
            if isLeased != (grants[attempt.grant]?.attempts.contains(id) == true) {
                found.append("attempt \(id) and its lease disagree")
            }
        }
        var held: [Int: Int] = [:]
        for worker in attempts.values.compactMap(\.worker) { held[worker, default: 0] += 1 }
        for (index, worker) in roster.workers where worker.attempts != held[index] ?? 0 {
            found.append("\(worker.name) does not hold \(worker.attempts) attempts")
        }
        for (index, grant) in grants {
            if grant.attempts.isEmpty { found.append("lease \(index) is empty") }
            if let worker = grant.worker, roster[worker]?.grants.contains(index) != true {
                found.append("lease \(index) is not its worker's")
            }
            if !timers.contains(.lease(index)) {
                found.append("lease \(index) never ends")
            }
        }
        for store in stores.values { found += check(store) }
        for index in runs.keys { if let run = runs[index] { found += check(run, index) } }
        if !timers.isSound { found.append("the timers are out of order") }
        return found
    }

    private func check(_ store: StoreProgress) -> [String] {
        var found: [String] = []
        // Of a store that is about to end, jobs do not matter any more.
        for (work, job) in store.jobs where store.phase != .ending {
            let isLive = job.phase == .running || job.phase == .checking
            if isLive == job.live.isEmpty {
                found.append("\(store.key) \(work.name) is \(job.phase) with \(job.live)")
            }
            if job.live.count > 2 { found.append("\(store.key) \(work.name) runs too often") }
            if (job.phase == .accepted) != (job.accepted != nil) {
                found.append("\(store.key) \(work.name) is \(job.phase), accepted or not")
            }
        }
        guard store.phase != .ending else { return found }
        let live = store.jobs.values.reduce(0) { $0 + $1.live.count }
        if live != store.live.count { found.append("\(store.key) counts its attempts wrong") }
        return found
    }

    private func check(_ run: RunProgress, _ index: Int) -> [String] {
        var found: [String] = []
        let inside = stores.values.filter { $0.run == index }
        if inside.count != run.inside { found.append("\(run.name) counts its stores wrong") }
        let begun = inside.count { $0.phase != .waiting }
        if begun != run.begun {
            found.append("\(run.name) has \(begun) stores begun and counts \(run.begun)")
        }
        let running = attempts.values.count { attempt in
            stores[attempt.job.store]?.run == index && attempt.phase != .checking
        }
        if running != run.running {
            found.append("\(run.name) has \(running) attempts and counts \(run.running)")
        }
        let large = inside.count { $0.isLarge }
        if large != run.large { found.append("\(run.name) counts its large stores wrong") }
        return found
    }
}
