import ClusterCore
import ClusterProtocol
import Jobs

/// Checks of what leaves the coordinator, at the moment at which it does.
extension World {
    /// What a message says must be durable before it leaves.
    func check(_ message: CoordinatorMessage, to worker: Int) {
        let durable = ledger.durable
        switch message {
        case .jobs(let orders):
            for order in orders { check(order, to: worker) }
        case .committed(let attempt):
            if !durable.isAccepted(attempt: attempt) {
                fail(.ledgerFirst, "COMMITTED \(attempt) leaves before it is durable")
            }
        case .denied(let attempt, let reason):
            if durable.isAccepted(attempt: attempt), isWanted(attempt) {
                fail(.ledgerFirst, "\(attempt) is accepted and DENIED, reason \(reason)")
            }
        case .revoke(let attempt):
            if durable.isOpen(attempt: attempt) {
                fail(.ledgerFirst, "REVOKE \(attempt) leaves before its end is durable")
            }
        case .welcome(let welcome):
            for attempt in welcome.drop where durable.isOpen(attempt: attempt) {
                checkDropped(attempt)
            }
        case .refused, .drain, .heartbeat, .bye: break
        }
    }

    /// Whether the attempt's store was not cancelled: a cancelled store needs no result.
    private func isWanted(_ attempt: String) -> Bool {
        guard let store = ledger.durable.attempts[attempt]?.job.store else { return false }
        return ledger.durable.stores[store]?.state != .cancelled
            && ledger.durable.runs[store.run]?.state != .cancelled
    }

    private func checkDropped(_ attempt: String) {
        guard let job = ledger.durable.attempts[attempt]?.job,
            ledger.durable.stores[job.store]?.isUnfinished == true,
            ledger.durable.runs[job.store.run]?.state != .cancelled
        else { return }
        fail(.ledgerFirst, "WELCOME drops \(attempt) before its end is durable")
    }

    private func check(_ order: JobOrder, to worker: Int) {
        let id = order.attempt.id
        guard let attempt = ledger.durable.attempts[id] else {
            return fail(.ledgerFirst, "JOB \(id) leaves before its attempt is durable")
        }
        let key = StoreKey(run: order.job.run, number: order.job.store)
        guard attempt.job == JobKey(store: key, work: order.job.work),
            attempt.epoch == order.attempt.epoch
        else { return fail(.ledgerFirst, "JOB \(id) is not as the ledger has it") }
        if ledger.durable.jobs[attempt.job]?.accepted != nil {
            fail(.acceptedNotRunAgain, "\(attempt.job) is accepted and sent again")
        }
        if order.job.engine != workers[worker].engine {
            fail(.oneEngine, "\(attempt.job) goes to \(workers[worker].engine)")
        }
        if let first = engines[key], first != order.job.engine,
            ledger.durable.stores[key]?.jobs.contains(where: { isAccepted($0) }) == true
        {
            fail(.oneEngine, "\(key) has results of \(first), \(id) is to be of another")
        }
        engines[key] = order.job.engine
    }

    private func isAccepted(_ job: JobKey) -> Bool {
        ledger.durable.jobs[job]?.accepted != nil
    }

    /// A task may only use what is durable.
    func check(_ task: CoordinatorTask) {
        switch task.kind {
        case .step(_, _, let shards):
            for receipt in shards {
                let job = JobKey(store: task.store, work: receipt.work)
                if ledger.durable.jobs[job]?.accepted != receipt {
                    let text = "\(task.store) merges \(receipt.attempt), not accepted by the ledger"
                    fail(.acceptedFilesOnly, text)
                }
            }
        case .swap:
            if ledger.durable.stores[task.store]?.isSwapIntended != true {
                fail(.ledgerFirst, "\(task.store) is swapped before its intention is durable")
            }
        case .prepare, .admit, .index, .validate, .keep: break
        }
    }
}
