package import Jobs

/// Something that can be done after a run.
package enum NextStep: Hashable, Sendable {
    /// Repairing what made stores fail, and retrying them.
    case replay
    /// Swapping results in that wait for it.
    case swap
    /// Putting the originals back.
    case rollBack
    /// Removing the kept originals, which take so many bytes.
    case prune(bytes: Int64)

    /// What it is for, as a sentence's beginning.
    var purpose: String {
        switch self {
        case .replay: "repair the causes, then retry the failed stores"
        case .swap: "swap the results in"
        case .rollBack: "put the originals back"
        case .prune(let bytes):
            "remove the kept originals, which frees \(ByteSize(bytes: bytes).words)"
        }
    }

    /// What makes sense after a run, the most urgent first.
    static func all(after report: RunReport) -> [NextStep] {
        let outcomes = report.summary.outcomes
        var steps: [NextStep] = []
        // A replay has the run's options: what they refuse fails again.
        if report.summary.causes.contains(where: { !$0.cause.needsOtherOptions }) {
            steps.append(.replay)
        }
        if outcomes[.deferred] != nil { steps.append(.swap) }
        if report.summary.backups > 0 {
            steps += [.rollBack, .prune(bytes: report.summary.backupBytes)]
        }
        return steps
    }
}

/// What a report cannot say itself: the program that writes it knows its own options.
package struct ReportGuide: Sendable {
    let advice: @Sendable (FailureCause) -> String
    let command: @Sendable (NextStep, RunFacts) -> String

    /// - Parameters:
    ///   - advice: what to do before stores that failed by a cause are tried again.
    ///   - command: how a step is typed for a run.
    package init(
        advice: @escaping @Sendable (FailureCause) -> String,
        command: @escaping @Sendable (NextStep, RunFacts) -> String
    ) {
        self.advice = advice
        self.command = command
    }
}
