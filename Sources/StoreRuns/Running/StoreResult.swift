import CoreDataStore
package import DurableFiles
import ManagedObjectModel
package import MigrationPlans
package import MigrationValidation

/// What is known of a finished store: what reports show and the ledger keeps.
package struct StoreResult: Hashable, Sendable, Codable {
    /// One version of a model, as people know it.
    package struct Version: Hashable, Sendable, Codable {
        /// The identifiers that the model carries; may be empty.
        package var identifiers: [String]
        /// The digest of the entities' hashes, Base64.
        package var digest: String
        /// The framework version that wrote the store, or that the result is written as.
        package var framework: Int

        init(_ model: Model, hashes: VersionHashes, framework: FrameworkVersion) {
            identifiers = model.versionIdentifiers
            digest = hashes.digest
            self.framework = framework.number
        }
    }

    package var store: FilePath
    /// The result's path; the store's own where it was swapped in.
    package var output: FilePath
    package var isInPlace: Bool
    package var from: Version
    package var to: Version
    /// From the source to the destination, in their order.
    package var steps: [PlanStep]
    package var strategy: Strategy
    /// Copy jobs.
    package var chunks: Int
    package var linkChunks: Int
    /// Bytes of the source's database and of the result's.
    package var sourceBytes: Int64
    package var outputBytes: Int64
    /// Seconds of each step, by the run's clock.
    package var seconds: [RunStep: Double]
    package var tables: [TableOutcome]
    /// Objects whose URI changes, by destination entity.
    package var changedURIs: [String: Int64]
    package var extras: [ExtraObject]
    package var notes: [String]
    /// What is unusual about the source.
    package var oddities: [String]
    package var validation: ValidationReport
    /// What could not be carried over or removed, in words.
    package var leftovers: [String]
    /// Where the original is kept; nil where it has not moved.
    package var backup: FilePath?
}

extension StoreResult {
    package init(
        _ planned: PlannedStore, validation: ValidationReport, output: FilePath?,
        outputBytes: Int64, seconds: [RunStep: Double]
    ) {
        let plan = planned.plan
        store = planned.source.path
        self.output = output ?? planned.source.path
        isInPlace = output == nil
        let metadata = planned.original.metadata
        from = Version(
            planned.original.model, hashes: VersionHashes(read: metadata.versionHashes),
            framework: metadata.framework)
        to = Version(
            plan.destinationModel, hashes: planned.destination.hashes, framework: plan.framework)
        steps = planned.steps
        strategy = planned.strategy
        chunks = planned.isRebuilt ? 1 : plan.chunks.count
        linkChunks = plan.linkChunks.count
        sourceBytes = planned.resources.sourceBytes
        self.outputBytes = outputBytes
        self.seconds = seconds
        tables = plan.tables
        changedURIs = planned.changedURIs
        extras = planned.extras
        notes = planned.notes + planned.unusedMappingNotes
        oddities = planned.original.oddities
        self.validation = validation.after(planned.written)
        leftovers = []
        backup = nil
    }
}

extension StoreResult {
    /// Why a run with these options would have refused the store; nil where it would not.
    package func refusal(by options: PlanOptions) -> EngineError? {
        if let name = options.newerVersions[from.digest] {
            return .olderDestination(
                "\(store) has the version \(name), which is newer than the destination. Nothing "
                    + "was written. Choose the newest model, or allow an older one")
        }
        do throws(EngineError) {
            try options.losses.check(validation.losses, of: store)
            return nil
        } catch {
            return error
        }
    }
}

// Results of versions that did not record steps have none.
extension KeyedDecodingContainer {
    func decode(_ type: [PlanStep].Type, forKey key: Key) throws -> [PlanStep] {
        try decodeIfPresent(type, forKey: key) ?? []
    }
}
