package import ClusterProtocol

/// The slots of a worker: a fixed number of places that run one job at a time each.
///
/// Slots are processes (`ProcessSlots`) or threads (`ThreadSlots`). Nothing here waits: the owner's
/// loop polls `descriptor`, and calls `receive` when it is readable or `nextWake` has come. Used by
/// one thread, which lives as long as the slots.
package protocol Slots: AnyObject {
    /// Readable while a slot has something to report.
    var descriptor: Int32 { get }

    /// Slots that wait for a job, by their numbers from 0 on.
    var free: [Int] { get }

    /// When `receive` is to be called although nothing is readable; nil for never.
    var nextWake: Int64? { get }

    /// The process of a slot; nil while it has none of its own.
    func processID(of slot: Int) -> Int64?

    /// Says that a slot gets a job soon: what it needs for that is started now.
    ///
    /// - Parameters:
    ///   - slot: its number.
    ///   - now: milliseconds of the clock that all calls use.
    func want(_ slot: Int, now: Int64)

    /// Gives a free slot a job.
    ///
    /// - Throws: `SlotError`; the slot has then no job.
    func run(_ order: JobOrder, on slot: Int, now: Int64) throws(SlotError)

    /// Stops the job of a slot; its attempt ends as `cancelled`.
    func cancel(_ slot: Int)

    /// Stops the job of a slot that takes more of something than it may; its attempt fails with
    /// the text.
    func end(_ slot: Int, exceeding text: String)

    /// What happened since the last call, in the order in which each slot reported it.
    func receive(now: Int64) -> [SlotNotice]
}
