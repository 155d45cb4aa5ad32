import CSQLite

/// A request to stop that reaches into running SQLite statements.
///
/// Connections that a thread opens inside `reaching` belong to the stop: once it is set, their
/// statements end with `StoreError.cancelled`, those that run now (`sqlite3_interrupt`) and those
/// that begin later. A stop that was set stays so.
package final class StatementStop: @unchecked Sendable {
    // Counted and changed by the C side alone, under its own lock; nil without memory, and then
    // only `isSet` of this object's users tells.
    private let stop: OpaquePointer?

    package init() { stop = godwit_sqlite_stop_new() }

    private init(sharing stop: OpaquePointer) {
        godwit_sqlite_stop_retain(stop)
        self.stop = stop
    }

    deinit { godwit_sqlite_stop_release(stop) }

    /// Interrupts the statements of all connections that belong to the stop, from any thread.
    ///
    /// - Complexity: O(open connections of the process).
    package func set() {
        if let stop { godwit_sqlite_stop_set(stop) }
    }

    /// Whether `set` was called.
    package var isSet: Bool { godwit_sqlite_stop_is_set(stop) != 0 }

    /// Runs a body whose connections belong to the stop.
    ///
    /// - Parameter body: opens connections on the calling thread. Threads that it starts take the
    ///   stop over by `current`.
    /// - Returns: what the body returns.
    /// - Throws: what the body throws.
    package func reaching<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let former = godwit_sqlite_stop_enter(stop)
        defer {
            _ = godwit_sqlite_stop_enter(former)
            withExtendedLifetime(self) {}
        }
        return try body()
    }

    /// The stop that the calling thread's connections belong to; nil for none.
    package static var current: StatementStop? {
        godwit_sqlite_stop_current().map { StatementStop(sharing: $0) }
    }

    /// Runs a body for another thread's stop; without one it just runs.
    ///
    /// - Parameters:
    ///   - stop: of the thread that hands out the work.
    ///   - body: runs on the calling thread.
    /// - Returns: what the body returns.
    /// - Throws: what the body throws.
    package static func reaching<Result, Failure: Error>(
        _ stop: StatementStop?, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let stop else { return try body() }
        return try stop.reaching(body)
    }
}
