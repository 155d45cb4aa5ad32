import ClusterProtocol
import Jobs
import RunLedger

extension RunStatus {
    /// What the machine says, with what the ledger and the loop know beside it.
    ///
    /// - Parameters:
    ///   - figures: the ledger's.
    ///   - machine: the machine's word; nil for a run that it does not have.
    ///   - meter: of what was done in this life of the coordinator.
    ///   - waitingFor: why nothing moves, where the machine does not know.
    init(
        _ figures: RunStats, machine: RunStatus?, meter: RateMeter?, waitingFor: WaitingReason?
    ) {
        let isMoving = figures.state == .open
        let pause = figures.state == .paused ? figures.reason?.pause : nil
        self.init(
            run: figures.run, state: figures.state, stores: figures.stores,
            jobs: machine?.jobs ?? [:], rows: machine?.rows ?? 0, bytes: machine?.bytes ?? 0,
            rowsPerSecond: isMoving ? meter?.rates?.rows ?? 0 : 0,
            bytesPerSecond: isMoving ? meter?.rates?.bytes ?? 0 : 0,
            secondsLeft: isMoving ? meter?.secondsLeft(figures.bytesLeft) : nil,
            waitingFor: waitingFor ?? machine?.waitingFor ?? pause.map { .paused($0) })
    }
}
