package import CoreDataStore
import DurableFiles
import MigrationPlans
import SafeSQLite
package import StateFolders
import StoreLocks

extension RunError {
    /// This failure of a store's migration, or `sourceChanged` where a program wrote the store
    /// meanwhile.
    ///
    /// A store at rest is read where it lies, at several times. A program that writes it makes rows
    /// differ from what was copied before, and pages that do not fit each other: neither is a fault
    /// of the store or of the engine.
    package func unlessChanged(_ source: SourceStore) -> RunError {
        guard !source.isSnapshot, comesFromContents else { return self }
        do throws(DurableFileError) {
            // A transaction under way may have written within one step of the file system's clock,
            // which is 10 ms at most.
            ReplacedFile.pause(20)
            let now = try StoreFingerprint(of: source.path)
            let changes = now.differences(from: source.fingerprint)
            // Links and other machines' numbers say nothing of contents.
            if changes.subtracting([.place, .changed]).isEmpty { return self }
        } catch {
            guard case .changedMeanwhile = error else { return self }
        }
        return .engine(.changed(source.path))
    }

    /// Whether what was read could be the reason.
    private var comesFromContents: Bool {
        switch self {
        case .validationFailed, .store(.notAStore), .engine(.store(.notAStore)),
            .store(.inputOutput), .engine(.store(.inputOutput)), .engine(.dataRefused),
            .engine(.internalError):
            true
        default: false
        }
    }
}
