import Synchronization
import Threads
import ZeroMQ

/// The queues of a coordinator, which hand their outcomes to its loop.
final class BlockingQueues: Sendable {
    /// For reading offers, which must not wait for a fleet that is being looked for.
    private let reading: BlockingQueue
    /// For what clients are told, which must not wait for pages of offers.
    private let answering: BlockingQueue
    /// Where runs begin, are replayed and given up.
    private let beginning: BlockingQueue
    /// For reports of runs that have ended, which take long for large ones.
    private let reporting: BlockingQueue
    let loop = LoopHandle()

    /// - Parameter capacity: work items that wait at each at most.
    /// - Throws: `ThreadError`.
    init(capacity: Int) throws(ThreadError) {
        var made: [BlockingQueue] = []
        func queue(_ name: String) throws(ThreadError) -> BlockingQueue {
            do throws(ThreadError) {
                made.append(try BlockingQueue(name: name, capacity: capacity))
                return made[made.count - 1]
            } catch {
                for queue in made { queue.end() }
                throw error
            }
        }
        reading = try queue("reading")
        answering = try queue("answering")
        beginning = try queue("beginning")
        reporting = try queue("reporting")
    }

    /// What a queue does.
    typealias WorkItem = @Sendable (LoopHandle) -> Void

    /// Has something read; false where too much is asked for.
    func read(_ workItem: @escaping WorkItem) -> Bool {
        let loop = loop
        return reading.ask { workItem(loop) }
    }

    /// Has something read for a client; false where too much is asked for.
    func answer(_ workItem: @escaping @Sendable (LoopHandle) -> Void) -> Bool {
        let loop = loop
        return answering.ask { workItem(loop) }
    }

    /// Has something begun that may take long; false where too much is asked for.
    func begin(_ workItem: @escaping WorkItem) -> Bool {
        let loop = loop
        return beginning.ask { workItem(loop) }
    }

    /// Has a report made; false where too many are asked for.
    func report(_ workItem: @escaping WorkItem) -> Bool {
        let loop = loop
        return reporting.ask { workItem(loop) }
    }

    /// Ends them; what was not begun is dropped.
    func end() {
        reading.end()
        answering.end()
        beginning.end()
        reporting.end()
    }
}

/// The way to a loop from other threads.
final class LoopHandle: Sendable {
    private let loop = Mutex<PollLoop<CoordinatorLoop>?>(nil)

    /// Names the loop; nil lets go of it.
    func set(_ made: PollLoop<CoordinatorLoop>?) { loop.withLock { $0 = made } }

    /// Has the loop call a body; false where it has ended.
    @discardableResult
    func submit(_ body: @escaping @Sendable (CoordinatorLoop) -> Void) -> Bool {
        loop.withLock { $0 }?.submit { body($0) } ?? false
    }
}
