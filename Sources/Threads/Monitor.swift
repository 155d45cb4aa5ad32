internal import CLinux

/// A state behind a mutex, with two conditions to wait for.
///
/// `Synchronization.Mutex` has no condition variables, hence pthread's. `@unchecked Sendable`
/// is sound because `state` is reached only through `Access`, which exists only while the
/// mutex is held. The state lies behind a pointer, for the thread sanitizer takes a change of a
/// class's property by coroutine for a change of the whole object.
final class Monitor<State: Sendable>: @unchecked Sendable {
    /// One of the two things to wait for.
    enum Condition: Int32, Sendable { case first, second }

    /// The state while the mutex is held.
    struct Access: ~Copyable {
        private let monitor: Monitor<State>

        fileprivate init(_ monitor: Monitor<State>) { self.monitor = monitor }

        var state: State {
            _read { yield monitor.state.pointee }
            nonmutating _modify { yield &monitor.state.pointee }
        }

        /// Lets the mutex go until the condition is signalled; may return without cause.
        func wait(for condition: Condition) {
            clinux_monitor_wait(monitor.raw, condition.rawValue)
        }

        /// As `wait(for:)`; false once the monotonic clock has reached the deadline.
        func wait(for condition: Condition, until deadline: Int64) -> Bool {
            clinux_monitor_wait_until(monitor.raw, condition.rawValue, deadline) == 0
        }

        /// Wakes one waiter.
        func signal(_ condition: Condition) {
            clinux_monitor_signal(monitor.raw, condition.rawValue)
        }

        /// Wakes all waiters of both conditions.
        func wakeAll() {
            clinux_monitor_broadcast(monitor.raw, Condition.first.rawValue)
            clinux_monitor_broadcast(monitor.raw, Condition.second.rawValue)
        }
    }

    private let state: UnsafeMutablePointer<State>
    private let raw: OpaquePointer

    init(_ state: State) {
        guard let raw = clinux_monitor_create() else {
            preconditionFailure("no memory is left for a mutex")
        }
        self.state = .allocate(capacity: 1)
        self.state.initialize(to: state)
        self.raw = raw
    }

    deinit {
        clinux_monitor_destroy(raw)
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Runs the body while holding the mutex.
    // Inlined into a caller of a known state, it crashes the optimizer of Swift 6.3.
    @inline(never)
    func withLock<Result>(_ body: (borrowing Access) -> Result) -> Result {
        clinux_monitor_lock(raw)
        defer { clinux_monitor_unlock(raw) }
        return body(Access(self))
    }
}
