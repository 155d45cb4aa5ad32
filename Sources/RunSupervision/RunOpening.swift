package import ClusterProtocol
import ClusterVocabulary
package import Jobs

/// A run as the ledger has it when it enters its coordinator.
package struct RunOpening: Hashable, Sendable {
    package let run: String
    /// The ledger's state of the run, as late as it can be read.
    package var state: RunState
    /// Why it is paused; nil where it is not.
    package var pause: PauseReason?
    /// Stores that have work left.
    package let stores: Int
    package let failed: Int
    /// Stores whose results wait for a request to swap them; 0 where swaps are not deferred.
    package let validated: Int
    package let defersSwap: Bool
    package let limits: RunLimits
    /// Stores that a submission added to a run that had begun before.
    package var added: Int
    /// Why there is too little space for the run to begin; nil where there is enough.
    package var shortage: String?

    package init(
        run: String, state: RunState, pause: PauseReason? = nil,
        stores: Int, failed: Int = 0, validated: Int = 0, defersSwap: Bool = false,
        limits: RunLimits = RunLimits(), added: Int = 0, shortage: String? = nil
    ) {
        self.run = run
        self.state = state
        self.pause = pause
        self.stores = stores
        self.failed = failed
        self.validated = validated
        self.defersSwap = defersSwap
        self.limits = limits
        self.added = added
        self.shortage = shortage
    }

    /// Whether the run has nothing to do before a client requests a replay or a swap.
    var isOver: Bool {
        switch state {
        case .ended: stores == 0
        case .open: stores == 0 && validated > 0
        case .paused, .cancelled: false
        }
    }

    /// The offer of the run to the machine.
    func offer(_ entry: RunEntry, isHeld: Bool) -> RunOffer {
        RunOffer(
            run: run, stores: stores, failed: failed, validated: validated,
            defersSwap: defersSwap, limits: limits,
            pausedBy: isHeld ? pause : nil,
            isOver: entry == .named && isOver, isResumed: entry != .submitted)
    }
}

/// Why a run enters.
package enum RunEntry: Hashable, Sendable {
    /// A client submitted it: it resumes, also where it was paused.
    case submitted
    /// It was unfinished when this start of the coordinator began.
    case resumed
    /// A client requests something of it.
    case named
}

/// What the ledger and the disks show of a run when a coordinator starts.
package struct RunAtStart: Hashable, Sendable {
    package let state: RunState
    /// Whether stores of it wait or run.
    package let hasWork: Bool
    /// Whether files of it are left, or stores that its cancellation has not reached.
    package let isUntidy: Bool
    package let isReported: Bool

    package init(state: RunState, hasWork: Bool, isUntidy: Bool, isReported: Bool) {
        self.state = state
        self.hasWork = hasWork
        self.isUntidy = isUntidy
        self.isReported = isReported
    }

    /// What a coordinator does with a run.
    package enum Decision: Hashable, Sendable {
        /// It enters, and its stores are offered.
        case resume
        /// Its end is carried out, because an earlier coordinator was stopped before that.
        case end(isCancelled: Bool, reports: Bool)
        case leave
    }

    package var decision: Decision {
        switch state {
        case .open, .paused: return .resume
        // A replay may have been stopped halfway.
        case .ended where hasWork: return .resume
        case .ended, .cancelled:
            guard isUntidy || !isReported || hasWork else { return .leave }
            return .end(isCancelled: state == .cancelled, reports: !isReported)
        }
    }
}
