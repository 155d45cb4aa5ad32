internal import CLinux
internal import CZeroMQ
internal import Synchronization

/// What the sockets of a process share: I/O threads and the names of `inproc`.
///
/// One a process, for CURVE in several contexts at a time can crash libzmq before 4.3.5. Sockets
/// hold it. It ends when the last of them and the last owner let it go, or by `end()`.
package final class Context: @unchecked Sendable {
    // Unchecked: libzmq's contexts may be used from any thread.
    let raw: UnsafeMutableRawPointer
    /// How many descriptors the process may have now.
    package let descriptorLimit: Int64
    private let state = Mutex(State())

    private struct State {
        var sockets = 0
        var opened = 0
        var isEnded = false
        var isGuarded = false
    }

    /// Makes a context and raises the limit of open descriptors, without which libzmq aborts.
    ///
    /// - Parameters:
    ///   - ioThreads: 1 for a worker, 2 to 4 for a busy coordinator.
    ///   - maxSockets: of this process; connections do not count. libzmq alone would take 1,023.
    ///   - descriptors: the limit wanted; the hard limit of the process bounds it.
    /// - Throws: `ZeroMQError.refused` where limits or memory forbid it.
    package init(
        ioThreads: Int = 1, maxSockets: Int = 4096, descriptors: UInt64 = 65_536
    ) throws(ZeroMQError) {
        descriptorLimit = clinux_raise_descriptor_limit(descriptors)
        guard let raw = zmq_ctx_new() else { throw .last(.makeContext) }
        let isSet =
            zmq_ctx_set(raw, ZMQ_IO_THREADS, Int32(clamping: ioThreads)) == 0
            && zmq_ctx_set(raw, ZMQ_MAX_SOCKETS, Int32(clamping: maxSockets)) == 0
        guard isSet else {
            let error = ZeroMQError.last(.makeContext)
            _ = czeromq_terminate(raw)
            throw error
        }
        self.raw = raw
    }

    deinit { end() }

    /// Waits until what was sent has left, for at most the sockets' lingering time, and ends.
    ///
    /// A second call does nothing. With sockets still open it would wait for ever, hence traps.
    package func end() {
        let isFirst = state.withLock { state in
            precondition(state.sockets == 0, "\(state.sockets) sockets are still open")
            defer { state.isEnded = true }
            return !state.isEnded
        }
        if isFirst { _ = czeromq_terminate(raw) }
    }

    /// How many sockets are open.
    package var openSockets: Int { state.withLock { $0.sockets } }

    /// Whether an access policy answers who may come in.
    var isGuarded: Bool {
        get { state.withLock { $0.isGuarded } }
        set { state.withLock { $0.isGuarded = newValue } }
    }

    /// Counts a socket in; a number of its own, for names of `inproc`.
    func countSocket() -> Int {
        state.withLock { state in
            precondition(!state.isEnded, "the context has ended")
            state.sockets += 1
            state.opened += 1
            return state.opened
        }
    }

    func countSocketOut() { state.withLock { $0.sockets -= 1 } }
}
