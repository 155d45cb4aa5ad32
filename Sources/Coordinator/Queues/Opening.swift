import ClusterProtocol
import Jobs
import RunLedger
import RunService
import RunSupervision
import StateFolders
import StoreRuns

/// A run that was read from the ledger, or begun, by a queue, before it enters.
struct Opening: Sendable {
    let run: ClusterRun
    /// What the supervisor learns about it.
    var offer: RunOpening
    /// Whether the run had begun before.
    var isResumed = false
    /// Files that were not taken although they may hold a user's data, with the reasons.
    var leftOut: [String] = []

    /// Reads what is known of a run.
    ///
    /// - Throws: `RunError` where the ledger cannot be read, or the request cannot.
    init(_ overview: RunOverview, _ runs: ClusterRun.Dependencies) throws(RunError) {
        let run = try ClusterRun(overview, runs)
        let counts: [StoreState: Int]
        do throws(LedgerError) {
            counts = try runs.ledger.storeCounts(of: overview.id)
            // From here on `knownFigures` has its state for every caller, also when that changes.
            _ = try runs.ledger.figures(of: .named([overview.id]))
        } catch {
            throw .ledger(error)
        }
        let left = OfferReader.unfinished(defersSwap: run.defersSwap)
        self.run = run
        offer = RunOpening(
            run: overview.id, state: overview.state, pause: overview.reason?.pause,
            // Also of a run that has ended: a replay may have been stopped halfway.
            stores: left.reduce(0) { $0 + (counts[$1] ?? 0) }, failed: counts[.failed] ?? 0,
            validated: run.defersSwap ? counts[.validated] ?? 0 : 0, defersSwap: run.defersSwap,
            limits: RunLimits(
                stores: run.bounds.stores, jobs: run.bounds.jobs, failures: run.bounds.failures))
    }
}
