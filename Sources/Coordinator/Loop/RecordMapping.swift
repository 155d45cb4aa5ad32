import ClusterVocabulary
import Jobs
import RunLedger
import StateFolders
import StoreRuns

/// Turns what the machine says must be durable into records of the ledger.
///
/// It keeps what the ledger's records need beyond the machine's: wall times, and the states of
/// runs, so that none is told what it is already.
struct RecordMapping {
    private let bootIdentifier: String
    private let wallTime: @Sendable () -> Int64
    private var states: [String: RunState] = [:]

    init(bootIdentifier: String, wallTime: @escaping @Sendable () -> Int64) {
        self.bootIdentifier = bootIdentifier
        self.wallTime = wallTime
    }

    /// Learns in which state the ledger has a run.
    mutating func learn(_ state: RunState, of run: String) { states[run] = state }

    /// Lets go of a run that the machine does not have any more.
    mutating func forget(_ run: String) { states[run] = nil }

    /// The records of one of the machine's; none where the ledger knows it already.
    ///
    /// - Throws: `RunError` where a report has no text.
    mutating func records(of record: CoordinatorRecord) throws(RunError) -> [LedgerRecord] {
        let at = wallTime()
        switch record {
        case .runChanged(let run, let next, let reason):
            return change(run, to: next, reason, at)
        case .storePrepared(let key, let plan):
            return preparation(of: plan).map {
                [.storePrepared(run: key.run, store: key.number, $0)]
            } ?? []
        case .storeChanged(let key, let next, let cause):
            return try change(key, next, cause, at)
        case .progressReset(let key, let reason):
            return [.progressReset(run: key.run, store: key.number, reason: reason, at: at)]
        case .attemptBegan(let key, let work, let attempt, let epoch, let worker):
            return [
                .attemptBegan(
                    run: key.run, store: key.number, work: work, attempt: attempt, epoch: epoch,
                    at: at, worker: worker)
            ]
        case .accepted(let receipt): return [.accepted(receipt, at: at)]
        case .attemptFailed(let key, let attempt, let reason):
            return [.attemptFailed(run: key.run, attempt: attempt, reason, at: at)]
        case .epochRaised(let key, let work, let epoch):
            return [.epochRaised(run: key.run, store: key.number, work: work, to: epoch)]
        case .jobQuarantined(let key, let work, let reason):
            return [.jobGivenUp(run: key.run, store: key.number, work: work, reason)]
        case .workerQuarantined(let worker, let reason):
            // It holds for this start alone; each run that is at work shows it.
            return states.filter { $0.value == .open }.keys.sorted().map { run in
                .note(
                    run: run, store: nil, kind: "worker-quarantined",
                    text: "\(worker): \(reason)", at: at)
            }
        case .swapIntended:
            // The task writes down every name before it moves a file (`CutOverRecord`).
            return []
        }
    }

    /// The record of a run's new state; none where it has that, or cannot come to it.
    mutating func change(
        _ run: String, to state: RunState, _ reason: RunReason, _ at: Int64
    ) -> [LedgerRecord] {
        if let known = states[run], !known.canBecome(state) { return [] }
        states[run] = state
        return [.runChanged(run: run, state, reason, at: at)]
    }

    private mutating func change(
        _ key: StoreKey, _ next: StoreState, _ reason: FailureReason?, _ at: Int64
    ) throws(RunError) -> [LedgerRecord] {
        var records: [LedgerRecord] = [
            .storeChanged(run: key.run, store: key.number, next, reason: reason, at: at)
        ]
        if next == .failed, let reason {
            records.append(
                try StoreRecord.failure(reason.cause).record(run: key.run, store: key.number))
        }
        if next == .failed || next == .cancelled {
            records.append(.released(run: key.run, store: key.number))
        }
        return records
    }

    /// What the ledger keeps of a plan; a store of one job is planned by its worker.
    private func preparation(of plan: StorePlan) -> Preparation? {
        guard case .partitioned(let steps) = plan.shape, let engine = plan.template.engine else {
            return nil
        }
        var (chunks, links) = (0, 0)
        for step in steps {
            switch step {
            case .append: chunks += 1
            case .merge(let range): chunks += range.count
            case .link: links += 1
            }
        }
        return Preparation(
            sourceFingerprint: plan.template.sourceFingerprint,
            planDigest: plan.template.planDigest, engine: engine,
            hasSnapshot: plan.hasSnapshot, bootIdentifier: bootIdentifier, chunks: chunks,
            linkChunks: links)
    }
}
