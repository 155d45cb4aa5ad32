import CoreDataStore
import DurableFiles
import Foundation
import Jobs
import MigrationEngine
import RunLedger

/// A result that was built and validated and has not got its name.
struct BuiltStore {
    let found: FoundStore
    let result: StoreResult
    let fingerprint: StoreFingerprint
    let places: StorePlaces
    let snapshot: FilePath?
    /// The file that was validated; no other one is published.
    let building: FileIdentity
    /// Keeps other runs away from the store; nil where its file system has no such locks.
    let lock: StoreLock?
    /// Whether contents were synced already.
    let isDurable: Bool
}

/// The migration of one store of a run up to the validated result, resumed where there is
/// something to go on with.
final class StoreRun {
    let context: RunContext
    let found: FoundStore
    let places: StorePlaces
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
        steps = StoreSteps(clock: context.environment.clock) { event in
            context.observe(.progress(store: found.number, path: found.path, event))
        }
    }

    var isInPlace: Bool { found.output == nil }

    func observe(_ event: RunEvent) { steps.observe(event) }

    /// Runs one step, telling when it begins and ends.
    func step<Result, Failure: Error>(
        _ step: RunStep, jobs: Int = 0, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try steps.step(step, jobs: jobs, body)
    }

    /// Builds and validates the result.
    ///
    /// - Throws: `RunError`; what can be gone on with is kept, everything else is removed.
    func build() throws(RunError) -> BuiltStore {
        let admitted = try StoreAdmission(
            path: path, output: found.output, files: context.files,
            clients: context.request.clients, mark: context.mark
        ).admit()
        lock = admitted
        let planned: PlannedStore
        var connection: Connection?
        if let kept = try resumed() {
            planned = kept
        } else {
            (planned, connection) = try step(.prepare) { () throws(RunError) in try prepared() }
        }
        context.observe(.planned(store: found.number, path: found.path, planned.plan))
        let outcome: ResultBuilder.Built
        do throws(RunError) {
            outcome =
                switch planned.plan.strategy {
                case .whole: try builder.buildWhole(planned, connection)
                case .partitioned: try buildPartitioned(planned)
                }
        } catch {
            throw ResultBuilder.named(error, planned.source.path).unlessChanged(planned.source)
        }
        guard outcome.validation.isEqual else {
            try forget("validation found differences")
            throw RunError.validationFailed(outcome.validation).unlessChanged(planned.source)
        }
        return try built(planned, outcome, admitted)
    }

    private func built(
        _ planned: PlannedStore, _ outcome: ResultBuilder.Built, _ lock: StoreLock?
    ) throws(RunError) -> BuiltStore {
        try RunError.translating {
            let building = try FileStatus(of: places.building).identity
            let result = StoreResult(
                planned, validation: outcome.validation, output: found.output,
                outputBytes: building.size, seconds: steps.seconds)
            return BuiltStore(
                found: found, result: result,
                fingerprint: planned.source.fingerprint, places: places,
                snapshot: planned.source.isSnapshot ? places.snapshot : nil,
                building: building, lock: lock, isDurable: outcome.isDurable)
        }
    }
}
