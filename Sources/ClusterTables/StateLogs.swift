package import ClusterVocabulary

/// The transitions that were taken, for tests of their coverage.
package struct StateLogs: Sendable {
    package var workers = StateLog<WorkerPhase>()
    package var attempts = StateLog<AttemptPhase>()
    package var jobs = StateLog<JobPhase>()
    package var stores = StateLog<StorePhase>()
    package var runs = StateLog<RunPhase>()
    package var lives = StateLog<RunLifePhase>()

    package init() {}

    /// Adds what other logs counted.
    package mutating func add(_ other: StateLogs) {
        workers.add(other.workers)
        attempts.add(other.attempts)
        jobs.add(other.jobs)
        stores.add(other.stores)
        runs.add(other.runs)
        lives.add(other.lives)
    }
}
