/// Why a run is paused.
package enum PauseReason: Hashable, Sendable {
    /// A client asked for it.
    case request(String)
    /// A disk is full; the run tries again by itself.
    case space(String)
    /// Too many failures, or a bug; only a request lets the run resume.
    case stopped(String)

    /// How the text of a pause for space begins; kept in ledgers, so it never changes.
    private static let space = "no room: "

    /// The reason as ledgers keep it and people read it.
    package var text: String {
        switch self {
        case .request(let text), .stopped(let text): text
        case .space(let text): PauseReason.space + text
        }
    }

    /// Whether a reason that a ledger kept is that of a pause for space.
    package static func isForSpace(kept text: String) -> Bool { text.hasPrefix(space) }
}
