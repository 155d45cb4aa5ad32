import DurableFiles
import Jobs
import MigrationPlans
package import RunLedger
package import StateFolders
package import StoreRuns

/// Results that earlier runs of a request made in its output folder, and that still stand.
///
/// Without a look at them, the same command would find its own results in the way.
package final class EarlierResults {
    private let ledger: Ledger
    private let environment: RunEnvironment
    /// The newest first.
    private let runs: [RunOverview]
    private let request: RecordedRequest
    private let digest: String
    /// Of the request's results; nil until an earlier run's is looked at.
    private var resultDigest: String?
    /// By the runs' ids: reading a request is not cheap.
    private var alike: [String: Bool] = [:]

    /// - Parameters:
    ///   - request: of the new run.
    ///   - digest: the request's, which takes its time.
    ///   - ledger: with the runs.
    ///   - environment: whose files and clock count.
    /// - Throws: `RunError.ledger`.
    package init(
        of request: RecordedRequest, digest: String, in ledger: Ledger,
        environment: RunEnvironment
    ) throws(RunError) {
        self.ledger = ledger
        self.environment = environment
        self.request = request
        self.digest = digest
        runs =
            request.output == nil
            ? []
            : try RunError.ledger { () throws(LedgerError) in try ledger.runs() }
                .filter { !$0.state.isUnfinished }
    }

    /// Of what the request makes, whatever it refuses.
    private func ownResultDigest() throws(RunError) -> String {
        if let resultDigest { return resultDigest }
        let made = try request.resultDigest()
        resultDigest = made
        return made
    }

    /// Whether a run would give the same results, whatever it refuses.
    private func isAlike(_ run: RunOverview) -> Bool {
        if run.record.requestDigest == digest { return true }
        if let known = alike[run.id] { return known }
        let isAlike: Bool
        do throws(RunError) {
            let recorded = try RecordedRequest(reading: run.record.request)
            isAlike = try recorded.resultDigest() == ownResultDigest()
        } catch {
            // Another version of the program recorded it.
            isAlike = false
        }
        alike[run.id] = isAlike
        return isAlike
    }

    /// The records that a store is done, because an earlier run made its result, or that it
    /// failed, because the request refuses that result.
    ///
    /// The result must be the file that was published, with its external data, and the store must
    /// be as it was read then.
    ///
    /// - Parameters:
    ///   - store: of a new run.
    ///   - run: the new run's id.
    /// - Returns: nothing where the store is to be migrated.
    /// - Throws: `RunError` where the ledger cannot be read.
    /// - Complexity: without a file of the result's name, one look at the output folder.
    package func records(
        for store: FoundStore, of run: String
    ) throws(RunError) -> [LedgerRecord] {
        guard let output = store.output, !runs.isEmpty, isThere(output.database) else { return [] }
        for earlier in runs {
            guard
                let known = try read({ ledger throws(LedgerError) in
                    try ledger.store(run: earlier.id, path: store.path)
                }), known.state == .done, known.found.output == output, isAlike(earlier),
                let (plan, result) = try publication(of: known, in: earlier.id)
            else { continue }
            guard stands(plan, of: result.store) else { return [] }
            if let refusal = result.refusal(by: request.options) {
                return try refused(store, in: run, refusal, madeBy: earlier.id)
            }
            return try records(store, of: run, plan, result, madeBy: earlier.id)
        }
        return []
    }

    /// The records that a store failed: its result is there, and the request refuses it.
    private func refused(
        _ store: FoundStore, in run: String, _ refusal: EngineError, madeBy earlier: String
    ) throws(RunError) -> [LedgerRecord] {
        let error = RunError.engine(refusal)
        let reason = FailureReason(
            error.cause, "\(error). The run \(earlier) made the result, which stays.")
        let at = environment.wallTime()
        return [
            .storeChanged(run: run, store: store.number, .running, reason: nil, at: at),
            .storeChanged(run: run, store: store.number, .failed, reason: reason, at: at),
            try StoreRecord.failure(error.cause).record(run: run, store: store.number),
        ]
    }

    private func read<Result>(
        _ body: (Ledger) throws(LedgerError) -> Result
    ) throws(RunError) -> Result {
        try RunError.ledger { () throws(LedgerError) in try body(ledger) }
    }

    /// A file that cannot be looked at is in the way of a result, which says so.
    private func isThere(_ output: FilePath) -> Bool {
        do throws(DurableFileError) {
            return try FileStatus.ifPresentLink(output) != nil
        } catch {
            return false
        }
    }

    /// How a store got its result; nil where that was not by a publication.
    private func publication(
        of store: StoreSummary, in run: String
    ) throws(RunError) -> (PublishPlan, StoreResult)? {
        let (steps, text) = try read { ledger throws(LedgerError) in
            (
                try ledger.swapSteps(run: run, store: store.number),
                try ledger.storeReport(run: run, store: store.number)
            )
        }
        guard let last = steps.last(where: { $0.kind == .swap }), last.isDone,
            last.phase != .void, let text
        else { return nil }
        do throws(RunError) {
            guard case .publish(let plan) = try CutOverRecord(reading: last.detail).way,
                case .result(let result) = try StoreRecord(reading: text)
            else { return nil }
            return (plan, result)
        } catch {
            // Another version wrote it: the result is in the way, as one of another program.
            return nil
        }
    }

    private func stands(_ plan: PublishPlan, of store: FilePath) -> Bool {
        do throws(DurableFileError) {
            guard try plan.stands(environment.files) else { return false }
            return try plan.isUpToDate(store) ?? false
        } catch {
            return false
        }
    }

    private func records(
        _ store: FoundStore, of run: String, _ plan: PublishPlan, _ result: StoreResult,
        madeBy earlier: String
    ) throws(RunError) -> [LedgerRecord] {
        var result = result
        // They are of the run that made it.
        result.seconds = [:]
        // Of a result that several runs found, the one that made it is named.
        if !result.notes.contains(where: { $0.hasSuffix(Self.note) }) {
            result.notes.append("the run \(earlier) \(Self.note)")
        }
        let at = environment.wallTime()
        let move = SwapEntry(
            .swap, .done,
            detail: CutOverRecord.text(
                way: try RecordedText.text(of: CutOverRecord.Way.publish(plan)), result: nil,
                isTrusted: false))
        return [
            .storeChanged(run: run, store: store.number, .running, reason: nil, at: at),
            .swapStep(run: run, store: store.number, move),
            try StoreRecord.result(result).record(run: run, store: store.number),
            .storeChanged(run: run, store: store.number, .done, reason: nil, at: at),
        ]
    }

    private static let note =
        "made this result, and its store was not written since: it was not made again"
}
