internal import CLinux
internal import Synchronization

/// A thread that its owner starts and joins.
///
/// Swift's cooperative pool must never block, so work that waits in C (SQLite, fsync, poll)
/// runs on threads of our own. The thread takes no signals: they reach the main thread.
/// Letting an owned thread go without `join()` is a bug and traps.
package final class OwnedThread: Sendable {
    /// What tools show: Linux keeps the first 15 bytes.
    package let name: String
    /// Nil once joined.
    private let handle: Mutex<UInt64?>

    /// SQLite and Swift code with deep queries fit easily; the pages are used only when touched.
    package static let standardStackBytes = 2 << 20

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - name: what tools show.
    ///   - stackBytes: at least 16 KiB (PTHREAD_STACK_MIN).
    ///   - body: the whole life of the thread.
    /// - Throws: `ThreadError.cannotStart` where limits or the stack size forbid the thread.
    package init(
        name: String, stackBytes: Int = OwnedThread.standardStackBytes,
        body: @escaping @Sendable () -> Void
    ) throws(ThreadError) {
        let start = Unmanaged.passRetained(Start(name: name, body: body))
        var started: UInt64 = 0
        let result = clinux_thread_start(
            &started, stackBytes,
            { argument in
                guard let argument else { return nil }
                let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                _ = clinux_thread_set_name(start.name)
                start.body()
                return nil
            }, start.toOpaque())
        guard result == 0 else {
            start.release()
            throw .cannotStart(name: name, number: -result)
        }
        self.name = name
        handle = Mutex(started)
    }

    deinit {
        let isJoined = handle.withLock { $0 == nil }
        precondition(isJoined, "the thread \(name) was never joined")
    }

    /// Waits until the thread has ended; later calls return at once.
    ///
    /// A thread that joins itself would never return, so it traps.
    package func join() {
        // The lock is held while waiting, so that every caller returns after the end.
        handle.withLock { handle in
            guard let thread = handle.take() else { return }
            precondition(clinux_thread_is_current(thread) == 0, "\(name) joins itself")
            let result = clinux_thread_join(thread)
            precondition(result == 0, "joining \(name) failed with errno \(-result)")
        }
    }

    /// The calling thread's name as the system keeps it, at most 15 bytes.
    package static var currentName: String {
        var buffer = [CChar](repeating: 0, count: 16)
        _ = clinux_thread_name(&buffer, buffer.count)
        let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }
}
