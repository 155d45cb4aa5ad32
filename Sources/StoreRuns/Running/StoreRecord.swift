import Foundation
import MigrationPlanning

/// What the ledger keeps of a store that came to its end, for reports.
package enum StoreRecord: Hashable, Sendable, Codable {
    case result(StoreResult)
    case failure(FailureCause)
    /// The store was of the destination's version already.
    case unchanged

    /// What the texts of stores that needed nothing begin with.
    static let beginningOfUnchanged = "{\"unchanged\""

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

    /// JSON with sorted keys.
    package func text() throws(RunError) -> String { try RecordedText.text(of: self) }
}
