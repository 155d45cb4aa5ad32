/// The bytes by which a router socket tells its peers apart: 1 to 255, the first not zero.
///
/// A worker takes a fresh random one each time it starts: a reused one can swallow messages for
/// as long as libzmq holds the former connection (libzmq#1575, #2010, #2892).
package struct RoutingID: Sendable {
    let frame: Frame

    init(received frame: Frame) { self.frame = frame }

    /// A routing id of text, such as random bytes in hexadecimal digits.
    ///
    /// - Throws: `ZeroMQError.invalidRoutingID` for none and for more than 255 bytes of UTF-8.
    package init(_ text: String) throws(ZeroMQError) {
        let bytes = text.utf8
        guard let first = bytes.first, first != 0, bytes.count <= 255 else {
            throw .invalidRoutingID
        }
        frame = Frame(bytes)
    }

    /// The id as text, or nil where the peer chose bytes that are not UTF-8.
    package var text: String? { frame.text }
}

extension RoutingID: Hashable {
    package static func == (left: RoutingID, right: RoutingID) -> Bool {
        left.frame === right.frame
            || left.frame.withBytes { left in
                right.frame.withBytes { left.elementsEqual($0) }
            }
    }

    package func hash(into hasher: inout Hasher) {
        frame.withBytes { hasher.combine(bytes: $0) }
    }
}

extension RoutingID: CustomStringConvertible {
    /// Hexadecimal digits of the bytes, for a peer may choose any.
    package var description: String {
        frame.withBytes { bytes in
            bytes.map { byte in
                let digits = String(byte, radix: 16)
                return digits.count == 1 ? "0" + digits : digits
            }.joined()
        }
    }
}
