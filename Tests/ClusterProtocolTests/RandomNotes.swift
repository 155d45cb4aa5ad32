import ClusterProtocol
import Jobs

extension RandomMessages {
    /// One note of every case, and a store's end in every state.
    mutating func notes() -> [Note] {
        workerNotes() + storeNotes() + runNotes() + [
            .denied(attempt: identifier(), pick(DenialReason.allCases)),
            .unexpected(text()), .broken(text()),
        ]
    }

    private mutating func workerNotes() -> [Note] {
        let changes: [Note.WorkerChange] = [
            .joined(slots: number(1...64)), .returned(attempts: number(0...64)),
            .refused(reason: text()), .silent, .drains, .quarantined(reason: text()),
            .left(reason: text()),
        ]
        return changes.map { .worker(name(), $0) }
    }

    private mutating func storeNotes() -> [Note] {
        var changes: [Note.StoreChange] = [
            .attemptFailed(attempt(), cause()), .leaseExpired(attempt()),
            .secondAttempt(attempt()), .accepted(work(), rows: amount(), bytes: amount()),
            .quarantined(work(), cause()), .stage(pick(Stage.allCases)),
        ]
        for state in StoreState.allCases {
            changes.append(.ended(state, maybe { $0.cause() }, isEarlier: pick([true, false])))
        }
        return changes.map {
            .store(StoreKey(run: identifier(), number: index()), file: maybe { $0.text() }, $0)
        }
    }

    private mutating func runNotes() -> [Note] {
        var changes: [Note.RunChange] = [
            .began, .resumed, .paused(.request), .paused(.space(text())),
            .paused(.stopped(text())), .stopped(reason: text()), .awaitsSwap(stores: index()),
            .filesLeftOut(count: index(), files: list(Note.mostFiles) { $0.text() }),
            .requestFailed(store: maybe { $0.index() }, text: text()),
            .reopened(stores: index()), .spaceUnknown(text()),
            .swapsDeferred(pick([true, false])), .nothingFailed, .nothingAwaitsSwap,
        ]
        changes += RunState.allCases.map { .ended($0) }
        return changes.map { .run(identifier(), $0) }
    }

    private mutating func attempt() -> Note.JobAttempt {
        Note.JobAttempt(work(), attempt: identifier(), worker: pick(["", name()]))
    }

    mutating func cause() -> FailureReason { FailureReason(pick(FailureCause.allCases), text()) }
}
