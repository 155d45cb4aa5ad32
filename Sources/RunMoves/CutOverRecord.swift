import CoreDataStore
import DurableFiles
import Foundation
import MigrationEngine
import MigrationPlans
import StateFolders
import StoreRuns
package import StoreSwap

/// How a result gets its name, as it is written to the ledger before anything moves.
package struct CutOverRecord: Codable {
    /// Where the result goes.
    package enum Way: Codable {
        /// Into the output folder, beside the untouched original.
        case publish(PublishPlan)
        /// Into the store's own place.
        case swap(SwapPlan)
    }

    let way: Way
    /// What the report says about the store; nil once it has moved and has a report.
    let result: StoreResult?
    /// Whether its worker alone validated the result; nil where that is not so, and in ledgers of
    /// versions that did not record it.
    let isTrusted: Bool?

    /// Reads the text that `text` wrote.
    ///
    /// - Throws: `RunError.engine` for a text of another version of the program.
    init(reading text: String) throws(RunError) {
        do {
            self = try JSONDecoder().decode(CutOverRecord.self, from: Data(text.utf8))
        } catch {
            throw .engine(.wrongPlan("a swap in the ledger cannot be read: \(error)"))
        }
    }

    /// JSON with sorted keys, from that of its parts: what a ledger says twice is encoded once.
    static func text(way: String, result: String?, isTrusted: Bool) -> String {
        (isTrusted ? "{\"isTrusted\":true," : "{") + (result.map { "\"result\":\($0)," } ?? "")
            + "\"way\":\(way)}"
    }
}
