/// Where a store stands in its run.
package enum StoreState: String, Hashable, Sendable, Codable, CaseIterable {
    /// Found; no process works on it.
    case waiting
    /// Being migrated, the swap included.
    case running
    /// Built and validated; the swap was put off.
    case validated
    /// The result has the store's name, or its name in the output folder.
    case done
    /// Not migrated; can be replayed once the cause is repaired.
    case failed
    /// The original has its name again.
    case rolledBack
    /// The backup and what else the run kept are gone: no rollback any more.
    case pruned
    /// Given up with its run.
    case cancelled

    /// Whether a store may go from this state to another one; never to the same.
    package func canBecome(_ next: StoreState) -> Bool {
        switch self {
        case .waiting:
            switch next {
            case .running, .failed, .cancelled: true
            case .waiting, .validated, .done, .rolledBack, .pruned: false
            }
        case .running:
            switch next {
            case .waiting, .validated, .done, .failed, .cancelled: true
            case .running, .rolledBack, .pruned: false
            }
        case .validated:
            switch next {
            case .waiting, .running, .done, .failed, .cancelled: true
            case .validated, .rolledBack, .pruned: false
            }
        case .done:
            switch next {
            case .rolledBack, .pruned: true
            case .waiting, .running, .validated, .done, .failed, .cancelled: false
            }
        case .failed:
            switch next {
            case .waiting, .pruned, .cancelled: true
            case .running, .validated, .done, .failed, .rolledBack: false
            }
        case .rolledBack, .cancelled:
            switch next {
            case .pruned: true
            case .waiting, .running, .validated, .done, .failed, .rolledBack, .cancelled: false
            }
        case .pruned:
            false
        }
    }

    /// Whether its run still has to do something about the store.
    package var isUnfinished: Bool {
        switch self {
        case .waiting, .running, .validated: true
        case .done, .failed, .rolledBack, .pruned, .cancelled: false
        }
    }
}
