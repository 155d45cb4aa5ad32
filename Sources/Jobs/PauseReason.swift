/// Why a run is paused.
package enum PauseReason: Hashable, Sendable {
    /// A client asked for it.
    case request
    /// A disk is full; the run tries again by itself.
    case space(String)
    /// Too many failures, or a bug; only a request lets the run resume.
    case stopped(String)

    // Ledgers keep both, so they never change.
    private static let requested = "paused on request"
    private static let space = "no room: "

    /// Reads a reason that a ledger kept.
    package init(kept text: String) {
        if text == PauseReason.requested {
            self = .request
        } else if text.hasPrefix(PauseReason.space) {
            self = .space(String(text.dropFirst(PauseReason.space.count)))
        } else {
            self = .stopped(text)
        }
    }

    /// The reason as ledgers keep it.
    package var text: String {
        switch self {
        case .request: PauseReason.requested
        case .space(let text): PauseReason.space + text
        case .stopped(let text): text
        }
    }

    /// What a run is, for people.
    package var words: String {
        switch self {
        case .request: PauseReason.requested
        case .space, .stopped: "paused: \(text)"
        }
    }

    /// Whether the run resumes by itself, when there is room.
    package var isForSpace: Bool { if case .space = self { true } else { false } }
}
