import ClusterProtocol
import Jobs

// How attempts end well.

extension CoordinatorMachine {
    /// A worker delivers; a repeated delivery changes nothing.
    mutating func deliver(_ receipt: Receipt, from index: Int) {
        let id = receipt.attempt
        guard let attempt = attempts[id] else { return deliverLate(receipt, from: index) }
        if attempt.phase == .unclaimed { bind(id, to: index) }
        if attempt.phase == .checking { return rebind(id, to: index) }
        guard attempt.worker == nil || attempt.worker == index else {
            return deny(receipt, .unknownAttempt, index)
        }
        guard attempt.job.work == receipt.work, attempt.epoch == receipt.epoch,
            key(attempt.job.store) == StoreKey(run: receipt.run, number: receipt.store)
        else {
            deny(receipt, .badReceipt, index)
            return fail(id, Cause(.inputOutput, "its receipt is another job's"), from: index)
        }
        // Of a small store also the report that nothing was to be done is checked.
        let isChecked =
            receipt.work == .whole || (settings.admitsShards && !receipt.files.isEmpty)
        guard isChecked else { return accept(receipt) }
        leaveGrant(id)
        move(attempt: id, to: .checking)
        move(job: attempt.job, to: .checking)
        ask(.admit(receipt), attempt.job.store)
    }

    /// A delivery of an attempt that has ended, or that is not known yet.
    private mutating func deliverLate(_ receipt: Receipt, from index: Int) {
        let key = StoreKey(run: receipt.run, number: receipt.store)
        guard let store = storeIndexes[key] else { return deliverElsewhere(receipt, key, index) }
        guard let progress = stores[store] else { return }
        // Nothing is known of its jobs before it is planned; the worker says it again.
        if progress.planned == nil || progress.phase == .preparing {
            if progress.known.contains(where: { $0.attempt == receipt.attempt }) {
                send(.committed(attempt: receipt.attempt), to: index)
            }
            return
        }
        guard let job = progress.jobs[receipt.work] else {
            return deny(receipt, .unknownAttempt, index)
        }
        if job.accepted == receipt.attempt {
            return send(.committed(attempt: receipt.attempt), to: index)
        }
        if job.accepted != nil {
            return deny(receipt, .alreadyAccepted, index)
        }
        if receipt.epoch < job.epoch { return deny(receipt, .staleEpoch, index) }
        deny(receipt, .unknownAttempt, index)
    }

    /// A delivery for a store that is not here: the ledger has to be asked.
    private mutating func deliverElsewhere(_ receipt: Receipt, _ key: StoreKey, _ index: Int) {
        if let run = runIndexes[key.run], runs[run]?.phase == .cancelled {
            return deny(receipt, .unknownAttempt, index)
        }
        if parked[key] == nil { out.lookups.append(.store(key)) }
        let known = Parked(worker: index, attempt: receipt.attempt, epoch: receipt.epoch)
        if parked[key]?.contains(known) != true { parked[key, default: []].append(known) }
    }

    private mutating func deny(_ receipt: Receipt, _ reason: DenialReason, _ index: Int) {
        send(.denied(attempt: receipt.attempt, reason: reason), to: index)
        note(.denied(attempt: receipt.attempt, reason))
    }

    /// The receipt goes into the ledger, and its attempt is the job's only one from here on.
    mutating func accept(_ receipt: Receipt) {
        guard let attempt = attempts[receipt.attempt] else { return }
        let job = stores[attempt.job.store]?.jobs[attempt.job.work]
        let isFirst =
            job?.accepted == nil && job?.epoch == receipt.epoch
            && job?.live.contains(receipt.attempt) == true
        guard
            holds(
                isFirst, .acceptedOnce, run: stores[attempt.job.store]?.run,
                "\(receipt.attempt) of epoch \(receipt.epoch)")
        else {
            if let worker = attempt.worker { deny(receipt, .unknownAttempt, worker) }
            return drop(receipt.attempt)
        }
        record(.accepted(receipt))
        if let worker = attempt.worker {
            send(.committed(attempt: receipt.attempt), to: worker)
            roster.countAccepted(worker)
        }
        measure(attempt)
        drop(receipt.attempt)
        settle(receipt, attempt.job, winner: attempt.worker)
    }

    /// What follows from an acceptance.
    private mutating func settle(_ receipt: Receipt, _ id: JobID, winner: Int?) {
        guard let job = stores[id.store]?.jobs[id.work], let key = key(id.store) else { return }
        for loser in job.live {
            let worker = attempts[loser]?.worker
            record(
                .attemptFailed(
                    key, attempt: loser, Cause(.cancelled, "another attempt was accepted first")))
            drop(loser)
            if let worker { send(.revoke(attempt: loser), to: worker) }
        }
        move(job: id, to: .accepted)
        stores[id.store]?.keep(receipt)
        if let run = stores[id.store]?.run { runs[run]?.isShortOfSpace = false }
        let name = winner.flatMap { roster[$0]?.name }
        for failed in job.failedOn where failed != name { blame(failed) }
        let bytes = receipt.files.reduce(Int64(0)) { $0.addingReportingOverflow($1.bytes).0 }
        if let run = stores[id.store]?.run {
            runs[run]?.count(rows: receipt.rows)
            runs[run]?.count(bytes: stores[id.store]?.jobBytes ?? 0)
        }
        note(.store(key, .accepted(id.work, rows: receipt.rows, bytes: bytes)))
        advance(id.store)
    }

    private mutating func measure(_ attempt: AttemptState) {
        let time = now.since(attempt.began)
        guard let store = stores[attempt.job.store] else { return }
        if store.isWhole {
            runs[store.run]?.spent.add(time)
        } else {
            stores[attempt.job.store]?.spent.add(time)
        }
    }
}

// MARK: - Leases

extension CoordinatorMachine {
    mutating func renew(_ id: String, _ rows: Int64, _ bytes: Int64, _ index: Int) {
        guard let attempt = attempts[id], attempt.worker == index, attempt.phase == .leased
        else { return }
        attempts[id]?.rows = rows
        attempts[id]?.bytes = bytes
        renew(grant: attempt.grant)
    }

    /// Gives a lease its full term.
    mutating func renew(grant: Int) {
        grants[grant]?.deadline = now.adding(Int64(settings.lease))
    }

    /// Begins a lease of its full term.
    mutating func lease(_ attempts: [String], to worker: Int?) -> Int {
        let index = nextIndex
        nextIndex += 1
        let end = now.adding(Int64(settings.lease))
        grants[index] = Grant(worker: worker, attempts: attempts, deadline: end)
        timers.set(.lease(index), end)
        if let worker { roster.update(worker) { $0.grants.insert(index) } }
        return index
    }

    /// Gives an attempt of an earlier start to the worker that came back with it.
    mutating func bind(_ id: String, to worker: Int) {
        guard let attempt = attempts[id], attempt.phase == .unclaimed else { return }
        move(attempt: id, to: .leased)
        attempts[id]?.worker = worker
        attempts[id]?.name = roster[worker]?.name ?? ""
        grants[attempt.grant]?.worker = worker
        roster.update(worker) {
            $0.grants.insert(attempt.grant)
            $0.attempts += 1
        }
        renew(grant: attempt.grant)
        // It goes on, and counts as slow by its time alone.
        slow.remove(id)
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
        attempts[id]?.worker = worker
    }

    mutating func checkLease(_ grant: Int) {
        guard let deadline = grants[grant]?.deadline else { return }
        if deadline <= now { expire(grant) } else { timers.set(.lease(grant), deadline) }
    }

    mutating func expire(_ grant: Int) {
        for attempt in grants[grant]?.attempts ?? [] {
            revoke(
                attempt, Cause(.leaseExpired, "no progress before its lease ended"),
                tellsWorker: true)
        }
    }

    /// Takes an attempt off its lease; the last one of a batch frees the slot.
    mutating func leaveGrant(_ id: String) {
        guard let attempt = attempts[id], attempt.phase == .leased || attempt.phase == .unclaimed
        else { return }
        timers.remove(.slow(id))
        slow.remove(id)
        if let run = stores[attempt.job.store]?.run { runs[run]?.running -= 1 }
        grants[attempt.grant]?.attempts.removeAll { $0 == id }
        guard grants[attempt.grant]?.attempts.isEmpty == true else {
            // The next one of the batch begins.
            return renew(grant: attempt.grant)
        }
        grants[attempt.grant] = nil
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
        attempts[id] = nil
        stores[attempt.job.store]?.live.remove(id)
        stores[attempt.job.store]?.jobs[attempt.job.work]?.live.removeAll { $0 == id }
    }
}
