import ClusterProtocol
import ClusterTables
import ClusterVocabulary

/// Where each worker stands, and why one with room gets no jobs.
struct WorkerSurvey {
    let snapshot: MachineSnapshot
    /// What waits in the open runs.
    let waits: [Int: RunWaits]

    private var machine: MachineState { _read { yield snapshot.state } }

    /// Where each worker stands, in the order in which they joined.
    var status: [WorkerStatus] {
        let waiting = machine.runs.open.compactMap { index -> Waiting? in
            guard let run = machine.runs[index], let waits = waits[index] else { return nil }
            return Waiting(run: run.name, waits: waits)
        }
        return machine.roster.workers.sorted { $0.key < $1.key }.map { index, worker in
            let running = worker.grants.reduce(0) { $0 + machine.attempts.held($1).count }
            return WorkerStatus(
                name: worker.name, host: worker.host, engine: worker.engine, slots: worker.slots,
                running: running, state: standing(worker.phase),
                reason: reason(of: worker, index, waiting))
        }
    }

    /// What waits in a run.
    private struct Waiting {
        let run: String
        let waits: RunWaits
    }

    private func standing(_ phase: WorkerPhase) -> WorkerStatus.State {
        switch phase {
        case .greeted, .ready: .active
        case .silent: .silent
        case .draining: .draining
        case .quarantined: .quarantined
        case .gone: .gone
        }
    }

    private func reason(of worker: WorkerState, _ index: Int, _ waiting: [Waiting]) -> IdleReason? {
        switch worker.phase {
        case .greeted: return .notReady
        case .silent: return silence(of: worker)
        case .draining:
            return machine.isSilent(worker) ? silence(of: worker) : .finishing
        case .quarantined: return worker.reason.map { .quarantined($0) }
        case .ready where machine.roster.awaitsChecks(worker):
            return .unchecked(jobs: worker.attempts)
        case .ready where machine.roster.hasRoom(index): return idleReason(of: worker, waiting)
        case .ready, .gone: return nil
        }
    }

    private func silence(of worker: WorkerState) -> IdleReason {
        let ends = worker.grants.compactMap { machine.attempts.grants[$0]?.deadline }.max()
        return .silent(seconds: ends.map { machine.seconds(until: $0) })
    }

    /// Why a worker with room gets nothing: of what it could do the first reason, else what it
    /// lacks for the rest; nil where it has jobs and no others wait.
    private func idleReason(of worker: WorkerState, _ waiting: [Waiting]) -> IdleReason? {
        var best: (run: String, reason: WaitingReason)?
        var others: (run: String, reason: WaitingReason)?
        var lacking: IdleReason?
        for one in waiting {
            for requirement in one.waits.requirements {
                if !machine.roster.fits(worker.kind, requirement) {
                    lacking = lacking ?? lack(of: worker, requirement, run: one.run)
                } else if let reason = one.waits[requirement], isFirst(reason, before: best?.reason)
                {
                    best = (one.run, reason)
                }
            }
            if let reason = one.waits[nil], isFirst(reason, before: others?.reason) {
                others = (one.run, reason)
            }
        }
        if let best { return .waits(run: best.run, best.reason) }
        if let lacking { return lacking }
        if let others { return .waits(run: others.run, others.reason) }
        return worker.grants.isEmpty ? .noJob : nil
    }

    private func isFirst(_ reason: WaitingReason, before other: WaitingReason?) -> Bool {
        other.map { reason.rank < $0.rank } ?? true
    }

    /// What a worker is without that jobs of a run need.
    private func lack(of worker: WorkerState, _ requirement: Int, run: String) -> IdleReason {
        let wanted = machine.roster.requirements[requirement]
        if let engine = wanted.engine, engine != worker.engine {
            return .otherEngine(worker.engine, run: run, needed: engine)
        }
        return .lacks(run: run, Shortage(of: wanted, in: machine.roster.classes[worker.kind]))
    }
}
