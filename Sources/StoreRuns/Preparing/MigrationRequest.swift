package import CoreDataStore
package import DurableFiles
package import Jobs
package import ManagedObjectModel
package import MigrationPlans

/// Where a store is to go.
package enum DestinationChoice: Sendable {
    /// Another model.
    case model(DestinationModel)
    /// The store's own model: everything is rewritten and must come out equal.
    case itself
}

/// One store to plan.
package struct MigrationRequest: Sendable {
    /// The original.
    package var store: FilePath
    /// The result's path, where nothing may be yet; nil swaps it into the store's own place.
    package var output: FilePath?
    /// The folder of the ledger and of what runs keep; made where it is missing.
    package var state: FilePath
    package var destination: DestinationChoice
    /// The source's model, for a store that holds none.
    package var sourceModel: Model?
    package var options: PlanOptions
    /// Jobs at a time; at least 1.
    ///
    /// With 1 all of a small store is read on the caller's thread.
    package var slots: Int
    /// What is known of stores of the same app; shared by the requests of a fleet.
    package var cache: MigrationCache

    /// Where the result will be.
    package var result: FilePath { output ?? store }

    package init(
        store: FilePath, output: FilePath?, state: FilePath, destination: DestinationChoice,
        sourceModel: Model? = nil, options: PlanOptions = PlanOptions(), slots: Int = 2,
        cache: MigrationCache = MigrationCache()
    ) {
        self.store = store
        self.output = output
        self.state = state
        self.destination = destination
        self.sourceModel = sourceModel
        self.options = options
        self.slots = slots
        self.cache = cache
    }
}

/// The steps of a run as a person follows them.
package enum RunStep: String, Sendable, Codable, CodingKeyRepresentable, CaseIterable {
    case prepare, copy, merge, link, index, validate, publish

    /// The stage that the step belongs to: indexes are a part of the merge, and a
    /// result that is published instead of swapped in ends where a swap would.
    package var stage: Stage {
        switch self {
        case .prepare: .prepare
        case .copy: .copy
        case .merge, .index: .merge
        case .link: .link
        case .validate: .validate
        case .publish: .swap
        }
    }
}
