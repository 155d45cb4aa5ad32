package import DurableFiles
package import Jobs
package import RunLedger

extension RunRecords {
    /// The runs that have ended without a report, the newest first: what worked on them was killed
    /// between the two.
    ///
    /// - Throws: `RunError` where the ledger or a run's folder cannot be read.
    /// - Complexity: a look at one file a run.
    package func unreported() throws(RunError) -> [RunOverview] {
        var found: [RunOverview] = []
        for run in try runs() where run.state == .ended {
            if try run.lacksReport(counts(of: run.id), state: state) { found.append(run) }
        }
        return found
    }

    /// The newest run of a request for an output folder, where that has ended without any report
    /// and has all stores and results.
    ///
    /// Another run would find its results in the way. One in place finds nothing to do.
    /// The command that asks for the same again wants that run's end. A report that is only older
    /// than the end is that of the command that left the swaps to another one.
    ///
    /// - Parameters:
    ///   - request: what the command asks for.
    ///   - stores: that it asks for.
    /// - Returns: the run, and the stores and bytes that it has migrated.
    /// - Throws: `RunError` where the ledger or the run's folder cannot be read.
    package func unreported(
        _ request: RunRequest, over stores: [FoundStore]
    ) throws(RunError) -> BegunRun? {
        guard request.output != nil else { return nil }
        let digest = try RecordedRequest(request, mark: "").digest()
        guard let run = try runs().first(where: { $0.record.requestDigest == digest }),
            run.state == .ended, try run.lacksReport(counts(of: run.id), state: state),
            try RunError.translating({
                try FileStatus.ifPresent(RunFolders(state: state, run: run.id).report)
            }) == nil
        else { return nil }
        for store in stores {
            let known = try RunError.ledger { () throws(LedgerError) in
                try ledger.store(run: run.id, path: store.path)
            }
            switch known?.state {
            case .failed: continue
            case .done:
                // A result that was removed since is to be made again.
                guard let output = known?.found.output,
                    try RunError.translating({ try FileStatus.ifPresent(output) }) != nil
                else { return nil }
            default: return nil
            }
        }
        return BegunRun(id: run.id, isResumed: true, migrated: try migrated(in: run.id))
    }
}

extension RunOverview {
    /// Whether a run that is over has no report of its end.
    ///
    /// - Parameters:
    ///   - counts: its stores by their states.
    ///   - state: the state folder.
    /// - Returns: whether it has none, or one that is older than its end.
    /// - Throws: `RunError.file` where its folder cannot be looked at.
    package func lacksReport(
        _ counts: [StoreState: Int], state: FilePath
    ) throws(RunError) -> Bool {
        // A prune has removed it, a rollback has come after it.
        guard counts[.pruned] ?? 0 == 0, counts[.rolledBack] ?? 0 == 0 else { return false }
        let file = RunFolders(state: state, run: id).report
        guard let status = try RunError.translating({ try FileStatus.ifPresent(file) })
        else { return true }
        return status.identity.modified.seconds < changedAt / 1000
    }
}
