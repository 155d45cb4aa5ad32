import CoreDataStore
import DurableFiles
import Foundation
import Jobs
import MigrationEngine

/// Makes the jobs of one store, runs them and finds what they deliver.
struct JobMaker: Sendable {
    private let run: String
    private let number: Int
    private let digest: String
    private let engine: String
    private let runner: JobRunner
    private let environment: JobEnvironment
    private let source: FileReference
    private let support: FileReference?
    private let fingerprint: String

    /// - Parameters:
    ///   - run: the run's id.
    ///   - number: of the store in the run.
    ///   - places: of the store's files.
    ///   - planned: the store and its plan.
    ///   - file: the plan as it was written.
    ///   - files: through which durable actions go.
    /// - Throws: `EngineError.file` for folders that cannot be used as roots.
    init(
        run: String, number: Int, places: StorePlaces, planned: PlannedStore, file: PlanFile,
        files: DurableFileSystem
    ) throws(EngineError) {
        self.run = run
        self.number = number
        digest = file.digest
        engine = planned.plan.engine
        do throws(DurableFileError) {
            let folder = try FileRoot(name: "run", folder: places.folder)
            let original = try FileRoot(name: "source", folder: planned.source.path.parent)
            let result = try FileRoot(name: "result", folder: places.building.parent)
            environment = JobEnvironment(roots: [folder, original, result], files: files)
            let database = try files.resolve(planned.source.database)
            let read =
                planned.source.isSnapshot
                ? try result.rooted(database) : try original.rooted(database)
            source = FileReference(root: read.root, path: read.path.description)
            let external = planned.source.externalData
            support = try FileStatus.ifPresent(external).map { _ throws(DurableFileError) in
                let rooted = try original.rooted(external)
                return FileReference(root: rooted.root, path: rooted.path.description)
            }
        } catch {
            throw .file(error)
        }
        runner = JobRunner(environment: environment)
        fingerprint = try Self.text(of: planned.source.fingerprint)
    }

    /// The state of the source's files as text, equal for equal states in every process.
    static func text(of fingerprint: StoreFingerprint) throws(EngineError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        do {
            return ContentDigest.hexadecimal(of: Array(try encoder.encode(fingerprint)))
        } catch {
            throw .internalError("a fingerprint cannot be written: \(error)")
        }
    }

    /// The state of the source's files as text, equal for equal states on every machine that
    /// sees them: the device that a mount has is each machine's own.
    static func sharedText(of fingerprint: StoreFingerprint) -> String {
        func text(_ file: FileIdentity?) -> String {
            guard let file else { return "none" }
            return "\(file.size) \(file.modified.seconds) \(file.modified.nanoseconds)"
        }
        let files = [fingerprint.main, fingerprint.writeAheadLog, fingerprint.rollbackJournal]
        let headers = [fingerprint.header, fingerprint.writeAheadLogHeader]
        let lines = files.map(text) + headers.map { ContentDigest.hexadecimal(of: $0) }
        return ContentDigest.hexadecimal(of: Array(lines.joined(separator: "\n").utf8))
    }

    /// The job of a piece of work.
    func job(_ work: Work) -> Job {
        Job(
            run: run, store: number, work: work,
            plan: FileReference(root: "run", path: "plan.json"), planDigest: digest,
            source: source, sourceSupport: support, destination: nil,
            sourceFingerprint: fingerprint, engine: engine, limits: .local)
    }

    /// A try of a job.
    func attempt(_ work: Work, number attempt: Int, epoch: Int) -> Attempt {
        let name = "\(work.name)-\(attempt)"
        return Attempt(
            id: "\(number)-\(name)", epoch: epoch,
            folder: FileReference(root: "run", path: "attempts/\(name)"))
    }

    /// Runs an attempt on the calling thread.
    func run(_ job: Job, _ attempt: Attempt) throws(EngineError) -> Receipt {
        try runner.run(job, attempt: attempt)
    }

    /// Removes what a failed attempt left; what cannot be removed goes with the store's folder.
    func discard(_ attempt: Attempt) {
        do {
            try environment.files.removeTree(try environment.resolve(attempt.folder))
        } catch {
            return
        }
    }

    /// Whether a receipt's files lie in folders that are known here.
    func knows(_ receipt: Receipt) -> Bool {
        receipt.files.allSatisfy { environment.roots[$0.file.root] != nil }
    }

    /// The path of the shard that a receipt names.
    ///
    /// - Throws: `EngineError.internalError` for a receipt without a file.
    func shard(of receipt: Receipt) throws(EngineError) -> FilePath {
        guard let file = receipt.files.first else {
            throw .internalError("job \(receipt.work.name) delivered no file")
        }
        return try environment.resolve(file.file)
    }
}
