import ClusterProtocol
import LocalRun
import RunLedger

/// What only the ledger knows of a run's progress.
struct RunFigures: Sendable {
    let state: RunState
    let reason: String
    let stores: [StoreState: Int]
    /// Bytes of stores that have not come to their end.
    let bytesLeft: Int64

    /// Reads them; some rows whatever the size of the run.
    init?(_ run: String, ledger: Ledger) throws(LedgerError) {
        guard let overview = try ledger.run(run) else { return nil }
        state = overview.state
        reason = overview.reason
        stores = try ledger.storeCounts(of: run)
        bytesLeft = try ledger.unfinishedBytes(of: run)
    }
}

extension RunStatus {
    /// What the machine says, with what the ledger and the loop know beside it.
    ///
    /// - Parameters:
    ///   - run: its id.
    ///   - machine: the machine's word; nil for a run that it does not have.
    ///   - figures: the ledger's.
    ///   - meter: of what was done in this life of the coordinator.
    ///   - waitingFor: why nothing moves, where the machine does not know.
    init(
        _ run: String, machine: RunStatus?, figures: RunFigures, meter: RateMeter?,
        waitingFor: String?
    ) {
        let isMoving = figures.state == .open
        self.init(
            run: run, state: figures.state.rawValue,
            stores: Dictionary(
                uniqueKeysWithValues: figures.stores.map { ($0.key.rawValue, $0.value) }),
            jobs: machine?.jobs ?? [:], rows: machine?.rows ?? 0, bytes: machine?.bytes ?? 0,
            rowsPerSecond: isMoving ? meter?.rates?.rows ?? 0 : 0,
            bytesPerSecond: isMoving ? meter?.rates?.bytes ?? 0 : 0,
            secondsLeft: isMoving ? meter?.secondsLeft(figures.bytesLeft) : nil,
            waitingFor: waitingFor ?? machine?.waitingFor
                ?? (figures.state == .paused ? figures.reason : nil))
    }
}
