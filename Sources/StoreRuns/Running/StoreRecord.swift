import Foundation
package import Jobs
import MigrationPlans
package import RunLedger
package import StateFolders

/// What the ledger keeps of a store that came to its end, for reports.
package enum StoreRecord: Hashable, Sendable, Codable {
    case result(StoreResult)
    case failure(FailureCause)
    /// The store was of the destination's version already.
    case unchanged

    /// Reads the text that `text` wrote.
    ///
    /// - Throws: `RunError.engine` for a text of another version of the program.
    package init(reading text: String) throws(RunError) {
        do {
            self = try JSONDecoder().decode(StoreRecord.self, from: Data(text.utf8))
        } catch {
            throw .engine(.wrongPlan("a store's report in the ledger cannot be read: \(error)"))
        }
    }

    /// What the ledger takes: the outcome, and the rest as JSON with sorted keys.
    ///
    /// - Throws: `RunError.engine` where it has no JSON.
    package func record(run: String, store: Int) throws(RunError) -> LedgerRecord {
        .storeReport(run: run, store: store, outcome, try RecordedText.text(of: self))
    }

    /// What the ledger takes of a result whose JSON is there already.
    ///
    /// - Parameters:
    ///   - result: as `RecordedText` writes it.
    ///   - run: of the store.
    ///   - store: its number.
    /// - Returns: the same as that of `result`.
    package static func record(result: String, run: String, store: Int) -> LedgerRecord {
        .storeReport(run: run, store: store, .migrated, "{\"result\":{\"_0\":\(result)}}")
    }

    private var outcome: ReportedOutcome {
        switch self {
        case .result: .migrated
        case .failure: .failed
        case .unchanged: .unchanged
        }
    }
}
