import ClusterProtocol
import ClusterTables
import ClusterVocabulary
import Jobs

// How attempts are held by workers, and let go of.

extension MachineState {
    /// Begins a lease of its full term.
    mutating func lease(to worker: Int?) -> Int {
        let index = newIndex()
        let end = now.adding(Int64(settings.lease))
        attempts.beginLease(index, of: worker, until: end)
        timers.set(.lease(index), end)
        if let worker { roster.update(worker) { $0.grants.insert(index) } }
        return index
    }

    /// Gives a lease its full term, as a worker reports progress of one of its attempts.
    mutating func renew(_ id: String, _ rows: Int64, _ bytes: Int64, _ index: Int) {
        guard let attempt = attempts[id], attempt.worker == index, attempt.phase == .leased
        else { return }
        attempts.report(id, rows: rows, bytes: bytes)
        renew(grant: attempt.grant)
    }

    /// Gives a lease its full term.
    mutating func renew(grant: Int) {
        attempts.renewLease(grant, until: now.adding(Int64(settings.lease)))
    }

    /// Gives an attempt of an earlier start to the worker that came back with it.
    mutating func bind(_ id: String, to worker: Int) {
        guard let attempt = attempts[id], attempt.phase == .unclaimed else { return }
        move(attempt: id, to: .leased)
        attempts.claim(id, for: worker, named: roster[worker]?.name ?? "")
        roster.update(worker) {
            $0.grants.insert(attempt.grant)
            $0.attempts += 1
        }
        renew(grant: attempt.grant)
        // It goes on, and counts as slow by its time alone.
        attempts.removeSlow(id)
        if settings.speculation.isOn {
            set(.slow(id), after: max(1, settings.speculation.least))
        }
    }

    /// Lets the answer of a check go to the place that its worker has now: without leases it may
    /// have been forgotten meanwhile.
    mutating func rebind(_ id: String, to worker: Int) {
        guard let attempt = attempts[id], attempt.phase == .checking,
            attempt.name == roster[worker]?.name, attempt.worker != worker
        else { return }
        if let former = attempt.worker { roster.update(former) { $0.attempts -= 1 } }
        roster.update(worker) { $0.attempts += 1 }
        attempts.setWorker(worker, of: id)
    }

    /// Takes an attempt off its lease; the last one of a batch frees the slot.
    mutating func leaveGrant(_ id: String) {
        guard let attempt = attempts[id], attempt.phase == .leased || attempt.phase == .unclaimed
        else { return }
        timers.remove(.slow(id))
        attempts.removeSlow(id)
        if let run = stores[attempt.job.store]?.run { runs[run]?.running -= 1 }
        guard attempts.leaveLease(id, attempt.grant) else {
            // The next one of the batch begins.
            return renew(grant: attempt.grant)
        }
        timers.remove(.lease(attempt.grant))
        if let worker = attempt.worker {
            roster.update(worker) { $0.grants.remove(attempt.grant) }
        }
    }

    /// Forgets an attempt that has ended; records are the caller's.
    mutating func drop(_ id: String) {
        guard let attempt = attempts[id] else { return }
        // Single values, never the whole store: it would be copied when it is changed.
        let isListed =
            stores[attempt.job.store]?.live.contains(id) == true
            && stores[attempt.job.store]?.jobs[attempt.job.work]?.live.contains(id) == true
        _ = holds(isListed, .attemptOfJob, run: stores[attempt.job.store]?.run, id)
        leaveGrant(id)
        move(attempt: id, to: .ended)
        if let worker = attempts[id]?.worker { roster.update(worker) { $0.attempts -= 1 } }
        attempts.remove(id)
        stores[attempt.job.store]?.live.remove(id)
        stores[attempt.job.store]?.jobs[attempt.job.work]?.live.removeAll { $0 == id }
    }

    /// Stops all attempts of a store.
    mutating func cancelAttempts(_ index: Int) {
        guard let store = stores[index] else { return }
        for id in store.live.sorted() {
            guard let attempt = attempts[id] else { continue }
            record(
                .attemptFailed(
                    store.key, attempt: id, FailureReason(.stopped, "it is no longer needed")))
            drop(id)
            if let worker = attempt.worker { send(.revoke(attempt: id), to: worker) }
        }
    }
}
