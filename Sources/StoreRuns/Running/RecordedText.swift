import Foundation
import MigrationEngine
import MigrationPlans
package import StateFolders

/// Values as texts of the ledger.
package enum RecordedText {
    /// JSON with sorted keys.
    package static func text(of value: some Encodable) throws(RunError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return String(decoding: try encoder.encode(value), as: UTF8.self)
        } catch {
            throw .engine(.internalError("a record has no text: \(error)"))
        }
    }
}
