package import DurableFiles
package import ManagedObjectModel
package import MigrationPlans
package import StoreLocks

/// What is asked of a run over any number of stores.
package struct RunRequest: Sendable {
    package var destination: DestinationChoice
    /// The source's model, for stores that hold none.
    package var sourceModel: Model?
    package var options: PlanOptions
    /// The folder of the results; nil swaps each result into the store's own place.
    package var output: FilePath?
    /// The folder of the ledger and of what runs keep.
    package var state: FilePath
    /// What the user named, as it tells this request from another one.
    package var inputs: [FilePath]
    /// What the destination was called, for reports.
    package var destinationName: String
    /// Jobs at a time; at least 1.
    package var slots: Int
    /// Whether results wait for `godwit swap`.
    package var defersSwap: Bool
    /// Whether a full disk is waited for.
    package var waitsForRoom: Bool
    /// Whether stores may be swapped where programs that have them open cannot be seen.
    package var assumesClosed = false
    /// What the run keeps to.
    package var bounds: RunBounds
    /// Failed stores that end the run; nil for any number.
    package var failureLimit: Int? { bounds.failures }
    /// How programs that have a store open are treated.
    package var clients: ClientPolicy { ClientPolicy(assumesClosed: assumesClosed) }

    package init(
        destination: DestinationChoice, sourceModel: Model? = nil,
        options: PlanOptions = PlanOptions(), output: FilePath?, state: FilePath,
        inputs: [FilePath], destinationName: String = "", slots: Int = 2, defersSwap: Bool = false,
        waitsForRoom: Bool = true,
        failureLimit: Int? = nil
    ) {
        self.destination = destination
        self.sourceModel = sourceModel
        self.options = options
        self.output = output
        self.state = state
        self.inputs = inputs
        self.destinationName = destinationName
        self.slots = slots
        self.defersSwap = defersSwap
        self.waitsForRoom = waitsForRoom
        bounds = RunBounds(failures: failureLimit)
    }
}

/// Bounds of a run; nil for none.
package struct RunBounds: Hashable, Sendable, Codable {
    /// The most stores begun and not ended, where workers do the jobs.
    package var stores: Int?
    /// The most attempts at a time, where workers make them.
    package var jobs: Int?
    /// Failed stores that end the run.
    package var failures: Int?

    package init(stores: Int? = nil, jobs: Int? = nil, failures: Int? = nil) {
        self.stores = stores
        self.jobs = jobs
        self.failures = failures
    }
}
