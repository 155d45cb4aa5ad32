import ClusterProtocol
import ClusterVocabulary
import Jobs
import RunSupervision
import WorkerRules

/// What can happen in a simulated world.
///
/// A `life` numbers the starts of a process; what is addressed to an earlier one goes nowhere.
enum WorldEvent {
    case toCoordinator(WorkerMessage, from: ConnectionID, worker: Int)
    case toWorker(CoordinatorMessage, on: ConnectionID, worker: Int)
    case coordinatorStarts
    case coordinatorTick(life: Int)
    /// Something that the coordinator's loop tells its machine.
    case coordinator(CoordinatorEvent, life: Int)
    /// The coordinator's loop begins a work for a run.
    case work(RunWork, life: Int)
    /// The answer to a work, which may be late.
    case answer(RunAnswer, run: String, life: Int)
    /// A client submits a run again; the loop has read the ledger for it before this.
    case opened(RunOpening, life: Int)
    /// The ledger's groups up to a turn became durable.
    case ledgerSynced(life: Int, through: Int)
    case taskRuns(CoordinatorTask, life: Int)
    case workerStarts(worker: Int)
    case workerTick(worker: Int, life: Int)
    /// Something that a worker's loop tells its machine.
    case worker(WorkerEvent, worker: Int, life: Int)
    case slotStarted(worker: Int, life: Int, slot: Int, order: Int)
    case slotProgress(worker: Int, life: Int, slot: Int, order: Int, step: Int)
    case fault(Fault)
    case faultEnds(EndingFault)
    /// A client asks.
    case request(ClientRequest)
    /// A client looks at the status, and will again.
    case look
    /// Nothing goes wrong from here.
    case faultsStop
}

/// A fault that lasts for a while.
enum EndingFault {
    case slowLedger
    case slowWorker(worker: Int)
    case fullDisk
}
