import ClusterProtocol
import Jobs

// What must hold whatever workers and clients send.

extension CoordinatorMachine {
    /// Checks an invariant; where it is broken the caller does not take its step.
    ///
    /// - Parameters:
    ///   - condition: what must hold.
    ///   - invariant: whose condition it is.
    ///   - run: the run that stops where it does not hold; nil for none.
    ///   - found: ids and states, for the log.
    /// - Returns: whether it holds.
    mutating func holds(
        _ condition: Bool, _ invariant: Invariant, run: Int?, _ found: @autoclosure () -> String
    ) -> Bool {
        if !condition { report(BrokenInvariant(invariant, found()), run: run) }
        return condition
    }

    /// Reports a broken invariant; its run stops at the end of the event.
    mutating func report(_ broken: BrokenInvariant?, run: Int?) {
        guard let broken else { return }
        broken.end(settings.endsAtBrokenInvariant)
        if self.broken.count < 16 { self.broken.append(broken) }
        note(.broken("\(broken)"))
        if let run, faultyRuns[run] == nil { faultyRuns[run] = broken }
    }

    /// Stops runs of which an invariant was broken.
    ///
    /// What the machine holds of them cannot be trusted any more; the ledger can, and a new start
    /// reads it.
    mutating func stopFaultyRuns() {
        while let run = faultyRuns.keys.min(), let broken = faultyRuns.removeValue(forKey: run) {
            let reason =
                "a bug of Godwit stopped the run (\(broken)): restart the coordinator, resume "
                + "the run, and report the bug"
            hold(run, .stopped(reason))
        }
    }
}
