package import ClusterVocabulary

/// Invariants that were found broken, and the runs that stop because of them.
package struct FaultLog: Sendable {
    /// The first few.
    package private(set) var broken: [BrokenInvariant] = []

    package init() {
    }
    /// Runs that stop at the end of the event, each with what stops it.
    private var runs: [Int: BrokenInvariant] = [:]

    /// Keeps a broken invariant.
    ///
    /// - Parameters:
    ///   - fault: the invariant.
    ///   - run: the run that stops because of it; nil for none.
    package mutating func add(_ fault: BrokenInvariant, run: Int?) {
        if broken.count < 16 { broken.append(fault) }
        if let run, runs[run] == nil { runs[run] = fault }
    }

    /// Takes out the run that is to be stopped next.
    package mutating func nextRun() -> (run: Int, fault: BrokenInvariant)? {
        guard let run = runs.keys.min() else { return nil }
        return runs.removeValue(forKey: run).map { (run, $0) }
    }
}
