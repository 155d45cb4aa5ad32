package import Jobs
package import ManagedObjectModel
package import MappingModel
package import MigrationPlans
package import MigrationValidation
import RunService

/// How a store came out of its run.
package enum StoreOutcome: String, Hashable, Sendable, Codable, CaseIterable {
    /// The result is in its place.
    case done
    /// Built and validated; the swap was put off.
    case deferred
    case failed
    /// Done, and the original has its name again.
    case rolledBack
    /// Done, and the kept original was removed.
    case pruned
    /// It was of the destination's version already, and nothing was done.
    case unchanged
    /// The run ended or was cancelled before the store's turn came.
    case notStarted

    /// The outcome for people.
    package var words: String {
        switch self {
        case .done: "migrated"
        case .deferred: "ready to swap"
        case .failed: "failed"
        case .rolledBack: "rolled back"
        case .pruned: "pruned"
        case .unchanged: "already there"
        case .notStarted: "not started"
        }
    }
}

extension StoreOutcome: CodingKeyRepresentable {}

/// A version of a model as stores name it.
package struct ModelVersion: Hashable, Sendable, Codable {
    /// `NSStoreModelVersionIdentifiers`; often empty.
    package var identifiers: [String]
    /// `NSStoreModelVersionHashesDigest`, in base64.
    package var digest: String
    /// What the destination's bundle calls it; nil where that is not known.
    package var name: String?

    package init(identifiers: [String], digest: String, name: String? = nil) {
        self.identifiers = identifiers
        self.digest = digest
        self.name = name
    }

    /// The version of a model, from its hashes.
    ///
    /// - Complexity: hashes every entity; models of a fleet are few, so keep the value.
    package init(_ model: Model) {
        self.init(
            identifiers: model.versionIdentifiers, digest: VersionHashes(model).digest)
    }

    /// The identifiers; where there are none, the name, or the start of the digest.
    package var label: String {
        let named = identifiers.filter { !$0.isEmpty }
        return named.isEmpty ? name ?? String(digest.prefix(8)) : named.joined(separator: ", ")
    }
}

/// What a run reports of one store; its JSON is documented in `docs/reference/json.md`.
///
/// Paths are `FilePath.description`. No value of a user's row is in it.
package struct StoreReport: Hashable, Sendable, Codable {
    /// A number before and after.
    package struct Change: Hashable, Sendable, Codable {
        package var before: Int64
        /// Nil where there is no result.
        package var after: Int64?

        package init(before: Int64, after: Int64? = nil) {
            self.before = before
            self.after = after
        }
    }

    /// What the validation compared.
    package struct Sums: Hashable, Sendable, Codable {
        package var values: Int64
        package var links: Int64
        package var joinRows: Int64
        package var indexEntries: Int64
        /// Sums that differ; 0 for a result that was published.
        package var differences: Int64

        package init(
            values: Int64, links: Int64, joinRows: Int64, indexEntries: Int64,
            differences: Int64
        ) {
            self.values = values
            self.links = links
            self.joinRows = joinRows
            self.indexEntries = indexEntries
            self.differences = differences
        }

        package init(_ report: ValidationReport) {
            self.init(
                values: report.values, links: report.links, joinRows: report.joinRows,
                indexEntries: report.indexEntries, differences: Int64(report.unequal.count))
        }
    }

    /// Why the store failed.
    package struct Failure: Hashable, Sendable, Codable {
        package var cause: FailureCause
        /// The status that a command for this store alone would end with.
        package var status: Int32
        /// The whole message: what failed, on which file, what to do.
        package var reason: String

        package init(cause: FailureCause, status: Int32, reason: String) {
            self.cause = cause
            self.status = status
            self.reason = reason
        }
    }

    /// The kept original.
    package struct Backup: Hashable, Sendable, Codable {
        package var path: String
        /// Of all its files.
        package var bytes: Int64

        package init(path: String, bytes: Int64) {
            self.path = path
            self.bytes = bytes
        }
    }

    package var store: String
    /// Where the result is; nil where there is none.
    package var result: String?
    package var outcome: StoreOutcome
    package var source: ModelVersion?
    package var destination: ModelVersion?
    /// Labels of the versions that the store went through, source and destination included.
    package var steps: [String] = []
    /// Those of them as which a store was written on the way.
    package var writtenSteps: [String] = []
    package var strategy: Strategy?
    package var rows: Change?
    /// Of the database files.
    package var bytes: Change
    /// By stage.
    package var seconds: [String: Double] = [:]
    /// How often the store was begun: once, and again each time its progress became void.
    package var attempts = 1
    /// Copy and link jobs; 0 for a store that was one job.
    package var chunks = 0
    /// Faults that the source has already; they block nothing.
    package var inherited: [CountedFault] = []
    /// What the source has and the result has not, the greatest first.
    package var losses: [Loss] = []
    /// Objects of the schema outside the model that the result has not, with the reason.
    package var droppedObjects: [String] = []
    package var notes: [String] = []
    /// What could not be carried over or removed; the notes have it, too.
    package var warnings: [String] = []
    /// What is unusual about the source.
    package var oddities: [String] = []
    package var validation: Sums?
    package var failure: Failure?
    package var backup: Backup?

    package init(store: String, outcome: StoreOutcome, bytes: Change) {
        self.store = store
        self.outcome = outcome
        self.bytes = bytes
    }

    /// Why it failed, without the store's name before it; nil for a store that did not.
    package var shortReason: String? {
        failure?.reason.withoutStore(store)
    }

    /// All stages together.
    package var totalSeconds: Double { seconds.values.reduce(0, +) }
}

extension String {
    /// A reason without the store's path before it, where the path stands beside it.
    package func withoutStore(_ path: String) -> String {
        for prefix in [path + " ", path + ": "] where hasPrefix(prefix) {
            return String(dropFirst(prefix.count))
        }
        return self
    }
}
