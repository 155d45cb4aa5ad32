import ClusterProtocol
import ClusterVocabulary
import Jobs

/// Checks of what leaves the coordinator, at the moment at which it does.
extension WorldChecker {
    /// What a message says must be durable before it leaves.
    func check(_ message: CoordinatorMessage, to worker: Int) {
        let durable = world.ledger.durable
        switch message {
        case .jobs(let orders):
            for order in orders { check(order, to: worker) }
        case .committed(let attempt):
            if !durable.isAccepted(attempt: attempt) {
                world.fail(.ledgerFirst, "COMMITTED \(attempt) leaves before it is durable")
            }
        case .denied(let attempt, let reason):
            if durable.isAccepted(attempt: attempt), isWanted(attempt) {
                world.fail(.ledgerFirst, "\(attempt) is accepted and DENIED, reason \(reason)")
            }
        case .revoke(let attempt):
            if durable.isOpen(attempt: attempt) {
                world.fail(.ledgerFirst, "REVOKE \(attempt) leaves before its end is durable")
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
        guard let store = world.ledger.durable.attempts[attempt]?.job.store else { return false }
        return world.ledger.durable.stores[store]?.state != .cancelled
            && world.ledger.durable.runs[store.run]?.state != .cancelled
    }

    private func checkDropped(_ attempt: String) {
        guard let job = world.ledger.durable.attempts[attempt]?.job,
            world.ledger.durable.stores[job.store]?.isUnfinished == true,
            world.ledger.durable.runs[job.store.run]?.state != .cancelled
        else { return }
        world.fail(.ledgerFirst, "WELCOME drops \(attempt) before its end is durable")
    }

    private func check(_ order: JobOrder, to worker: Int) {
        let id = order.attempt.id
        guard let attempt = world.ledger.durable.attempts[id] else {
            return world.fail(.ledgerFirst, "JOB \(id) leaves before its attempt is durable")
        }
        let key = StoreKey(run: order.job.run, number: order.job.store)
        guard attempt.job == JobKey(store: key, work: order.job.work),
            attempt.epoch == order.attempt.epoch
        else { return world.fail(.ledgerFirst, "JOB \(id) is not as the ledger has it") }
        if world.ledger.durable.jobs[attempt.job]?.accepted != nil {
            world.fail(.acceptedNotRunAgain, "\(attempt.job) is accepted and sent again")
        }
        if order.job.engine != world.workers[worker].engine {
            world.fail(.oneEngine, "\(attempt.job) goes to \(world.workers[worker].engine)")
        }
        if let first = world.engines[key], first != order.job.engine,
            world.ledger.durable.stores[key]?.jobs.contains(where: { isAccepted($0) }) == true
        {
            world.fail(.oneEngine, "\(key) has results of \(first), \(id) is to be of another")
        }
        world.engines[key] = order.job.engine
    }

    private func isAccepted(_ job: JobKey) -> Bool {
        world.ledger.durable.jobs[job]?.accepted != nil
    }

    /// A task may only use what is durable.
    func check(_ task: CoordinatorTask) {
        switch task.kind {
        case .step(_, _, let shards):
            for receipt in shards {
                let job = JobKey(store: task.store, work: receipt.work)
                if world.ledger.durable.jobs[job]?.accepted != receipt {
                    let text = "\(task.store) merges \(receipt.attempt), not accepted by the ledger"
                    world.fail(.acceptedFilesOnly, text)
                }
            }
        case .swap:
            if world.ledger.durable.stores[task.store]?.isSwapIntended != true {
                world.fail(.ledgerFirst, "\(task.store) is swapped before its intention is durable")
            }
        case .prepare, .admit, .index, .validate, .keep: break
        }
    }
}
