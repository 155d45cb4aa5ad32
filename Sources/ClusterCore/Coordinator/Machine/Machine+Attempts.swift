import ClusterProtocol
import ClusterTables
import ClusterVocabulary
import Jobs

// How attempts end, and what becomes of their jobs.

// MARK: - Delivery

extension CoordinatorMachine {
    /// A worker delivers; a repeated delivery changes nothing.
    mutating func deliver(_ receipt: Receipt, from index: Int) {
        let id = receipt.attempt
        guard let attempt = state.attempts[id] else { return deliverLate(receipt, from: index) }
        if attempt.phase == .unclaimed { state.bind(id, to: index) }
        if attempt.phase == .checking { return state.rebind(id, to: index) }
        guard attempt.worker == nil || attempt.worker == index else {
            return deny(receipt, .unknownAttempt, index)
        }
        guard attempt.job.work == receipt.work, attempt.epoch == receipt.epoch,
            state.stores.key(attempt.job.store)
                == StoreKey(run: receipt.run, number: receipt.store)
        else {
            deny(receipt, .badReceipt, index)
            return fail(
                id, FailureReason(.inputOutput, "its receipt belongs to another job"), from: index)
        }
        // Of a small store also the report that nothing was to be done is checked.
        let isChecked =
            receipt.work == .whole || (state.settings.admitsShards && !receipt.files.isEmpty)
        guard isChecked else { return accept(receipt) }
        state.leaveGrant(id)
        state.move(attempt: id, to: .checking)
        state.move(job: attempt.job, to: .checking)
        state.ask(.admit(receipt), attempt.job.store)
    }

    /// A delivery of an attempt that has ended, or that is not known yet.
    private mutating func deliverLate(_ receipt: Receipt, from index: Int) {
        let key = StoreKey(run: receipt.run, number: receipt.store)
        guard let store = state.stores.index(of: key) else {
            return deliverElsewhere(receipt, key, index)
        }
        guard let progress = state.stores[store] else { return }
        // Nothing is known of its jobs before it is planned; the worker says it again.
        if progress.planned == nil || progress.phase == .preparing {
            if progress.known.contains(where: { $0.attempt == receipt.attempt }) {
                state.send(.committed(attempt: receipt.attempt), to: index)
            }
            return
        }
        guard let job = progress.jobs[receipt.work] else {
            return deny(receipt, .unknownAttempt, index)
        }
        if job.accepted == receipt.attempt {
            return state.send(.committed(attempt: receipt.attempt), to: index)
        }
        if job.accepted != nil {
            return deny(receipt, .alreadyAccepted, index)
        }
        if receipt.epoch < job.epoch { return deny(receipt, .staleEpoch, index) }
        deny(receipt, .unknownAttempt, index)
    }

    /// A delivery for a store that is not here: the ledger has to be asked.
    private mutating func deliverElsewhere(_ receipt: Receipt, _ key: StoreKey, _ index: Int) {
        if let run = state.runs.index(of: key.run), state.runs[run]?.phase == .cancelled {
            return deny(receipt, .unknownAttempt, index)
        }
        if state.stores.isUnknown(key) { state.out.lookups.append(.store(key)) }
        state.stores.park(
            StoreTable.Parked(worker: index, attempt: receipt.attempt, epoch: receipt.epoch),
            of: key)
    }

    private mutating func deny(_ receipt: Receipt, _ reason: DenialReason, _ index: Int) {
        state.send(.denied(attempt: receipt.attempt, reason: reason), to: index)
        state.note(.denied(attempt: receipt.attempt, reason))
    }

    /// The receipt goes into the ledger, and its attempt is the job's only one from here on.
    mutating func accept(_ receipt: Receipt) {
        guard let attempt = state.attempts[receipt.attempt] else { return }
        let job = state.stores[attempt.job.store]?.jobs[attempt.job.work]
        let isFirst =
            job?.accepted == nil && job?.epoch == receipt.epoch
            && job?.live.contains(receipt.attempt) == true
        guard
            state.holds(
                isFirst, .acceptedOnce, run: state.stores[attempt.job.store]?.run,
                "\(receipt.attempt) of epoch \(receipt.epoch)")
        else {
            if let worker = attempt.worker { deny(receipt, .unknownAttempt, worker) }
            return state.drop(receipt.attempt)
        }
        state.record(.accepted(receipt))
        if let worker = attempt.worker {
            state.send(.committed(attempt: receipt.attempt), to: worker)
            state.roster.countAccepted(worker)
        }
        measure(attempt)
        state.drop(receipt.attempt)
        settle(receipt, attempt.job, winner: attempt.worker)
    }

    /// What follows from an acceptance.
    private mutating func settle(_ receipt: Receipt, _ id: JobID, winner: Int?) {
        guard let job = state.stores[id.store]?.jobs[id.work],
            let key = state.stores.key(id.store)
        else { return }
        for loser in job.live {
            let worker = state.attempts[loser]?.worker
            state.record(
                .attemptFailed(
                    key, attempt: loser,
                    FailureReason(.stopped, "another attempt was accepted first")))
            state.drop(loser)
            if let worker { state.send(.revoke(attempt: loser), to: worker) }
        }
        state.move(job: id, to: .accepted)
        state.stores[id.store]?.keep(receipt)
        if let run = state.stores[id.store]?.run { state.runs[run]?.isShortOfSpace = false }
        let name = winner.flatMap { state.roster[$0]?.name }
        for failed in job.failedOn where failed != name { state.blame(failed) }
        let bytes = receipt.files.reduce(Int64(0)) { $0.addingReportingOverflow($1.bytes).0 }
        if let run = state.stores[id.store]?.run {
            state.runs[run]?.count(rows: receipt.rows)
            state.runs[run]?.count(bytes: state.stores[id.store]?.jobBytes ?? 0)
        }
        state.note(.store(key, .accepted(id.work, rows: receipt.rows, bytes: bytes)))
        advance(id.store)
    }

    private mutating func measure(_ attempt: AttemptState) {
        let time = state.now.since(attempt.began)
        guard let store = state.stores[attempt.job.store] else { return }
        if store.isWhole {
            state.runs[store.run]?.spent.add(time)
        } else {
            state.stores[attempt.job.store]?.spent.add(time)
        }
    }
}

// MARK: - Leases

extension CoordinatorMachine {
    /// Ends a lease whose time is up; one that was renewed is looked at again at its end.
    mutating func checkLease(_ grant: Int) {
        guard let deadline = state.attempts.grants[grant]?.deadline else { return }
        if deadline <= state.now {
            expire(grant)
        } else {
            state.timers.set(.lease(grant), deadline)
        }
    }

    /// Takes all attempts of a lease from their worker.
    mutating func expire(_ grant: Int) {
        for attempt in state.attempts.held(grant) {
            revoke(
                attempt, FailureReason(.leaseExpired, "no progress before its lease ended"),
                tellsWorker: true)
        }
    }

    /// Ends a lease from this side.
    ///
    /// The fence rises, unless another attempt of the job holds a lease: then this one alone is
    /// over.
    mutating func revoke(_ id: String, _ reason: FailureReason, tellsWorker: Bool) {
        guard let attempt = state.attempts[id], let key = state.stores.key(attempt.job.store)
        else { return }
        let work = attempt.job.work
        state.record(.attemptFailed(key, attempt: id, reason))
        state.drop(id)
        if let job = state.stores[attempt.job.store]?.jobs[work], job.live.isEmpty {
            state.stores[attempt.job.store]?.jobs[work]?.epoch += 1
            state.record(.epochRaised(key, work, to: job.epoch + 1))
        }
        if tellsWorker, let worker = attempt.worker {
            state.send(.revoke(attempt: id), to: worker)
        }
        state.note(.store(key, .leaseExpired(noted(id, attempt))))
        judge(attempt.job, reason, worker: attempt.worker)
    }
}

// MARK: - Failures

extension CoordinatorMachine {
    /// A worker reports a failure; of attempts that have ended it changes nothing.
    mutating func fail(_ id: String, _ reason: FailureReason, from index: Int) {
        guard let attempt = state.attempts[id], let key = state.stores.key(attempt.job.store)
        else { return }
        if attempt.phase == .unclaimed { state.bind(id, to: index) }
        guard state.attempts[id]?.worker == index, state.attempts[id]?.phase == .leased
        else { return }
        end(id, attempt, key, reason)
        judge(attempt.job, reason, worker: index)
    }

    /// What a worker delivered was not what its receipt says, or could not be taken.
    mutating func refuse(_ receipt: Receipt, _ reason: FailureReason) {
        guard let attempt = state.attempts[receipt.attempt],
            let key = state.stores.key(attempt.job.store)
        else { return }
        let name = attempt.worker.flatMap { state.roster[$0]?.name } ?? attempt.name
        // Anything else is of the store, or of this side.
        let text =
            reason.cause == .badDelivery
            ? "the delivery of worker \(name) was rejected: \(reason.text)" : reason.text
        let cause = FailureReason(reason.cause, text)
        end(receipt.attempt, attempt, key, cause)
        if let worker = attempt.worker {
            state.send(.denied(attempt: receipt.attempt, reason: .badReceipt), to: worker)
            state.note(.denied(attempt: receipt.attempt, .badReceipt))
        }
        judge(attempt.job, cause, worker: attempt.worker)
    }

    private mutating func end(
        _ id: String, _ attempt: AttemptState, _ key: StoreKey, _ reason: FailureReason
    ) {
        state.record(.attemptFailed(key, attempt: id, reason))
        state.note(.store(key, .attemptFailed(noted(id, attempt), reason)))
        state.drop(id)
    }

    /// An attempt as notes name it.
    private func noted(_ id: String, _ attempt: AttemptState) -> Note.JobAttempt {
        Note.JobAttempt(
            attempt.job.work, attempt: id,
            worker: attempt.worker.flatMap { state.roster[$0]?.name } ?? "")
    }

    /// Counts a failure and does what its code asks for.
    private mutating func judge(_ id: JobID, _ reason: FailureReason, worker: Int?) {
        guard var job = state.stores[id.store]?.jobs[id.work],
            let run = state.stores[id.store]?.run
        else { return }
        let name = worker.flatMap { state.roster[$0]?.name }
        let verdict = policy.count(reason, on: name, &job)
        state.stores[id.store]?.jobs[id.work] = job
        switch reason.decision {
        case .quarantineWorker: if let worker { state.quarantine(worker, reason.text) }
        case .pause: hold(run, .space(reason.text))
        case .stopRun: hold(run, .stopped(reason.text))
        case .planAgain: return replan(id.store, reason)
        case .retry, .quarantineChunk, .nothing: break
        }
        guard job.live.isEmpty else {
            // Another attempt goes on; one that is being checked stays so.
            if job.phase == .checking, !job.live.contains(where: { isChecking($0) }) {
                state.move(job: id, to: .running)
            }
            return
        }
        switch verdict {
        case .again:
            state.move(job: id, to: .ready)
            putBack(id, avoiding: job.failedOn)
        case .later(let tries): rest(id, tries: tries, after: reason)
        case .quarantine: quarantine(id, job.cause ?? reason)
        }
    }

    private func isChecking(_ id: String) -> Bool { state.attempts[id]?.phase == .checking }

    private mutating func rest(_ id: JobID, tries: Int, after reason: FailureReason) {
        guard let key = state.stores.key(id.store) else { return }
        let wait = state.jitter.wait(
            state.settings.backoff, tries: tries, for: "\(key) \(id.work.name)")
        state.move(job: id, to: .resting)
        state.stores[id.store]?.jobs[id.work]?.restsUntil = state.now.adding(wait)
        state.stores[id.store]?.jobs[id.work]?.restsAfter = reason
        state.set(.rest(id), after: wait)
        state.refresh(id.store)
    }

    /// The back-off of a job ends.
    mutating func endRest(_ id: JobID) {
        guard let job = state.stores[id.store]?.jobs[id.work], job.phase == .resting else { return }
        state.stores[id.store]?.jobs[id.work]?.restsUntil = nil
        state.stores[id.store]?.jobs[id.work]?.restsAfter = nil
        state.move(job: id, to: .ready)
        putBack(id, avoiding: job.failedOn)
    }

    /// Lets a job be handed out again, at first to workers on which it did not fail.
    mutating func putBack(_ id: JobID, avoiding workers: [String]) {
        let others = state.roster.activeCount > workers.count ? workers : []
        state.stores[id.store]?.withStage(of: id.work) {
            $0.putBack(StoreProgress.number(of: id.work), avoiding: others)
        }
        if !others.isEmpty { state.set(.openToAll(id), after: state.settings.backoff.first * 4) }
        if let store = state.stores[id.store], store.isWhole { state.queueSmall(id.store) }
        state.refresh(id.store)
    }

    private mutating func quarantine(_ id: JobID, _ reason: FailureReason) {
        guard let key = state.stores.key(id.store) else { return }
        state.move(job: id, to: .quarantined)
        state.stores[id.store]?.withStage(of: id.work) { $0.quarantined += 1 }
        state.stores[id.store]?.jobs[id.work]?.cause = reason
        if state.stores[id.store]?.end == nil {
            state.stores[id.store]?.end = StoreEnd(state: .failed, cause: reason)
        }
        state.record(.jobQuarantined(key, id.work, reason))
        state.note(.store(key, .quarantined(id.work, reason)))
        advance(id.store)
    }
}
