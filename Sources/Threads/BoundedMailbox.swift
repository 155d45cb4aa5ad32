internal import CLinux

/// A queue between threads that holds at most its capacity: who sends too fast waits.
///
/// Elements arrive in the order in which they were sent by one thread. Once closed it takes
/// nothing more and gives out what it still holds. Every operation is O(1) but for batches.
/// Threads that wait block for real: never call the waiting operations from a Swift task.
package final class BoundedMailbox<Element: Sendable>: Sendable {
    /// How a reception with a time limit ended.
    package enum Reception: Sendable {
        case element(Element)
        /// Nothing came in time.
        case nothingYet
        /// Closed, and everything has been received.
        case closed
    }

    /// The most elements that lie in the mailbox; at least 1.
    package let capacity: Int
    private let monitor: Monitor<Content>

    private static var arrived: Monitor<Content>.Condition { .first }
    private static var left: Monitor<Content>.Condition { .second }

    package init(capacity: Int) {
        precondition(capacity > 0, "a mailbox needs room for one element")
        self.capacity = capacity
        monitor = Monitor(Content(ring: Array(repeating: nil, count: capacity)))
    }

    /// How many elements lie in the mailbox now.
    package var count: Int { monitor.withLock { $0.state.count } }

    /// Whether `close()` has been called.
    package var isClosed: Bool { monitor.withLock { $0.state.isClosed } }

    /// Sends an element, waiting for room; false, and the element is dropped, once closed.
    @discardableResult
    package func send(_ element: Element) -> Bool {
        monitor.withLock { access in
            while access.state.count == capacity, !access.state.isClosed {
                access.wait(for: Self.left)
            }
            return append(element, access)
        }
    }

    /// Sends an element if there is room; false, and the element is dropped, otherwise.
    package func sendIfRoom(_ element: Element) -> Bool {
        monitor.withLock { access in
            guard access.state.count < capacity else { return false }
            return append(element, access)
        }
    }

    /// Receives the oldest element, waiting for one; nil once closed and empty.
    package func receive() -> Element? {
        monitor.withLock { access in
            while access.state.count == 0, !access.state.isClosed {
                access.wait(for: Self.arrived)
            }
            return removeFirst(access)
        }
    }

    /// Receives the oldest element, waiting at most so long; zero does not wait at all.
    ///
    /// The time runs on the monotonic clock.
    package func receive(within limit: Duration) -> Reception {
        let deadline = Self.deadline(after: limit)
        return monitor.withLock { access in
            while access.state.count == 0, !access.state.isClosed {
                guard access.wait(for: Self.arrived, until: deadline) else { break }
            }
            if let element = removeFirst(access) { return .element(element) }
            return access.state.isClosed ? .closed : .nothingYet
        }
    }

    /// Receives what lies there, up to a number, waiting for at least one; empty once closed.
    ///
    /// - Complexity: O(elements received).
    package func receive(upTo limit: Int) -> [Element] {
        monitor.withLock { access in
            while access.state.count == 0, !access.state.isClosed {
                access.wait(for: Self.arrived)
            }
            var batch: [Element] = []
            while batch.count < limit, let element = removeFirst(access) { batch.append(element) }
            return batch
        }
    }

    /// Receives up to a number: waits for the first one, and then for more while they are expected.
    ///
    /// - Parameters:
    ///   - limit: the most elements.
    ///   - time: how long it waits for more, on the monotonic clock.
    ///   - expectsMore: asked after each element. The code that makes it false sends an element,
    ///     so that a thread that waits asks again.
    /// - Returns: the elements, the oldest first; empty once closed.
    /// - Complexity: O(elements received).
    package func receive(
        upTo limit: Int, gathering time: Duration, while expectsMore: () -> Bool
    ) -> [Element] {
        var batch = receive(upTo: limit)
        let end = ContinuousClock.now.advanced(by: time)
        while !batch.isEmpty, batch.count < limit, expectsMore() {
            let left = ContinuousClock.now.duration(to: end)
            guard left > .zero, case .element(let next) = receive(within: left) else { break }
            batch.append(next)
        }
        return batch
    }

    /// Receives what lies there, up to a number, without waiting.
    ///
    /// - Complexity: O(elements received).
    package func receiveNow(upTo limit: Int) -> [Element] {
        monitor.withLock { access in
            var batch: [Element] = []
            while batch.count < limit, let element = removeFirst(access) { batch.append(element) }
            return batch
        }
    }

    /// Takes no more elements and lets waiting threads continue; a second call does nothing.
    package func close() {
        monitor.withLock { access in
            access.state.isClosed = true
            access.wakeAll()
        }
    }

    /// Takes no more elements and gives back those that no thread received, oldest first.
    package func closeAndDrain() -> [Element] {
        monitor.withLock { access in
            access.state.isClosed = true
            var rest: [Element] = []
            while let element = removeFirst(access) { rest.append(element) }
            access.wakeAll()
            return rest
        }
    }

    private func append(_ element: Element, _ access: borrowing Monitor<Content>.Access) -> Bool {
        if access.state.isClosed { return false }
        access.state.append(element)
        access.signal(Self.arrived)
        return true
    }

    private func removeFirst(_ access: borrowing Monitor<Content>.Access) -> Element? {
        guard let element = access.state.removeFirst() else { return nil }
        access.signal(Self.left)
        return element
    }

    /// The monotonic clock's reading after a time; a time too long to count means no limit.
    private static func deadline(after limit: Duration) -> Int64 {
        let (seconds, attoseconds) = limit.components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflows) = clinux_monotonic_nanoseconds().addingReportingOverflow(scaled)
        if overflow || overflows { return limit > .zero ? .max : 0 }
        let (deadline, wraps) = sum.addingReportingOverflow(attoseconds / 1_000_000_000)
        return wraps ? .max : max(deadline, 0)
    }

    /// A ring of `capacity` places, `count` of them filled from `first` on.
    private struct Content: Sendable {
        var ring: [Element?]
        var first = 0
        var count = 0
        var isClosed = false

        mutating func append(_ element: Element) {
            ring[(first + count) % ring.count] = element
            count += 1
        }

        mutating func removeFirst() -> Element? {
            guard count > 0 else { return nil }
            let element = ring[first].take()
            first = (first + 1) % ring.count
            count -= 1
            return element
        }
    }
}
