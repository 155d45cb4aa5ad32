internal import CLinux

/// A fixed number of threads that take work from several queues by turns.
///
/// A lane that has much to do never starves another one: after each piece a slot looks at the
/// lane behind the one that was served last. Each lane is bounded, and `submit` waits while it is
/// full, so that who produces never runs far ahead.
package final class SlotLanes: Sendable {
    /// One piece of work; what it finds out it hands on itself.
    package typealias Work = @Sendable (Slot) -> Void

    /// Asks running work to stop and keeps queued work from being begun.
    package let cancellation: CancelFlag
    private let queue: LaneQueue
    private let threads: [OwnedThread]

    /// Starts the threads.
    ///
    /// - Parameters:
    ///   - count: of threads, at least 1.
    ///   - lanes: of queues, at least 1; they are named by their number from 0.
    ///   - capacity: pieces that wait in one lane, at least 1.
    ///   - name: of the threads, followed by their number.
    /// - Throws: `ThreadError` where a thread cannot be started; none is left then.
    package init(
        count: Int, lanes: Int, capacity: Int, name: String = "slot"
    ) throws(ThreadError) {
        precondition(count > 0 && lanes > 0 && capacity > 0, "slots and lanes are needed")
        // Work allocates the same again and again.
        clinux_keep_freed_memory()
        let cancellation = CancelFlag()
        let queue = LaneQueue(lanes: lanes, capacity: capacity)
        var started: [OwnedThread] = []
        do {
            for index in 0..<count {
                let slot = Slot(index: index, cancellation: cancellation)
                started.append(
                    try OwnedThread(name: "\(name) \(index)") {
                        while let work = queue.take() { work(slot) }
                    })
            }
        } catch {
            queue.close()
            for thread in started { thread.join() }
            throw error
        }
        self.cancellation = cancellation
        self.queue = queue
        threads = started
    }

    /// Lanes that are let go without `finish()`, on the way out of an error, are cancelled.
    deinit {
        guard !queue.isClosed else { return }
        cancellation.cancel()
        finish()
    }

    /// Queues a piece of work in a lane, waiting for room; false, and it is dropped, afterwards.
    ///
    /// Not to be called from work: slots that all wait for room would wait for ever.
    @discardableResult
    package func submit(to lane: Int, _ work: @escaping Work) -> Bool {
        queue.send(work, to: lane)
    }

    /// Waits for all work; the threads end.
    ///
    /// After `cancel()` queued work is still called, with a slot that says so.
    package func finish() {
        queue.close()
        for thread in threads { thread.join() }
    }
}

/// The queues of `SlotLanes`.
private final class LaneQueue: Sendable {
    private let capacity: Int
    private let monitor: Monitor<Content>

    init(lanes: Int, capacity: Int) {
        self.capacity = capacity
        monitor = Monitor(Content(lanes: Array(repeating: Lane(), count: lanes)))
    }

    var isClosed: Bool { monitor.withLock { $0.state.isClosed } }

    /// Adds a piece, waiting for room; false once closed.
    func send(_ work: @escaping SlotLanes.Work, to lane: Int) -> Bool {
        monitor.withLock { access in
            while access.state.lanes[lane].count >= capacity, !access.state.isClosed {
                access.wait(for: .second)
            }
            if access.state.isClosed { return false }
            access.state.lanes[lane].append(work)
            access.signal(.first)
            return true
        }
    }

    /// The oldest piece of the lane whose turn it is, waiting for one; nil once closed and empty.
    func take() -> SlotLanes.Work? {
        monitor.withLock { access in
            while access.state.isEmpty, !access.state.isClosed { access.wait(for: .first) }
            let work = access.state.take()
            // Room in one lane is of no use to who waits for another: all of them look.
            access.wakeAll()
            return work
        }
    }

    func close() {
        monitor.withLock { access in
            access.state.isClosed = true
            access.wakeAll()
        }
    }

    private struct Lane: Sendable {
        private var works: [SlotLanes.Work] = []
        private var first = 0

        var count: Int { works.count - first }

        mutating func append(_ work: @escaping SlotLanes.Work) { works.append(work) }

        mutating func removeFirst() -> SlotLanes.Work {
            let work = works[first]
            first += 1
            // Pieces hold what they capture: those that were taken are let go of.
            if first == works.count || first >= 64 {
                works.removeFirst(first)
                first = 0
            }
            return work
        }
    }

    private struct Content: Sendable {
        var lanes: [Lane]
        var next = 0
        var isClosed = false

        var isEmpty: Bool { lanes.allSatisfy { $0.count == 0 } }

        mutating func take() -> SlotLanes.Work? {
            for step in lanes.indices {
                let lane = (next + step) % lanes.count
                guard lanes[lane].count > 0 else { continue }
                next = (lane + 1) % lanes.count
                return lanes[lane].removeFirst()
            }
            return nil
        }
    }
}
