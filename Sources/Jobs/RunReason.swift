/// Why a run came to its state.
package enum RunReason: Hashable, Sendable, Codable {
    case paused(PauseReason)
    /// A client or the user asked that it resumes.
    case resumed
    /// A disk was full, and may have space again.
    case spaceAvailable
    /// A start of a coordinator resumes it.
    case restarted
    /// It had ended, and stores of it wait: a replay was stopped halfway.
    case storesWait
    /// A replay works on stores again.
    case replayed
    /// Every store has come to its end.
    case finished
    /// A client or the user cancelled it.
    case cancelled
    /// Nothing of it was begun, because space is short; the text says where, and how much.
    case refused(String)

    /// The reason for people.
    package var text: String {
        switch self {
        case .paused(let reason): reason.text
        case .resumed: "resumed on request"
        case .spaceAvailable: "there may be space again"
        case .restarted: "resumed after a restart"
        case .storesWait: "it has waiting stores"
        case .replayed: "stores are being retried"
        case .finished: "every store has ended"
        case .cancelled: "cancelled on request"
        case .refused(let text): text
        }
    }

    /// Why the run is paused; nil where it is not.
    package var pause: PauseReason? { if case .paused(let reason) = self { reason } else { nil } }
}
