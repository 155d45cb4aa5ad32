import ClusterCore
import ClusterProtocol
import ClusterVocabulary
import Jobs
import RunSupervision
import WorkerRules

/// The coordinator's process: the supervisor of its runs, and what its loop holds back until it is
/// durable.
struct SimulatedCoordinator {
    /// What the supervisor said after one event.
    struct Turn {
        let number: Int
        let hasRecords: Bool
        let effects: SupervisorEffects
    }

    let life: Int
    var supervisor: RunSupervisor
    /// What its monotonic clock counts from: each later start has another base.
    let clockBase: Int64
    var fault: PlantedFault
    var turns = 0
    /// Turns that wait for the ledger, oldest first.
    var waiting: [Turn] = []
    var isSyncing = false
    /// When a tick is scheduled; nil where none is.
    var tickAt: Int64?
    /// Tasks that were said and not yet answered.
    var tasks: [CoordinatorTask] = []
    /// Works and submissions that were begun and not yet answered, by run.
    var works: [String: Int] = [:]
    /// When the last submission enters: one queue reads them, so that they enter in their order.
    var lastOpening: Int64 = 0

    var machine: CoordinatorMachine { supervisor.machine }

    /// Gives the supervisor an event at a time of the simulation.
    mutating func handle(
        _ event: SupervisorEvent, now: Int64, wallOffset: Int64
    ) -> SupervisorEffects {
        fault.handle(event, now: instant(now, wallOffset), by: &supervisor)
    }

    /// Has the supervisor read the stores that its machine wants.
    mutating func feed(now: Int64, wallOffset: Int64) -> SupervisorEffects {
        supervisor.feed(now: instant(now, wallOffset))
    }

    private func instant(_ now: Int64, _ wallOffset: Int64) -> Instant {
        Instant(milliseconds: now - clockBase + fault.clockShift(wallOffset: wallOffset))
    }

    /// When the supervisor wants to be woken, in the simulation's time; nil where it waits for
    /// events.
    func nextWake(wallOffset: Int64) -> Int64? {
        supervisor.nextWake.map {
            $0.milliseconds + clockBase - fault.clockShift(wallOffset: wallOffset)
        }
    }
}

/// A slot of a worker: a process of its own, which goes on while the worker is stopped.
struct SimulatedSlot {
    /// Counts orders and kills; what belongs to an earlier one is void.
    var turn = 0
    var order: JobOrder?
    /// The attempt of the order that it was given last.
    var last: String?
    /// Steps of progress before it ends, and how long each takes.
    var steps = 0
    var stepTime: Int64 = 0
    var fate = SlotFate.delivers
}

/// How an order in a slot will end.
enum SlotFate: Hashable {
    case delivers
    /// It is reported by the slot, which goes on.
    case fails(FailureCause)
    /// The slot's process ends.
    case dies(FailureCause)
}

/// A worker's process and its slots.
struct SimulatedWorker {
    let number: Int
    let name: String
    let engine: String
    let slotCount: Int
    let seed: UInt64
    var life = 0
    /// Nil while the process is not there.
    var machine: WorkerMachine?
    var clockBase: Int64 = 0
    var connection: ConnectionID?
    var slots: [SimulatedSlot] = []
    /// Until when the process is stopped; what happens meanwhile it hears later.
    var stoppedUntil: Int64 = 0
    var slowness: Int64 = 1
    var tickAt: Int64?
    /// Whether it is to be started again when it has ended by itself.
    var restartsAfter: Int64 = 1_000

    func instant(_ now: Int64) -> Instant { Instant(milliseconds: now - clockBase) }
}
