import CoreDataStore
import DurableFiles
import Foundation
import MigrationPlans

extension StoreFingerprint {
    /// The state of the source's files as text, equal for equal states in every process of this
    /// machine.
    ///
    /// - Throws: `EngineError.internalError` where it cannot be encoded.
    func localText() throws(EngineError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        do {
            return ContentDigest.hexadecimal(of: Array(try encoder.encode(self)))
        } catch {
            throw .internalError("a fingerprint cannot be written: \(error)")
        }
    }

    /// The content of the source's files as text, equal on every machine and for every copy: sizes
    /// and headers, whose counters and salts change with what is written.
    ///
    /// It names the source of a job. A write that shows in times alone is found by the process that
    /// took the times: a worker compares them before and after it reads, and the coordinator when
    /// it takes the result.
    package var contentText: String {
        let sizes = [main, writeAheadLog, rollbackJournal].map { file in
            file.map { "\($0.size)" } ?? "none"
        }
        let headers = [header, writeAheadLogHeader]
        let lines = sizes + headers.map { ContentDigest.hexadecimal(of: $0) }
        return ContentDigest.hexadecimal(of: Array(lines.joined(separator: "\n").utf8))
    }
}
