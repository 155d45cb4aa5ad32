import ClusterCore
import ClusterProtocol
import ClusterTables
import Jobs
import RunSupervision

/// How a simulation comes to its end: once faults stopped, every store ends; then the causes of
/// failures are repaired, what failed is done again, and every store must be done.
extension World {
    /// A client looks at the status; and whether the end was reached.
    func look() {
        statistics.statusChecks += 1
        // What is due comes before the answer, so that both see the same.
        if coordinator != nil { tell(.tick) }
        ask(.status(run: nil))
        guard violation == nil else { return }
        if phase == 1, haveAllRested {
            repair()
        } else if phase == 2, haveAllRested, restingText == nil {
            return finish()
        } else if phase == 2, haveAllRested {
            // A fault of before may show only now, such as a result that was spoiled.
            guard mendings < 4 else {
                return fail(.fleetEnds, "\(restingText ?? "") although its cause was repaired")
            }
            repair()
        }
        if phase > 0, now > phaseBegan + tuning.patience {
            return fail(.fleetEnds, "it takes too long: \(unfinishedText)")
        }
        let span = phase == 0 ? chance.span(500...6_000) : chance.span(2_000...10_000)
        queue.schedule(.look, at: now + span)
    }

    /// Whether no store is one that the machine still has work with, and its last words about
    /// them are durable.
    private var haveAllRested: Bool {
        guard let coordinator, coordinator.waiting.isEmpty, coordinator.supervisor.isIdle,
            coordinator.supervisor.runs.allSatisfy({ coordinator.machine.isOver(run: $0) })
        else { return false }
        return runs.allSatisfy { spec in
            spec.stores.allSatisfy { !isOffered($0, spec) || isGivenUp(spec) }
        }
    }

    /// Whether the run was cancelled.
    private func isGivenUp(_ spec: RunSpec) -> Bool {
        ledger.written.runs[spec.run]?.state == .cancelled
    }

    /// A store that rests without being done, for people; nil where all are done.
    private var restingText: String? {
        for spec in runs where !isGivenUp(spec) {
            for key in spec.stores {
                guard let facts = ledger.written.stores[key] else { continue }
                if facts.state != .done, facts.state != .cancelled {
                    return "\(key) is \(facts.state)"
                }
            }
        }
        return nil
    }

    /// Repairs what made stores fail, and asks for what is left to be done.
    private func repair() {
        note("causes are repaired")
        phase = 2
        mendings += 1
        for spec in runs {
            for key in spec.stores {
                stores[key]?.poison = []
                if ledger.written.stores[key]?.state == .failed { statistics.storesFailed += 1 }
            }
            guard !isGivenUp(spec) else { continue }
            let states = spec.stores.map { ledger.written.stores[$0]?.state }
            if states.contains(.failed) { ask(.replay(run: spec.run, store: nil)) }
            if states.contains(.validated) { ask(.swap(run: spec.run, store: nil)) }
        }
    }

    private func finish() {
        isOver = true
        if let supervisor = coordinator?.supervisor {
            statistics.transitions.add(supervisor.transitions)
        }
        checker.checkEnd()
        for spec in runs {
            for key in spec.stores where ledger.written.stores[key]?.state == .done {
                statistics.storesDone += 1
            }
        }
        note("the end")
    }
}
