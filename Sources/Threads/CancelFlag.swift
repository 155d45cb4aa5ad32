internal import Synchronization

/// A wish to stop that running work asks for and that reaches into calls that block.
///
/// A loop asks `isCancelled`; a call that cannot ask (a SQLite statement) registers a handler
/// that ends it (`sqlite3_interrupt`). Once cancelled it stays so.
package final class CancelFlag: Sendable {
    private struct Handlers {
        var next: UInt64 = 0
        var active: [UInt64: @Sendable () -> Void] = [:]
    }

    private let cancelled = Atomic<Bool>(false)
    private let handlers = Mutex(Handlers())

    package init() {}

    /// Whether `cancel()` has been called; cheap enough for every row.
    package var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    /// Asks for the end and calls the handlers of what runs now.
    ///
    /// Handlers run on the calling thread, and once at most.
    package func cancel() {
        handlers.withLock { handlers in
            cancelled.store(true, ordering: .releasing)
            // Under the lock: no handler may run after its `withHandler` has returned, for
            // what it interrupts may be closed by then.
            for handler in handlers.active.values { handler() }
            handlers.active = [:]
        }
    }

    /// Throws where the end has been asked for.
    ///
    /// - Throws: `CancellationError`.
    package func check() throws {
        if isCancelled { throw CancellationError() }
    }

    /// Runs a body that the handler can end; the handler runs at once if already cancelled.
    ///
    /// The handler runs on the thread that cancels, never after this call has returned. It must
    /// not wait, nor use this flag.
    ///
    /// - Throws: what the body throws.
    package func withHandler<Result, Failure: Error>(
        _ handler: @escaping @Sendable () -> Void, body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let key = handlers.withLock { handlers -> UInt64 in
            handlers.next += 1
            if isCancelled { handler() } else { handlers.active[handlers.next] = handler }
            return handlers.next
        }
        defer { handlers.withLock { _ = $0.active.removeValue(forKey: key) } }
        return try body()
    }
}
