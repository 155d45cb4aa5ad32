import CoreDataStore
import DurableFiles
import Foundation
import Jobs
import MigrationEngine

/// Makes the jobs of one store and finds what they deliver.
struct JobMaker {
    private let planned: PlannedStore
    private let digest: String
    private let runner: JobRunner
    private let environment: JobEnvironment
    private let source: FileReference
    private let support: FileReference?
    private let fingerprint: String

    /// - Throws: `EngineError.file` for folders that cannot be used as roots.
    init(
        folder: FilePath, planned: PlannedStore, file: PlanFile,
        files: DurableFileSystem
    ) throws(EngineError) {
        self.planned = planned
        digest = file.digest
        do throws(DurableFileError) {
            let run = try FileRoot(name: "run", folder: folder)
            let original = try FileRoot(name: "source", folder: planned.source.path.parent)
            environment = JobEnvironment(roots: [run, original], files: files)
            let root = planned.source.isSnapshot ? run : original
            let read = try root.rooted(try files.resolve(planned.source.database))
            source = FileReference(root: read.root, path: read.path.description)
            let folder = planned.source.externalData
            support = try FileStatus.ifPresent(folder).map { _ throws(DurableFileError) in
                let rooted = try original.rooted(folder)
                return FileReference(root: rooted.root, path: rooted.path.description)
            }
        } catch {
            throw .file(error)
        }
        runner = JobRunner(environment: environment)
        fingerprint = try Self.text(of: planned.source.fingerprint)
    }

    /// The state of the source's files as text, equal for equal states in every process.
    private static func text(of fingerprint: StoreFingerprint) throws(EngineError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        do {
            return ContentDigest.hexadecimal(of: Array(try encoder.encode(fingerprint)))
        } catch {
            throw .internalError("a fingerprint cannot be written: \(error)")
        }
    }

    /// A body that runs the first attempt of a job.
    func job(_ work: Work) -> @Sendable () throws(EngineError) -> Receipt {
        let job = Job(
            run: "local", store: 0, work: work,
            plan: FileReference(root: "run", path: "plan.json"), planDigest: digest,
            source: source, sourceSupport: support, destination: nil,
            sourceFingerprint: fingerprint, engine: planned.plan.engine, limits: .withoutLedger)
        let attempt = Attempt(
            id: "\(work.name)-1", epoch: 1,
            folder: FileReference(root: "run", path: "attempts/\(work.name)-1"))
        let runner = runner
        return { () throws(EngineError) in try runner.run(job, attempt: attempt) }
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
