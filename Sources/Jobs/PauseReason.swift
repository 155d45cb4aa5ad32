/// Why a run is paused.
package enum PauseReason: Hashable, Sendable, Codable {
    /// A client asked for it.
    case request
    /// A disk is full; the run tries again by itself. The text says which, and what is short.
    case space(String)
    /// Too many failures, or a bug; only a request lets the run resume.
    case stopped(String)

    /// The reason for people, without the word that the run is paused.
    package var text: String {
        switch self {
        case .request: "paused on request"
        case .space(let text): "not enough space: \(text)"
        case .stopped(let text): text
        }
    }

    /// What a run is, for people.
    package var words: String {
        switch self {
        case .request: text
        case .space, .stopped: "paused: \(text)"
        }
    }

    /// Whether the run resumes by itself, when there is room.
    package var isForSpace: Bool { if case .space = self { true } else { false } }
}
