import CoreDataStore
import DurableFiles
import Foundation
import MigrationPlanning

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

    /// The state of the source's files as text, equal for equal states on every machine that
    /// sees them: the device that a mount has is each machine's own.
    package var sharedText: String {
        func text(_ file: FileIdentity?) -> String {
            guard let file else { return "none" }
            return "\(file.size) \(file.modified.seconds) \(file.modified.nanoseconds)"
        }
        let files = [main, writeAheadLog, rollbackJournal]
        let headers = [header, writeAheadLogHeader]
        let lines = files.map(text) + headers.map { ContentDigest.hexadecimal(of: $0) }
        return ContentDigest.hexadecimal(of: Array(lines.joined(separator: "\n").utf8))
    }
}
