import Synchronization
import Threads
import ZeroMQ

/// The desks of a coordinator, which hand their outcomes to its loop.
final class Desks: Sendable {
    /// For reading offers, which must not wait for a fleet that is being looked for.
    private let reading: Desk
    /// For what clients are told, which must not wait for pages of offers.
    private let answering: Desk
    /// Where runs begin, are replayed and given up.
    private let beginning: Desk
    /// For reports of runs that have ended, which take long for large ones.
    private let reporting: Desk
    let loop = LoopHandle()

    /// - Parameter capacity: errands that wait at each at most.
    /// - Throws: `ThreadError`.
    init(capacity: Int) throws(ThreadError) {
        var made: [Desk] = []
        func desk(_ name: String) throws(ThreadError) -> Desk {
            do throws(ThreadError) {
                made.append(try Desk(name: name, capacity: capacity))
                return made[made.count - 1]
            } catch {
                for desk in made { desk.end() }
                throw error
            }
        }
        reading = try desk("reading")
        answering = try desk("answering")
        beginning = try desk("beginning")
        reporting = try desk("reporting")
    }

    /// What is done at a desk.
    typealias Errand = @Sendable (LoopHandle) -> Void

    /// Has something read; false where too much is asked for.
    func read(_ errand: @escaping Errand) -> Bool {
        let loop = loop
        return reading.ask { errand(loop) }
    }

    /// Has something read for a client; false where too much is asked for.
    func answer(_ errand: @escaping @Sendable (LoopHandle) -> Void) -> Bool {
        let loop = loop
        return answering.ask { errand(loop) }
    }

    /// Has something begun that may take long; false where too much is asked for.
    func begin(_ errand: @escaping Errand) -> Bool {
        let loop = loop
        return beginning.ask { errand(loop) }
    }

    /// Has a report made; false where too many are asked for.
    func report(_ errand: @escaping Errand) -> Bool {
        let loop = loop
        return reporting.ask { errand(loop) }
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
