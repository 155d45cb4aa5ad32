package import DurableFiles
package import MigrationEngine

/// What a run tells while it goes on; sent from the run's threads.
package enum RunNotice: Sendable {
    /// There is room, and so many stores with so many bytes are left to be done.
    case begun(stores: Int, bytes: Int64)
    /// It was decided how a store is migrated.
    case planned(store: Int, path: FilePath, MigrationPlan)
    /// A store is at a step.
    case progress(store: Int, path: FilePath, RunEvent)
    /// A store came to its end.
    case ended(store: Int, path: FilePath, StoreEnd)
    /// The run waits; the text says what for.
    case paused(String)
    /// The run goes on.
    case resumed
}

/// How a store's migration ended.
package enum StoreEnd: Sendable {
    /// The result has its name.
    case done(StoreResult)
    /// The result is validated and waits for `godwit swap`.
    case deferred(StoreResult)
    /// It was of the destination's version already, and nothing was done.
    case unchanged
    case failed(RunError)
}
