/// The stages of a migration, in their order.
package enum Stage: String, Hashable, Sendable, Codable, CaseIterable {
    case prepare, copy, merge, link, validate, swap
}

/// What a job does.
///
/// Numbers of chunks are indexes into the plan that the job names.
package enum Work: Hashable, Sendable, Codable {
    /// Migrates a small store in one go, all stages up to validation.
    case whole
    /// Copies one chunk of a table into a shard.
    case copy(chunk: Int)
    /// Looks up the links of one chunk and writes them into a link shard.
    case link(chunk: Int)

    /// The stage that the work belongs to.
    package var stage: Stage {
        switch self {
        case .whole, .copy: .copy
        case .link: .link
        }
    }

    /// A short name, unique in its plan: `copy-12`.
    package var name: String {
        switch self {
        case .whole: "whole"
        case .copy(let chunk): "copy-\(chunk)"
        case .link(let chunk): "link-\(chunk)"
        }
    }
}

/// Bounds that a job keeps to.
package struct JobLimits: Hashable, Sendable, Codable {
    /// The page cache of each connection, in KiB.
    package let cacheKibibytes: Int
    /// Whether what the job delivers must survive a crash of the machine.
    ///
    /// A run that keeps no ledger begins again after a crash and would never look at the shards of
    /// the one before: syncing them would cost their bytes on the disk for nothing.
    package let isDurable: Bool
    /// Whether a job that migrates a whole store validates its result.
    ///
    /// False where the coordinator validates whatever it is given: one validation is enough.
    package let validates: Bool

    package init(cacheKibibytes: Int, isDurable: Bool, validates: Bool = true) {
        self.cacheKibibytes = cacheKibibytes
        self.isDurable = isDurable
        self.validates = validates
    }

    /// The same bounds for jobs that validate their results, or do not.
    package func validating(_ validates: Bool) -> JobLimits {
        JobLimits(cacheKibibytes: cacheKibibytes, isDurable: isDurable, validates: validates)
    }

    /// Small caches, which measured best; durable.
    package static let standard = JobLimits(cacheKibibytes: 2048, isDurable: true)
    /// The same for a run on one machine, whose shards are checked again after a crash.
    package static let local = JobLimits(cacheKibibytes: 2048, isDurable: false)
}

/// One piece of work on one store, as a value that can be written to a file or sent away.
package struct Job: Hashable, Sendable, Codable {
    /// The run that it belongs to.
    package let run: String
    /// The store, by its number in the run.
    package let store: Int
    package let work: Work
    /// The plan's file.
    package let plan: FileReference
    /// SHA-256 of the plan's file, in hexadecimal: a job never runs by another plan.
    package let planDigest: String
    /// The database to read: the original or its snapshot.
    package let source: FileReference
    /// The original's folder of external data; nil where there is none.
    package let sourceSupport: FileReference?
    /// The destination that is being built, for jobs that read it.
    package let destination: FileReference?
    /// Text that identifies the state of the source; it differs when the source changed.
    package let sourceFingerprint: String
    /// The version of the engine that made the plan.
    package let engine: String
    package let limits: JobLimits

    package init(
        run: String, store: Int, work: Work, plan: FileReference, planDigest: String,
        source: FileReference, sourceSupport: FileReference?, destination: FileReference?,
        sourceFingerprint: String, engine: String, limits: JobLimits
    ) {
        self.run = run
        self.store = store
        self.work = work
        self.plan = plan
        self.planDigest = planDigest
        self.source = source
        self.sourceSupport = sourceSupport
        self.destination = destination
        self.sourceFingerprint = sourceFingerprint
        self.engine = engine
        self.limits = limits
    }
}

/// One try of a job.
package struct Attempt: Hashable, Sendable, Codable {
    /// Unique in the run; part of every path that the attempt writes.
    package let id: String
    /// The job's fence: an attempt of a lower epoch is never accepted.
    package let epoch: Int
    /// The folder that the attempt writes into; it is the attempt's alone.
    package let folder: FileReference

    package init(id: String, epoch: Int, folder: FileReference) {
        self.id = id
        self.epoch = epoch
        self.folder = folder
    }
}
