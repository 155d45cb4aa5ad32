import ClusterProtocol
import Jobs
import WorkerRules

/// Brings the machine's slots and the pool's together: the machine counts a slot as free when its
/// job has ended, the pool when its process waits for the next one.
///
/// A pure value: the loop does what it says.
struct SlotAssignments {
    private struct Waiting {
        let order: JobOrder
        /// How often the slot's process ended since.
        var ends = 0
    }

    /// Orders whose slot has no process yet.
    private var waiting: [Int: Waiting] = [:]
    /// The attempts that processes have.
    private var running: [Int: String] = [:]
    /// Attempts that ran here: they alone may have written something.
    private var begun: Set<String> = []

    /// Ends of a slot's process without a job, after which a waiting order fails: one may have
    /// been the last job's doing.
    private static let mostEnds = 2

    /// The machine gives a slot an order.
    mutating func place(_ order: JobOrder, on slot: Int) { waiting[slot] = Waiting(order: order) }

    /// Orders that wait for one of the free slots.
    func due(_ free: [Int]) -> [(slot: Int, order: JobOrder)] {
        free.compactMap { slot in waiting[slot].map { (slot, $0.order) } }
    }

    /// A process took the order of a slot.
    mutating func began(_ slot: Int) {
        guard let order = waiting.removeValue(forKey: slot)?.order else { return }
        running[slot] = order.attempt.id
        begun.insert(order.attempt.id)
    }

    /// The order of a slot can be given to no process.
    mutating func reject(_ slot: Int, _ text: String) -> WorkerEvent? {
        guard let order = waiting.removeValue(forKey: slot)?.order else { return nil }
        return .slot(
            .failed(attempt: order.attempt.id, .bug, text: text), slot: slot)
    }

    /// What to do where the machine wants a slot's job ended.
    enum Stop {
        /// Kill the process; its end is told later.
        case kill
        /// It had not begun: this is to be told now.
        case tell(WorkerEvent)
        /// It has ended already, and that is being told.
        case nothing
    }

    mutating func stop(_ slot: Int) -> Stop {
        if let order = waiting.removeValue(forKey: slot)?.order {
            let text = "stopped before it began"
            return .tell(
                .slot(.died(attempt: order.attempt.id, .stopped, text: text), slot: slot))
        }
        return running[slot] == nil ? .nothing : .kill
    }

    /// What a pool has told, as the machine knows it; all of one moment together, so that a job
    /// that has ended is known for ended before the machine hears of the first.
    mutating func take(_ notices: [SlotNotice]) -> [WorkerEvent] {
        notices.compactMap { notice in
            event(notice).map { .slot($0, slot: notice.slot) }
        }
    }

    private mutating func event(_ notice: SlotNotice) -> SlotEvent? {
        switch notice.event {
        case .started: return nil
        case .progress(let attempt, let rows, let bytes):
            return .progress(attempt: attempt, rows: rows, bytes: bytes)
        case .delivered(let receipt):
            running[notice.slot] = nil
            return .delivered(receipt)
        case .failed(let failure):
            running[notice.slot] = nil
            let (code, text) = (failure.cause, failure.text)
            return failure.slotEnded
                ? .died(attempt: failure.attempt, code, text: text)
                : .failed(attempt: failure.attempt, code, text: text)
        case .ended(let text):
            waiting[notice.slot]?.ends += 1
            guard let order = waiting[notice.slot], order.ends >= Self.mostEnds else { return nil }
            waiting[notice.slot] = nil
            return .died(attempt: order.order.attempt.id, .crashed, text: text)
        }
    }

    /// The attempt that the process of a slot has.
    func attempt(in slot: Int) -> String? { running[slot] }

    /// Whether an attempt that is not wanted any more may have left files.
    func hasBegun(_ attempt: String) -> Bool { begun.contains(attempt) }

    /// Forgets attempts that the machine has forgotten.
    mutating func keep(_ held: [String]) {
        if begun.count > held.count { begun.formIntersection(held) }
    }
}
