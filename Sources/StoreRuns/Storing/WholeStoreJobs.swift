import CoreDataStore
package import DurableFiles
import Foundation
package import Jobs
package import MigrationEngine
import MigrationPlans
import MigrationValidation
package import RunLedger
package import StateFolders
package import StoreLocks
import Synchronization

/// Runs jobs that migrate a small store in one go, up to the validated result, without a ledger.
///
/// The job names, as its `plan`, a file with the run's recorded request; as its `destination`, the
/// path that the result is to get, nil where it takes the store's own place. The attempt's folder
/// lies on the file system of that path and receives `store.sqlite`, its external data and
/// `store.sqlite_step-N` for each store that was written on the way, with
/// `store.sqlite_step-N_edited` where programs changed it; where the job validates its
/// result, also `outcome.json` and a snapshot if the store needed one.
/// The coordinator moves them when it accepts the receipt. Threads of the coordinator's process
/// keep what stands in `outcome.json` in memory.
///
/// One value serves all jobs of a process: it keeps requests that it has read, and what it has
/// learnt of stores of the same app.
package final class WholeStoreJobs: Sendable {
    private let files: DurableFileSystem
    private let clock: @Sendable () -> Double
    private let ownResults: OwnResults?
    private let cache = MigrationCache()
    private let requests = Mutex<[String: RunRequest]>([:])

    /// The most requests that are kept.
    private static let requestLimit = 8
    /// The longest request that is read, in bytes.
    private static let requestBytes = 64 << 20

    /// - Parameters:
    ///   - files: through which durable actions go.
    ///   - ownResults: where threads of the coordinator's process leave what they found; nil in
    ///     worker processes.
    ///   - clock: seconds that never go back.
    package init(
        files: DurableFileSystem = DurableFileSystem(links: .refused),
        ownResults: OwnResults? = nil, clock: @escaping @Sendable () -> Double
    ) {
        self.files = files
        self.ownResults = ownResults
        self.clock = clock
    }

    /// Runs one attempt on the calling thread.
    ///
    /// - Parameters:
    ///   - job: a whole store.
    ///   - attempt: its folder and fence; what an earlier process left there is removed.
    ///   - environment: where files are on this machine.
    /// - Returns: the result's file, and the outcome's unless it is kept in memory, with the rows
    ///   that were read.
    /// - Throws: `RunError`; the attempt's folder then holds nothing of use.
    package func run(
        _ job: Job, attempt: Attempt, in environment: JobEnvironment
    ) throws(RunError) -> Receipt {
        guard job.engine == MigrationPlan.engineVersion else {
            throw .engine(.wrongPlan("engine \(job.engine) made the job"))
        }
        let (store, output, folder) = try RunError.engine { () throws(EngineError) in
            (
                try environment.resolve(job.source),
                try job.destination.map { reference throws(EngineError) in
                    try environment.resolve(reference)
                }, try environment.resolve(attempt.folder)
            )
        }
        let request = try request(of: job, environment)
        guard environment.runsPrograms || request.options.ways.programs.isEmpty else {
            throw .engine(
                .programFailed(
                    "\(store): its steps run programs, which workers of other machines refuse. "
                        + "Nothing was written. Migrate it on this machine"))
        }
        try StoreAdmission(
            store: StoreLocation(store), output: output.map(StoreLocation.init), files: files,
            clients: request.clients
        ).check()
        let places = StorePaths(attempt: folder)
        let steps = StoreSteps(clock: clock)
        try makeFolder(places, isDurable: job.limits.isDurable)
        let built: Built
        do throws(RunError) {
            built = try build(
                store, request, output, places, steps, validates: job.limits.validates,
                policies: environment.policies)
        } catch {
            guard case .alreadyThere = error else { throw error }
            return Receipt(
                job: job, attempt: attempt, rows: 0, counts: [Receipt.unchanged: 1])
        }
        let (planned, validation) = (built.planned, built.validation)
        guard planned.source.fingerprint.contentText == job.sourceFingerprint else {
            throw .engine(.changed(store))
        }
        if let validation, !validation.isEqual {
            throw RunError.validationFailed(validation).unlessChanged(planned.original)
        }
        return try deliver(job, attempt, built, output, places, steps)
    }

    /// What a job has made.
    private struct Built {
        let planned: PlannedStore
        let validation: ValidationReport?
        /// Over what policies gave, by labels.
        let recordedSums: [String: ContentSum]
    }

    /// Makes an empty folder for an attempt.
    private func makeFolder(_ places: StorePaths, isDurable: Bool) throws(RunError) {
        try RunError.translating {
            try places.removeAll(files)
            if isDurable {
                try places.make(files)
            } else {
                try places.makeScratch(files)
            }
        }
    }

    private func build(
        _ store: FilePath, _ request: RunRequest, _ output: FilePath?, _ places: StorePaths,
        _ steps: StoreSteps, validates: Bool, policies: PolicyLibrary
    ) throws(RunError) -> Built {
        let (planned, connection) = try steps.step(.prepare) { () throws(RunError) in
            try StorePreparation(
                store: store, request: request, places: places, files: files, cache: cache,
                slots: 1,
                // The coordinator checks them, too, where it validates.
                checksPages: validates, steps: .written(policies, delivers: true)
            ).prepareConnected()
        }
        guard planned.plan.strategy == .whole else {
            throw .engine(.wrongPlan("\(store) must be split into chunks"))
        }
        do throws(RunError) {
            let builder = ResultBuilder(
                places: places, files: files, cache: cache, slots: 1, isInPlace: output == nil,
                steps: steps, policies: policies)
            let made = try builder.buildWhole(planned, connection, validates: validates)
            return Built(
                planned: planned, validation: made.report,
                recordedSums: planned.recordedSums(of: made.recordedSums))
        } catch {
            throw ResultBuilder.named(error, planned.source.path).unlessChanged(planned.original)
        }
    }

    private func deliver(
        _ job: Job, _ attempt: Attempt, _ built: Built, _ output: FilePath?,
        _ places: StorePaths, _ steps: StoreSteps
    ) throws(RunError) -> Receipt {
        let (planned, validation) = (built.planned, built.validation)
        return try RunError.translating {
            for route in planned.routes.values { try files.removeScratchTree(route) }
            if validation == nil {
                // The coordinator makes its own: two of them would lie there at a time.
                try files.removeScratchTree(places.snapshot)
            }
            let hasSnapshot = planned.original.isSnapshot && validation != nil
            if job.limits.isDurable {
                try files.syncFile(places.building)
                for path in planned.writtenFiles(in: places) { try files.syncFile(path) }
                if hasSnapshot { try files.syncFile(places.snapshot) }
            }
            let rows = planned.plan.sourceRows.values.reduce(0, +)
            let status = try FileStatus(of: places.building)
            let outcome = WholeStoreOutcome(
                result: validation.map {
                    StoreResult(
                        planned, validation: $0, output: output, outputBytes: status.size,
                        seconds: steps.seconds)
                }, seconds: steps.seconds, fingerprint: planned.source.fingerprint,
                hasSnapshot: hasSnapshot)
            if let ownResults {
                ownResults.keep(
                    OwnResults.Built(outcome: outcome, building: status.identity), of: attempt.id)
                let file = delivered(
                    places.building, attempt, status.size, DeliveredFile.ownDigest)
                return Receipt(
                    job: job, attempt: attempt, files: [file], rows: rows,
                    sums: built.recordedSums)
            }
            // What the coordinator reads whole needs no digest.
            let digest =
                validation == nil
                ? DeliveredFile.unreadDigest
                : try ContentDigest.hexadecimal(of: places.building, files: files).digest
            var delivery = [delivered(places.building, attempt, status.size, digest)]
            if validation != nil {
                let bytes = try write(outcome, places, isDurable: job.limits.isDurable)
                delivery.append(
                    delivered(
                        places.outcome, attempt, Int64(bytes.count),
                        ContentDigest.hexadecimal(of: bytes)))
            }
            for path in planned.writtenFiles(in: places) {
                let size = try FileStatus(of: path).size
                let digest =
                    validation == nil
                    ? DeliveredFile.unreadDigest
                    : try ContentDigest.hexadecimal(of: path, files: files).digest
                delivery.append(delivered(path, attempt, size, digest))
            }
            return Receipt(
                job: job, attempt: attempt, files: delivery, rows: rows, sums: built.recordedSums,
                counts: validation == nil ? Receipt.counts(of: steps.seconds) : [:])
        }
    }

    /// Writes what an attempt tells besides its files; returns the file's content.
    private func write(
        _ outcome: WholeStoreOutcome, _ places: StorePaths, isDurable: Bool
    ) throws -> [UInt8] {
        let bytes = Array(try RecordedText.text(of: outcome).utf8)
        if isDurable {
            try files.publish(bytes, to: places.outcome)
        } else {
            // The folder is the attempt's alone, and no process reads it before the receipt.
            try files.removeScratchTree(places.outcome)
            let file = try files.create(places.outcome)
            try file.write(bytes)
            try file.close()
        }
        return bytes
    }

    private func delivered(
        _ path: FilePath, _ attempt: Attempt, _ bytes: Int64, _ digest: String
    ) -> DeliveredFile {
        DeliveredFile(
            file: FileReference(
                root: attempt.folder.root,
                path: "\(attempt.folder.path)/\(path.lastComponent)"),
            bytes: bytes, digest: digest)
    }

    private func request(
        of job: Job, _ environment: JobEnvironment
    ) throws(RunError) -> RunRequest {
        if let known = requests.withLock({ $0[job.planDigest] }) { return known }
        let bytes = try RunError.translating {
            try files.contents(
                of: try environment.resolve(job.plan), limit: Self.requestBytes)
        }
        guard ContentDigest.hexadecimal(of: bytes) == job.planDigest else {
            throw .engine(.wrongPlan("the request is not the one that the job names"))
        }
        let recorded = try RecordedRequest(reading: String(decoding: bytes, as: UTF8.self))
        // The folder of a ledger is the coordinator's own.
        var request = try recorded.request(state: FilePath(""), slots: 1)
        // Whether a swap is possible is seen on the coordinator's machine.
        request.assumesClosed = true
        requests.withLock { requests in
            if requests.count >= Self.requestLimit { requests.removeAll() }
            requests[job.planDigest] = request
        }
        return request
    }
}

/// What an attempt at a whole store tells besides its files.
package struct WholeStoreOutcome: Codable {
    /// Nil where the job did not validate it.
    package let result: StoreResult?
    /// Of each step, by the worker's clock.
    package let seconds: [RunStep: Double]
    /// Of the source, as it was read.
    package let fingerprint: StoreFingerprint
    /// Whether a snapshot lies beside the result, which a swap keeps with the original.
    let hasSnapshot: Bool
}

extension WholeStoreOutcome {
    /// The longest one, in bytes.
    private static let limit = 16 << 20

    /// Reads what an attempt left.
    ///
    /// - Throws: `RunError.badDelivery` for what is no outcome, and where it cannot be read.
    package init(at places: StorePaths, _ files: DurableFileSystem) throws(RunError) {
        let bytes = try RunError.translating {
            try files.contents(of: places.outcome, limit: Self.limit)
        }
        guard ForeignJSON.values(in: bytes) <= ForeignJSON.valueLimit else {
            throw .badDelivery("its report holds too many values")
        }
        do {
            self = try JSONDecoder().decode(WholeStoreOutcome.self, from: Data(bytes))
        } catch {
            throw .badDelivery("its report cannot be read")
        }
    }
}

extension StorePaths {
    /// What an attempt at a whole store reports.
    package var outcome: FilePath { building.parent.appending("outcome.json") }
}

extension BuiltStore {
    /// What the report of a store says whose result this process did not look at.
    static let noteOfTrust =
        "the result was validated by its worker only, because the coordinator trusts workers"

    /// The result that a worker delivered, ready to be moved.
    ///
    /// It is nil where the worker did not validate its result, and delivered no outcome.
    ///
    /// - Parameters:
    ///   - receipt: of the attempt; its files are checked against it.
    ///   - found: the store as its run knows it.
    ///   - folder: of the attempt.
    ///   - files: through which durable actions go.
    ///   - clients: how programs that have the store open are treated.
    ///   - isTrusted: whether its worker alone validated it; the report says so.
    ///   - isChecked: whether they were compared with the receipt already, and not since touched.
    /// - Throws: `RunError`, `engine(.wrongPlan)` for files that are not those of the receipt,
    ///   `engine(.sourceChanged)` where the store is not as it was read.
    package init?(
        accepting receipt: Receipt, of found: FoundStore, in folder: FilePath,
        files: DurableFileSystem, clients: ClientPolicy, isTrusted: Bool = false,
        isChecked: Bool = false
    ) throws(RunError) {
        let places = StorePaths(attempt: folder)
        if !isChecked { try receipt.check(places, files) }
        guard receipt.hasOutcome else { return nil }
        let outcome = try WholeStoreOutcome(at: places, files)
        guard let validated = outcome.result else { return nil }
        let building = try RunError.translating {
            try FileStatus(of: places.building).identity
        }
        try self.init(
            accepting: validated, outcome, of: found, at: places, building: building,
            files: files, clients: clients, isTrusted: isTrusted)
    }

    /// The validated result of an attempt at a whole store, ready to be moved.
    ///
    /// Nothing is believed of where files are, and of which device: the attempt may have been
    /// made by a machine that has the shared folder elsewhere.
    ///
    /// - Parameters:
    ///   - validated: what its slot found of it.
    ///   - outcome: what else the slot told.
    ///   - found: the store as its run knows it.
    ///   - places: the attempt's files.
    ///   - building: the file that is to be moved, as it was checked.
    ///   - files: through which durable actions go.
    ///   - clients: how programs that have the store open are treated.
    ///   - isTrusted: whether its worker alone validated it; the report says so.
    ///   - isOwn: whether this process has read the store; it is then looked at before the result
    ///     gets its name only.
    /// - Throws: `RunError`, `engine(.sourceChanged)` where the store is not as it was read.
    package init(
        accepting validated: StoreResult, _ outcome: WholeStoreOutcome, of found: FoundStore,
        at places: StorePaths, building: FileIdentity, files: DurableFileSystem,
        clients: ClientPolicy, isTrusted: Bool, isOwn: Bool = false
    ) throws(RunError) {
        let store = try RunError.translating {
            try files.with(.followed).resolveStore(found.path)
        }
        let lock = try StoreAdmission(
            store: StoreLocation(store), output: found.output, files: files, clients: clients
        ).admit()
        self = try RunError.translating {
            var fingerprint = outcome.fingerprint
            // A swap compares all of it; hard links may have been made since.
            if !isOwn || found.output == nil {
                fingerprint = try StoreFingerprint(of: store)
                let changes = fingerprint.differences(from: outcome.fingerprint)
                guard changes.subtracting([.place, .changed]).isEmpty else {
                    throw EngineError.changed(store)
                }
            }
            var result = validated
            result.store = store
            result.output = found.output?.database ?? store
            result.isInPlace = found.output == nil
            result.backup = nil
            if isTrusted { result.notes.append(Self.noteOfTrust) }
            return BuiltStore(
                found: found, result: result, fingerprint: fingerprint,
                places: places, snapshot: outcome.hasSnapshot ? places.snapshot : nil,
                building: building, lock: lock, isDurable: false, isTrusted: isTrusted)
        }
    }
}
