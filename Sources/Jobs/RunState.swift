/// Where a run stands.
package enum RunState: String, Hashable, Sendable, Codable, CaseIterable {
    /// Work goes on, or goes on with the next start.
    case open
    /// It waits for something, such as room on a disk; the reason says what for.
    case paused
    /// Every store has come to its end; a replay opens the run again.
    case ended
    /// Given up for good.
    case cancelled

    /// Whether a run may go from this state to another one; never to the same.
    package func canBecome(_ next: RunState) -> Bool {
        switch (self, next) {
        case (.open, .paused), (.open, .ended), (.open, .cancelled): true
        case (.paused, .open), (.paused, .ended), (.paused, .cancelled): true
        case (.ended, .open): true
        case (.open, .open), (.paused, .paused), (.ended, .ended): false
        case (.ended, .paused), (.ended, .cancelled): false
        case (.cancelled, _): false
        }
    }

    /// Whether a start of the same command goes on with the run.
    package var isUnfinished: Bool {
        switch self {
        case .open, .paused: true
        case .ended, .cancelled: false
        }
    }
}
