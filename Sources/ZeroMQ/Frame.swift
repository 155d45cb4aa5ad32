internal import CZeroMQ
internal import Synchronization

/// One part of a message: bytes that never change and that are copied neither on arrival nor on
/// their way out.
///
/// A frame can be kept, read on any thread, and sent any number of times, to several peers too.
package final class Frame: @unchecked Sendable {
    // Unchecked: the bytes are constant. Sending marks the content as shared, hence the lock.
    private let message: UnsafeMutablePointer<zmq_msg_t>
    private let start: UnsafeMutableRawPointer?
    private let sending = Mutex(())
    package let count: Int

    /// Takes over the content of a message, which is empty afterwards.
    init(moving source: inout zmq_msg_t) {
        message = .allocate(capacity: 1)
        zmq_msg_init(message)
        zmq_msg_move(message, &source)
        start = zmq_msg_data(message)
        count = zmq_msg_size(message)
    }

    /// Makes a frame whose bytes are written in place, such as by an encoder.
    ///
    /// - Parameters:
    ///   - count: bytes.
    ///   - write: fills all of them; they are undefined before.
    /// - Throws: what `write` throws.
    package init<Failure: Error>(
        count: Int, writing write: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        message = .allocate(capacity: 1)
        guard zmq_msg_init_size(message, count) == 0 else {
            preconditionFailure("no memory is left for a frame of \(count) bytes")
        }
        start = zmq_msg_data(message)
        self.count = count
        try write(UnsafeMutableRawBufferPointer(start: start, count: count))
    }

    /// Makes a frame of memory that the caller hands over, without copying it.
    ///
    /// - Parameters:
    ///   - bytes: stay as they are until `release` is called.
    ///   - release: called once, on a thread of libzmq's as a rule, when no thread needs the bytes.
    package init(
        owning bytes: UnsafeMutableRawBufferPointer, release: @escaping @Sendable () -> Void
    ) {
        message = .allocate(capacity: 1)
        guard let address = bytes.baseAddress, bytes.count > 0 else {
            zmq_msg_init(message)
            start = nil
            count = 0
            release()
            return
        }
        let hint = Unmanaged.passRetained(Release(release))
        let result = zmq_msg_init_data(
            message, address, bytes.count,
            { _, hint in
                guard let hint else { return }
                Unmanaged<Release>.fromOpaque(hint).takeRetainedValue().call()
            }, hint.toOpaque())
        precondition(result == 0, "no memory is left for a frame")
        start = address
        count = bytes.count
    }

    /// Makes a frame with a copy of bytes.
    package convenience init(_ bytes: some Collection<UInt8>) {
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// Makes a frame with the UTF-8 of a text.
    package convenience init(_ text: String) { self.init(text.utf8) }

    deinit {
        zmq_msg_close(message)
        message.deallocate()
    }

    /// Lends the bytes; they must not be used after the body has returned.
    ///
    /// - Throws: what the body throws.
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { withExtendedLifetime(self) {} }
        return try body(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// A copy of the bytes.
    package var bytes: [UInt8] { withBytes { [UInt8]($0) } }

    /// The bytes as text, or nil where they are not UTF-8.
    package var text: String? { withBytes { String(validating: $0, as: UTF8.self) } }

    /// The name that authentication gave the sender; nil where it gave none.
    ///
    /// libzmq 4.3.4 gives it for frames of the payload only, not of the routing id.
    package var userID: String? { property("User-Id") }

    /// A property of the connection that the frame came by, such as `Peer-Address`.
    package func property(_ name: String) -> String? {
        zmq_msg_gets(message, name).map { String(cString: $0) }
    }

    /// Whether another part of the same message follows.
    var hasMore: Bool { zmq_msg_more(message) != 0 }

    /// Hands the bytes to a socket; zero or more, or the negated errno.
    func send(to socket: UnsafeMutableRawPointer, hasMore: Bool) -> Int32 {
        sending.withLock { _ in czeromq_send(message, socket, hasMore ? 1 : 0) }
    }

    private final class Release: Sendable {
        let call: @Sendable () -> Void

        init(_ call: @escaping @Sendable () -> Void) { self.call = call }
    }
}
