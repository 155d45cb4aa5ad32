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
    private let state = Mutex(State())

    private struct State {
        var sockets = 0
        var opened = 0
        var isEnded = false
        var isGuarded = false
    }

    /// Descriptors that a process with a context needs.
    ///
    /// - Parameter jobs: at a time, each with databases of its own.
    /// - Returns: what libraries, sockets, threads and the jobs take at most.
    package static func descriptors(jobs: Int) -> UInt64 { 64 + 16 * UInt64(max(0, jobs)) }

    /// Makes a context and raises the limit of open descriptors.
    ///
    /// libzmq aborts the process where it cannot open a descriptor for itself. So a limit that is
    /// too low is refused here.
    ///
    /// - Parameters:
    ///   - ioThreads: 1 for a worker, 2 to 4 for a busy coordinator.
    ///   - maxSockets: of this process; connections do not count. libzmq alone would take 1,023.
    ///   - descriptors: the limit wanted; the hard limit of the process bounds it.
    ///   - needed: the limit without which nothing is begun.
    /// - Throws: `ZeroMQError.tooFewDescriptors`, and `refused` where memory forbids it.
    package init(
        ioThreads: Int = 1, maxSockets: Int = 4096, descriptors: UInt64 = 65_536,
        needed: UInt64 = Context.descriptors(jobs: 0)
    ) throws(ZeroMQError) {
        let limit = clinux_raise_descriptor_limit(descriptors)
        guard limit < 0 || UInt64(limit) >= needed else {
            throw .tooFewDescriptors(limit: UInt64(limit), needed: needed)
        }
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
    /// A second call does nothing. With sockets still open it would never return, so it traps.
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
