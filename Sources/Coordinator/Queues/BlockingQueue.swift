import Threads

/// A thread for what takes its time and must not hold up the loop: reading the ledger, looking
/// for stores, beginning runs.
///
/// Work items are done one after the other, and each hands its outcome to the loop itself.
final class BlockingQueue: Sendable {
    private let workItems: BoundedMailbox<@Sendable () -> Void>
    private let thread: OwnedThread

    /// - Parameters:
    ///   - name: of the thread.
    ///   - capacity: work items that wait at most.
    /// - Throws: `ThreadError`.
    init(name: String, capacity: Int) throws(ThreadError) {
        let workItems = BoundedMailbox<@Sendable () -> Void>(capacity: capacity)
        self.workItems = workItems
        thread = try OwnedThread(name: name) {
            while let workItem = workItems.receive() { workItem() }
        }
    }

    /// Adds a work item; returns false and drops it if too many wait or the queue has ended.
    func ask(_ workItem: @escaping @Sendable () -> Void) -> Bool { workItems.sendIfRoom(workItem) }

    /// Ends the thread; work items that were not begun are dropped.
    func end() {
        _ = workItems.closeAndDrain()
        thread.join()
    }
}
