import ClusterCore
import RunLedger

extension RunState {
    /// The state in the machine's words.
    var standing: RunStanding {
        switch self {
        case .open: .open
        case .paused: .paused
        case .ended: .ended
        case .cancelled: .cancelled
        }
    }

    init(_ standing: RunStanding) {
        switch standing {
        case .open: self = .open
        case .paused: self = .paused
        case .ended: self = .ended
        case .cancelled: self = .cancelled
        }
    }
}
