import ClusterTables
import ClusterVocabulary
import Jobs

/// What does not hold in a machine although it must, for tests and simulations.
struct MachineAudit {
    let machine: MachineState

    /// A sentence for each thing; empty where all is well.
    ///
    /// O(everything).
    var findings: [String] {
        var found = machine.faults.broken.map(\.description)
        found += attemptFindings + leaseFindings
        for store in machine.stores.values { found += check(store) }
        for index in machine.runs.keys {
            if let run = machine.runs[index] { found += check(run, index) }
        }
        if !machine.timers.isSound { found.append("the timers are out of order") }
        return found
    }

    private var attemptFindings: [String] {
        var found: [String] = []
        for (id, attempt) in machine.attempts.all {
            guard let job = machine.stores[attempt.job.store]?.jobs[attempt.job.work] else {
                found.append("attempt \(id) has no job")
                continue
            }
            if !job.live.contains(id) { found.append("attempt \(id) is not its job's") }
            if attempt.epoch != job.epoch { found.append("attempt \(id) is of another epoch") }
            let isLeased = attempt.phase == .leased || attempt.phase == .unclaimed
            if isLeased != machine.attempts.held(attempt.grant).contains(id) {
                found.append("attempt \(id) and its lease disagree")
            }
        }
        return found
    }

    private var leaseFindings: [String] {
        var found: [String] = []
        var held: [Int: Int] = [:]
        for worker in machine.attempts.all.values.compactMap(\.worker) {
            held[worker, default: 0] += 1
        }
        for (index, worker) in machine.roster.workers where worker.attempts != held[index] ?? 0 {
            found.append("\(worker.name) does not hold \(worker.attempts) attempts")
        }
        for (index, grant) in machine.attempts.grants {
            if grant.attempts.isEmpty { found.append("lease \(index) is empty") }
            if let worker = grant.worker, machine.roster[worker]?.grants.contains(index) != true {
                found.append("lease \(index) is not its worker's")
            }
            if !machine.timers.contains(.lease(index)) {
                found.append("lease \(index) never ends")
            }
        }
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
        let inside = machine.stores.values.filter { $0.run == index }
        if inside.count != run.inside { found.append("\(run.name) counts its stores wrong") }
        let begun = inside.count { $0.phase != .waiting }
        if begun != run.begun {
            found.append("\(run.name) has \(begun) stores begun and counts \(run.begun)")
        }
        let running = machine.attempts.all.values.count { attempt in
            machine.stores[attempt.job.store]?.run == index && attempt.phase != .checking
        }
        if running != run.running {
            found.append("\(run.name) has \(running) attempts and counts \(run.running)")
        }
        let large = inside.count { $0.isLarge }
        if large != run.large { found.append("\(run.name) counts its large stores wrong") }
        return found
    }
}
