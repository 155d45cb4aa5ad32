import CoreDataStore
import DurableFiles
import Foundation
import Jobs
import MigrationEngine
import RunLedger
import StoreLocks

/// A result that was built and validated and has not got its name.
struct BuiltStore {
    let found: FoundStore
    let result: StoreResult
    let fingerprint: StoreFingerprint
    let places: StorePaths
    let snapshot: FilePath?
    /// The file that was validated; no other one is published.
    let building: FileIdentity
    /// Keeps other runs away from the store; nil where its file system has no such locks.
    let lock: StoreLock?
    /// Whether contents were synced already.
    let isDurable: Bool
    /// Whether its worker alone validated it, which only a command that trusts workers accepts.
    var isTrusted = false
}

/// The migration of one store of a run up to the validated result, resumed where there is
/// something to go on with.
final class StoreRun {
    let context: RunContext
    let found: FoundStore
    let places: StorePaths
    /// Jobs at a time; 1 does everything on the caller's thread.
    let slots: Int
    let steps: StoreSteps
    private let path: FilePath
    /// The lock that the owner of this run holds, once there is any work on the store.
    weak var lock: StoreLock?

    /// - Parameters:
    ///   - found: the store as its run knows it.
    ///   - context: of the run.
    ///   - slots: jobs at a time.
    /// - Throws: `RunError.file` where the store's folder is gone.
    init(_ found: FoundStore, context: RunContext, slots: Int) throws(RunError) {
        self.found = found
        self.context = context
        self.slots = slots
        do throws(DurableFileError) {
            path = try context.files.resolveStore(found.path)
        } catch {
            throw .file(error)
        }
        places = context.places(of: found, result: found.output ?? path)
        steps = StoreSteps(clock: context.environment.clock)
    }

    var isInPlace: Bool { found.output == nil }

    /// Builds results of this run.
    var builder: ResultBuilder {
        ResultBuilder(
            places: places, files: context.files, cache: context.cache, slots: slots,
            isInPlace: isInPlace, steps: steps)
    }

    /// Runs and measures one step.
    func step<Result, Failure: Error>(
        _ step: RunStep, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try steps.step(step, body)
    }
}
