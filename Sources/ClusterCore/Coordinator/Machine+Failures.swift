import ClusterProtocol
import Jobs

// How attempts end badly, and what becomes of their jobs.

extension CoordinatorMachine {
    /// A worker reports a failure; of attempts that have ended it changes nothing.
    mutating func fail(_ id: String, _ cause: Cause, from index: Int) {
        guard let attempt = attempts[id], let key = key(attempt.job.store) else { return }
        if attempt.phase == .unclaimed { bind(id, to: index) }
        guard attempts[id]?.worker == index, attempts[id]?.phase == .leased else { return }
        end(id, attempt, key, cause)
        judge(attempt.job, cause, worker: index)
    }

    /// What a worker delivered was not what its receipt says, or could not be taken.
    mutating func refuse(_ receipt: Receipt, _ reason: Cause) {
        guard let attempt = attempts[receipt.attempt], let key = key(attempt.job.store) else {
            return
        }
        let name = attempt.worker.flatMap { roster[$0]?.name } ?? attempt.name
        // Anything else is of the store, or of this side.
        let text =
            reason.code == .badDelivery
            ? "what worker \(name) delivered was not taken: \(reason.text)" : reason.text
        let cause = Cause(reason.code, text)
        end(receipt.attempt, attempt, key, cause)
        if let worker = attempt.worker {
            send(.denied(attempt: receipt.attempt, reason: .badReceipt), to: worker)
            note(.denied(attempt: receipt.attempt, .badReceipt))
        }
        judge(attempt.job, cause, worker: attempt.worker)
    }

    private mutating func end(
        _ id: String, _ attempt: AttemptState, _ key: StoreKey, _ cause: Cause
    ) {
        record(.attemptFailed(key, attempt: id, cause))
        note(.store(key, .attemptFailed(noted(id, attempt), cause)))
        drop(id)
    }

    /// An attempt as notes name it.
    private func noted(_ id: String, _ attempt: AttemptState) -> Note.JobAttempt {
        Note.JobAttempt(
            attempt.job.work, attempt: id,
            worker: attempt.worker.flatMap { roster[$0]?.name } ?? "")
    }

    /// Ends a lease from this side.
    ///
    /// The fence rises, unless another attempt of the job holds a
    /// lease: then this one alone is over.
    mutating func revoke(_ id: String, _ cause: Cause, tellsWorker: Bool) {
        guard let attempt = attempts[id], let key = key(attempt.job.store) else { return }
        let work = attempt.job.work
        record(.attemptFailed(key, attempt: id, cause))
        drop(id)
        if let job = stores[attempt.job.store]?.jobs[work], job.live.isEmpty {
            stores[attempt.job.store]?.jobs[work]?.epoch += 1
            record(.epochRaised(key, work, to: job.epoch + 1))
        }
        if tellsWorker, let worker = attempt.worker { send(.revoke(attempt: id), to: worker) }
        note(.store(key, .leaseExpired(noted(id, attempt))))
        judge(attempt.job, cause, worker: attempt.worker)
    }

    /// Counts a failure and does what its code asks for.
    private mutating func judge(_ id: JobID, _ cause: Cause, worker: Int?) {
        guard var job = stores[id.store]?.jobs[id.work], let run = stores[id.store]?.run else {
            return
        }
        let name = worker.flatMap { roster[$0]?.name }
        let verdict = policy.count(cause, on: name, &job)
        stores[id.store]?.jobs[id.work] = job
        switch cause.code.decision {
        case .quarantineWorker: if let worker { quarantine(worker, cause.text) }
        case .pause: hold(run, .space(cause.text))
        case .stopRun: hold(run, .stopped(cause.text))
        case .planAgain: return replan(id.store, cause)
        case .retry, .quarantineChunk, .nothing: break
        }
        guard job.live.isEmpty else {
            // Another attempt goes on; one that is being checked stays so.
            if job.phase == .checking, !job.live.contains(where: { isChecking($0) }) {
                move(job: id, to: .running)
            }
            return
        }
        switch verdict {
        case .again:
            move(job: id, to: .ready)
            putBack(id, avoiding: job.failedOn)
        case .later(let tries): rest(id, tries: tries, after: cause)
        case .quarantine: quarantine(id, job.cause ?? cause)
        }
    }

    private func isChecking(_ id: String) -> Bool { attempts[id]?.phase == .checking }

    private mutating func rest(_ id: JobID, tries: Int, after cause: Cause) {
        guard let key = key(id.store) else { return }
        let wait = jitter.wait(
            settings.backoff, tries: tries, for: "\(key) \(id.work.name)")
        move(job: id, to: .resting)
        stores[id.store]?.jobs[id.work]?.restsUntil = now.adding(wait)
        stores[id.store]?.jobs[id.work]?.restsAfter = cause
        set(.rest(id), after: wait)
        refresh(id.store)
    }

    mutating func endRest(_ id: JobID) {
        guard let job = stores[id.store]?.jobs[id.work], job.phase == .resting else { return }
        stores[id.store]?.jobs[id.work]?.restsUntil = nil
        stores[id.store]?.jobs[id.work]?.restsAfter = nil
        move(job: id, to: .ready)
        putBack(id, avoiding: job.failedOn)
    }

    /// Lets a job be handed out again, at first to workers on which it did not fail.
    mutating func putBack(_ id: JobID, avoiding workers: [String]) {
        let others = roster.activeCount > workers.count ? workers : []
        stores[id.store]?.withStage(of: id.work) {
            $0.putBack(StoreProgress.number(of: id.work), avoiding: others)
        }
        if !others.isEmpty { set(.openToAll(id), after: settings.backoff.first * 4) }
        if let store = stores[id.store], store.isWhole { queueSmall(id.store) }
        refresh(id.store)
    }

    private mutating func quarantine(_ id: JobID, _ cause: Cause) {
        guard let key = key(id.store) else { return }
        move(job: id, to: .quarantined)
        stores[id.store]?.withStage(of: id.work) { $0.quarantined += 1 }
        stores[id.store]?.jobs[id.work]?.cause = cause
        if stores[id.store]?.end == nil {
            stores[id.store]?.end = StoreEnd(state: .failed, cause: cause)
        }
        record(.jobQuarantined(key, id.work, cause))
        note(.store(key, .quarantined(id.work, cause)))
        advance(id.store)
    }
}
