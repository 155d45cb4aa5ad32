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
    private(set) var seconds: [RunStep: Double] = [:]
    private let path: FilePath

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
        places = StorePlaces(
            folder: context.folder(ofStore: found.number), mark: context.mark,
            number: found.number, result: found.output ?? path)
    }

    var isInPlace: Bool { found.output == nil }

    func observe(_ event: RunEvent) {
        context.observe(.progress(store: found.number, path: found.path, event))
    }

    /// Runs one step, telling when it begins and ends.
    func step<Result, Failure: Error>(
        _ step: RunStep, jobs: Int = 0, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        observe(.began(step, jobs: jobs))
        let start = context.environment.clock()
        defer {
            seconds[step, default: 0] += context.environment.clock() - start
            observe(.ended(step))
        }
        return try body()
    }

    /// Builds and validates the result.
    ///
    /// - Throws: `RunError`; what can be gone on with is kept, everything else is removed.
    func build() throws(RunError) -> BuiltStore {
        if isInPlace { try refuseHardLinks() }
        let lock = try lockStore()
        try refuseExistingOutput()
        let planned: PlannedStore
        var connection: Connection?
        if let kept = try resumed() {
            planned = kept
        } else {
            (planned, connection) = try step(.prepare) { () throws(RunError) in try prepared() }
        }
        context.observe(.planned(store: found.number, path: found.path, planned.plan))
        let outcome: Built
        do throws(RunError) {
            outcome =
                switch planned.plan.strategy {
                case .whole: try buildWhole(planned, connection)
                case .partitioned: try buildPartitioned(planned)
                }
        } catch {
            throw named(error, planned.source.path)
        }
        guard outcome.validation.isEqual else {
            try forget("validation found differences")
            throw .validationFailed(outcome.validation)
        }
        return try built(planned, outcome, lock)
    }

    /// What building gives, whatever the strategy.
    struct Built {
        let validation: ValidationReport
        let isDurable: Bool
    }

    private func built(
        _ planned: PlannedStore, _ outcome: Built, _ lock: StoreLock?
    ) throws(RunError) -> BuiltStore {
        try RunError.translating {
            let building = try FileStatus(of: places.building).identity
            let result = StoreResult(
                planned, validation: outcome.validation, output: found.output,
                outputBytes: building.size, seconds: seconds)
            return BuiltStore(
                found: found, result: result,
                fingerprint: planned.source.fingerprint, places: places,
                snapshot: planned.source.isSnapshot ? places.snapshot : nil,
                building: building, lock: lock, isDurable: outcome.isDurable)
        }
    }

    /// Takes the store's lock against other runs, which may have other state folders.
    private func lockStore() throws(RunError) -> StoreLock? {
        do throws(DurableFileError) {
            return try StoreLock(
                path, for: isInPlace ? .replacing : .reading, faults: context.files.faults)
        } catch {
            // A file system without such locks: reading needs none.
            let isUnknown = ["ENOLCK", "EOPNOTSUPP", "ENOSYS", "EBADF", "EINVAL"].contains(
                error.number.map { DurableFileError.name(of: $0) })
            if isUnknown, !isInPlace { return nil }
            throw .file(error)
        }
    }

    /// A swap would leave the other names with the original: better said before any work.
    private func refuseHardLinks() throws(RunError) {
        try RunError.translating {
            let links = try FileStatus(of: path).links
            guard links > 1 else { return }
            let own = try SwapFacts.backups(of: PlannedFile(at: path), context.files)
            guard links > own + 1 else { return }
            throw EngineError.severalHardLinks(store: path.description, links: links - own)
        }
    }

    private func refuseExistingOutput() throws(RunError) {
        guard let output = found.output else { return }
        try RunError.translating {
            for path in [
                output, output.adding(suffix: "-wal"), output.adding(suffix: "-journal"),
                SupportFolder.folder(ofStore: output),
            ] where try FileStatus.ifPresent(path) != nil {
                throw RunError.outputExists(path)
            }
        }
    }

    /// A fault that was met in a file of our own lies in the rows that were put there: it is
    /// told of the store that they come from.
    private func named(_ error: RunError, _ source: FilePath) -> RunError {
        guard case .engine(.store(.notAStore(_, let reason))) = error else { return error }
        return .engine(.store(.notAStore(path: source.description, reason: reason)))
    }
}
