import CoreDataStore
package import DurableFiles
package import Jobs
package import MigrationEngine
package import MigrationPlans
import RunService
import SafeSQLite
package import StoreRuns

/// The jobs of a plan, run on the calling thread; the root `local` holds everything.
package struct EngineJobs: Sendable {
    package static let root = "local"

    package let file: PlanFile
    private let plan: FileReference
    private let source: FileReference
    private let support: FileReference?
    private let attempts: FilePath
    private let environment: JobEnvironment
    private let runner: JobRunner

    /// - Parameters:
    ///   - planned: the store and its plan.
    ///   - path: where the plan is written.
    ///   - attempts: the folder in which each attempt gets its own.
    ///   - files: through which durable actions go.
    ///   - policies: that the process carries.
    /// - Throws: `EngineError`.
    package init(
        _ planned: PlannedStore, plan path: FilePath, attempts: FilePath,
        files: DurableFileSystem = DurableFileSystem(),
        policies: PolicyLibrary = PolicyLibrary()
    ) throws(EngineError) {
        file = try PlanFile(planned.laidOut)
        self.attempts = attempts
        let (bytes, database) = (file.bytes, planned.source.database)
        let external = planned.source.externalData
        (environment, plan, source, support) = try EngineError.translating {
            try files.publish(bytes, to: path)
            let support = try FileStatus.ifPresent(external).map { _ in
                Self.reference(external)
            }
            return (
                JobEnvironment(
                    roots: [try FileRoot(name: Self.root, folder: FilePath("/"))], files: files,
                    policies: policies),
                Self.reference(try files.resolve(path)),
                Self.reference(try files.resolve(database)), support
            )
        }
        runner = JobRunner(environment: environment)
    }

    private static func reference(_ path: FilePath) -> FileReference {
        FileReference(root: root, path: FilePath(bytes: path.bytes.dropFirst()).description)
    }

    package func job(_ work: Work) -> Job {
        Job(
            run: "r1", store: 1, work: work, plan: plan, planDigest: file.digest,
            source: source, sourceSupport: support, destination: nil, sourceFingerprint: "state",
            engine: file.plan.engine, limits: .local)
    }

    package func attempt(_ work: Work, number: Int = 1) -> Attempt {
        let name = "\(work.name)-\(number)"
        return Attempt(
            id: "1-\(name)", epoch: 1,
            folder: Self.reference(attempts.appending(FilePath(name))))
    }

    package func run(_ work: Work, number: Int = 1) throws(EngineError) -> Receipt {
        try runner.run(job(work), attempt: attempt(work, number: number))
    }

    package func shard(of receipt: Receipt) throws(EngineError) -> FilePath {
        guard let file = receipt.files.first else {
            throw .internalError("job \(receipt.work.name) delivered no file")
        }
        return try environment.resolve(file.file)
    }
}
