import Foundation
import Jobs
import Synchronization

/// A record with what is worked out on the caller's thread, before its turn to be written.
struct PreparedRecord: Sendable {
    let record: LedgerRecord
    /// The JSON of an accepted receipt.
    let receipt: String?

    init(_ record: LedgerRecord) throws {
        self.record = record
        guard case .accepted(let accepted, _) = record else {
            receipt = nil
            return
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        receipt = String(decoding: try encoder.encode(accepted), as: UTF8.self)
    }
}

/// The records of one call that wait for a commit, and what became of them.
final class PendingBatch: Sendable {
    let records: [PreparedRecord]
    private let settled = Mutex<Result<Void, LedgerError>?>(nil)

    init(_ records: [PreparedRecord]) { self.records = records }

    /// Nil until a commit has taken the batch along.
    var outcome: Result<Void, LedgerError>? { settled.withLock { $0 } }

    func settle(_ result: Result<Void, LedgerError>) { settled.withLock { $0 = result } }
}
