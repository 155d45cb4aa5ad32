import Glibc

/// A TCP connection that speaks no protocol of ours.
package final class RawConnection {
    /// The system refused the connection, or the endpoint names no port.
    package struct Failure: Error {}

    private let descriptor: Int32

    /// Connects to a port of this machine, named by an endpoint such as `tcp://127.0.0.1:4711`.
    ///
    /// - Throws: `Failure`.
    package init(_ endpoint: String) throws {
        guard let port = endpoint.split(separator: ":").last.flatMap({ UInt16($0) }) else {
            throw Failure()
        }
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Failure() }
    }

    deinit { close(descriptor) }

    /// Sends bytes, as far as the other side takes them.
    package func write(_ bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes {
            send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
    }

    /// Reads until the other side closes.
    package func readToEnd() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while read(descriptor, &buffer, buffer.count) > 0 {}
    }
}
