import ClusterProtocol
import ClusterVocabulary
import Jobs

/// An order that a worker has, until the coordinator knows of its end.
struct HeldOrder: Sendable {
    let order: JobOrder
    var phase = HeldPhase.queued
    /// Orders of one message run one after the other in one slot.
    let batch: Int
    var slot: Int?
    var receipt: Receipt?
    /// Why it failed, until that is told.
    var failure: AttemptFailure?
    /// Progress that was not told yet.
    var progress: (rows: Int64, bytes: Int64)?
    var toldAt: Instant?
    /// Whether the worker gives it back itself when its slot has ended.
    var isGivenBack = false

    var attempt: String { order.attempt.id }

    var held: HeldAttempt {
        HeldAttempt(
            run: order.job.run, store: order.job.store, work: order.job.work, attempt: attempt,
            epoch: order.attempt.epoch)
    }
}

/// The orders of a worker in the order of their arrival, at most a few for each slot.
struct HeldOrders: Sendable {
    private var byAttempt: [String: HeldOrder] = [:]
    /// Attempts in the order of their arrival.
    private(set) var arrival: [String] = []
    /// The batches of orders that run or are being stopped, by attempts.
    ///
    /// Kept apart, because every event asks for them and an order is large.
    private var busy: [String: Int] = [:]

    subscript(attempt: String) -> HeldOrder? {
        get { byAttempt[attempt] }
        set {
            if newValue == nil { arrival.removeAll { $0 == attempt } }
            if byAttempt[attempt] == nil, newValue != nil { arrival.append(attempt) }
            byAttempt[attempt] = newValue
            if let newValue, newValue.phase == .running || newValue.phase == .stopping {
                busy[attempt] = newValue.batch
            } else {
                busy[attempt] = nil
            }
        }
    }

    var isEmpty: Bool { arrival.isEmpty }
    var all: [HeldOrder] { arrival.compactMap { byAttempt[$0] } }

    /// Batches of which an order runs or is being stopped.
    var busyBatches: Set<Int> { Set(busy.values) }
}
