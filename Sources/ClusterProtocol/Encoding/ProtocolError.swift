/// Why a message could not be read, or must not be sent.
///
/// Errors name fields and numbers, never what a peer wrote into them.
package enum ProtocolError: Error, Hashable, Sendable {
    /// Longer than a control message may be.
    case tooLong(bytes: Int, limit: Int)
    /// Too short for a version and a type, or for the length that it announces.
    case tooShort(bytes: Int)
    /// A version that this side does not understand.
    case unknownVersion(found: Int, known: ProtocolRange)
    /// A type that does not exist, or that the other side does not send.
    case unknownType(Int)
    /// The body is not the protobuf message that its type promises.
    case malformed(String)
    /// The body holds fields that the message does not have in this version.
    case unknownFields(String)
    case missing(field: String)
    /// A number without a meaning.
    case unknownValue(field: String, Int64)
    /// A number below or above what makes sense.
    case outOfRange(field: String, Int64)
    /// More elements than the field may have.
    case tooMany(field: String, count: Int, limit: Int)
    /// An empty or too long text, or one with characters that have no place in it.
    case badText(field: String, reason: String)
    /// A path that could lead out of its root, or a root that is no name.
    case badPath(field: String, reason: String)
}

extension ProtocolError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLong(let bytes, let limit):
            "a message of \(bytes) bytes is longer than the limit of \(limit)"
        case .tooShort(let bytes): "a message of \(bytes) bytes is truncated"
        case .unknownVersion(let found, let known):
            "protocol version \(found) is not supported (this side uses \(known)); "
                + "use the same release of godwit on both sides"
        case .unknownType(let number): "\(number) is not an expected message type"
        case .malformed(let message): "the message \(message) cannot be decoded"
        case .unknownFields(let message):
            "the message \(message) has fields that this version does not know"
        case .missing(let field): "\(field) is missing"
        case .unknownValue(let field, let number): "\(number) is not a known value of \(field)"
        case .outOfRange(let field, let number): "\(number) is out of range for \(field)"
        case .tooMany(let field, let count, let limit):
            "\(field) has \(count) elements, at most \(limit) are allowed"
        case .badText(let field, let reason): "the text of \(field) \(reason)"
        case .badPath(let field, let reason): "the path of \(field) \(reason)"
        }
    }

    /// What a peer is told that sent the message; `ours` is what this side understands.
    package func refusal(ours: ProtocolRange = .current) -> Refusal {
        switch self {
        case .unknownVersion(let found, _):
            .protocolVersion(theirs: ProtocolRange(lowest: found, highest: found), ours: ours)
        default: Refusal(code: .badMessage, text: description, protocols: ours)
        }
    }
}
