import Threads

/// A thread for what takes its time and must not hold up the loop: reading the ledger, looking
/// for stores, beginning runs.
///
/// Errands are done one after the other, and each hands its outcome to the loop itself.
final class Desk: Sendable {
    private let errands: BoundedMailbox<@Sendable () -> Void>
    private let thread: OwnedThread

    /// - Parameters:
    ///   - name: of the thread.
    ///   - capacity: errands that wait at most.
    /// - Throws: `ThreadError`.
    init(name: String, capacity: Int) throws(ThreadError) {
        let errands = BoundedMailbox<@Sendable () -> Void>(capacity: capacity)
        self.errands = errands
        thread = try OwnedThread(name: name) {
            while let errand = errands.receive() { errand() }
        }
    }

    /// Has an errand done; false, and it is not, where too many wait or the desk has ended.
    func ask(_ errand: @escaping @Sendable () -> Void) -> Bool { errands.sendIfRoom(errand) }

    /// Ends the thread; errands that were not begun are dropped.
    func end() {
        _ = errands.closeAndDrain()
        thread.join()
    }
}
