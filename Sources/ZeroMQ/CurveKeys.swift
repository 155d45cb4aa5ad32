internal import CZeroMQ

/// The public half of a CURVE key: 32 bytes, written as 40 characters of Z85 (ZeroMQ RFC 32).
package struct PublicKey: Hashable, Sendable {
    /// 40 characters of Z85.
    package let text: String

    /// Takes a key as text.
    ///
    /// - Throws: `ZeroMQError.invalidKey`.
    package init(_ text: String) throws(ZeroMQError) {
        guard Z85.decode(text) != nil else { throw .invalidKey }
        self.text = text
    }

    /// Takes the 32 bytes of a key.
    ///
    /// - Throws: `ZeroMQError.invalidKey` for any other number of bytes.
    package init(bytes: some Collection<UInt8>) throws(ZeroMQError) {
        guard let text = Z85.encode(bytes) else { throw .invalidKey }
        self.text = text
    }

    /// The key's 32 bytes.
    package var bytes: [UInt8] { Z85.decode(text) ?? [] }
}

extension PublicKey: CustomStringConvertible {
    package var description: String { text }
}

/// The secret half of a CURVE key; it describes itself without its value.
package struct SecretKey: Hashable, Sendable {
    /// 40 characters of Z85, to be written to a file that its owner alone may read.
    package let text: String

    /// Takes a key as text.
    ///
    /// - Throws: `ZeroMQError.invalidKey`.
    package init(_ text: String) throws(ZeroMQError) {
        guard Z85.decode(text) != nil else { throw .invalidKey }
        self.text = text
    }

    var bytes: [UInt8] { Z85.decode(text) ?? [] }
}

extension SecretKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "a secret key" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Both halves of a CURVE key.
package struct KeyPair: Hashable, Sendable {
    package let publicKey: PublicKey
    package let secretKey: SecretKey

    /// The pair of a secret key: the public half follows from it.
    ///
    /// - Throws: `ZeroMQError.refused` where libzmq was built without CURVE.
    package init(secretKey: SecretKey) throws(ZeroMQError) {
        let (result, text) = Z85.text { text in zmq_curve_public(text, secretKey.text) }
        guard result == 0 else { throw .last(.makeKeys) }
        self.secretKey = secretKey
        publicKey = try PublicKey(text)
    }

    /// A new pair from the system's source of randomness.
    ///
    /// - Throws: `ZeroMQError.refused` where libzmq was built without CURVE.
    package static func generate() throws(ZeroMQError) -> KeyPair {
        var result: Int32 = 0
        let (_, secret) = Z85.text { secret in
            result = Z85.text { zmq_curve_keypair($0, secret) }.result
            return result
        }
        guard result == 0 else { throw .last(.makeKeys) }
        return try KeyPair(secretKey: SecretKey(secret))
    }
}

/// The text form of 32 bytes (ZeroMQ RFC 32).
private enum Z85 {
    static let characters = 40
    static let bytes = 32

    /// Runs a C function that writes a key's text.
    static func text(
        _ write: (UnsafeMutablePointer<CChar>) -> Int32
    ) -> (result: Int32, text: String) {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: characters + 1) { buffer in
            buffer.initialize(repeating: 0)
            guard let start = buffer.baseAddress else { return (-1, "") }
            let result = write(start)
            return (result, String(cString: start))
        }
    }

    static func encode(_ bytes: some Collection<UInt8>) -> String? {
        guard bytes.count == Self.bytes else { return nil }
        let copy = [UInt8](bytes)
        let (result, text) = text { zmq_z85_encode($0, copy, copy.count) == nil ? -1 : 0 }
        return result == 0 ? text : nil
    }

    static func decode(_ text: String) -> [UInt8]? {
        // libzmq reads up to a zero byte, so the length is that of the bytes.
        guard text.utf8.count == characters, !text.utf8.contains(0) else { return nil }
        var bytes = [UInt8](repeating: 0, count: Self.bytes)
        return zmq_z85_decode(&bytes, text) == nil ? nil : bytes
    }
}
