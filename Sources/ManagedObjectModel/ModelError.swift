/// Why a model could not be read or used.
package enum ModelError: Error, Hashable, Sendable {
    /// The bytes are not what the format says; the text names the place.
    case malformed(String)
    /// The format is known, but not one that can be read here; the text says what to do.
    case unsupported(String)
    /// A file could not be read; the text names it and the reason.
    case unreadable(String)
    /// A bundle has no such version, or names no current one; the text says what it has.
    case noVersion(String)
}

extension ModelError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .malformed(let text): "the model is malformed: \(text)"
        case .unsupported(let text): "the model cannot be used: \(text)"
        case .unreadable(let text): "the model cannot be read: \(text)"
        case .noVersion(let text): text
        }
    }
}
