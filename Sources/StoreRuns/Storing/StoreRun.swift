import CoreDataStore
package import DurableFiles
import Foundation
import Jobs
import MigrationEngine
package import RunLedger
package import StateFolders
package import StoreLocks

/// A result that was built and validated and has not got its name.
package struct BuiltStore {
    package let found: FoundStore
    package let result: StoreResult
    package let fingerprint: StoreFingerprint
    package let places: StorePaths
    package let snapshot: FilePath?
    /// The file that was validated; no other one is published.
    package let building: FileIdentity
    /// Keeps other runs away from the store; nil where its file system has no such locks.
    package let lock: StoreLock?
    /// Whether contents were synced already.
    package let isDurable: Bool
    /// Whether its worker alone validated it, which only a command that trusts workers accepts.
    package var isTrusted = false

    package init(
        found: FoundStore, result: StoreResult, fingerprint: StoreFingerprint, places: StorePaths,
        snapshot: FilePath?, building: FileIdentity, lock: StoreLock?, isDurable: Bool,
        isTrusted: Bool = false
    ) {
        self.found = found
        self.result = result
        self.fingerprint = fingerprint
        self.places = places
        self.snapshot = snapshot
        self.building = building
        self.lock = lock
        self.isDurable = isDurable
        self.isTrusted = isTrusted
    }
}

/// The migration of one store of a run up to the validated result, resumed where there is
/// something to go on with.
package final class StoreRun {
    let context: RunContext
    package let found: FoundStore
    package let places: StorePaths
    /// Jobs at a time; 1 does everything on the caller's thread.
    let slots: Int
    package let steps: StoreSteps
    private let path: FilePath
    /// The lock that the owner of this run holds, once there is any work on the store.
    package weak var lock: StoreLock?

    /// - Parameters:
    ///   - found: the store as its run knows it.
    ///   - context: of the run.
    ///   - slots: jobs at a time.
    /// - Throws: `RunError.file` where the store's folder is gone.
    package init(_ found: FoundStore, context: RunContext, slots: Int) throws(RunError) {
        self.found = found
        self.context = context
        self.slots = slots
        do throws(DurableFileError) {
            path = try context.files.resolveStore(found.path)
        } catch {
            throw .file(error)
        }
        places = context.places(of: found, result: found.output ?? StoreLocation(path))
        steps = StoreSteps(clock: context.environment.clock)
    }

    var isInPlace: Bool { found.output == nil }

    /// Builds results of this run.
    package var builder: ResultBuilder {
        ResultBuilder(
            places: places, files: context.files, cache: context.cache, slots: slots,
            isInPlace: isInPlace, steps: steps)
    }

    /// Runs and measures one step.
    package func step<Result, Failure: Error>(
        _ step: RunStep, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try steps.step(step, body)
    }
}
