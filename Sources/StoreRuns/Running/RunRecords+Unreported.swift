package import DurableFiles
package import Jobs
package import RunLedger
package import StateFolders

extension RunRecords {
    /// The runs that have ended without a report, the newest first: what worked on them was killed
    /// between the two.
    ///
    /// - Throws: `RunError` where the ledger or a run's folder cannot be read.
    /// - Complexity: a look at one file a run.
    package func unreported() throws(RunError) -> [RunOverview] {
        var found: [RunOverview] = []
        for run in try runs() where run.state == .ended {
            let counts = try counts(of: run.id)
            do throws(RunError) {
                if try run.lacksReport(counts, state: state) { found.append(run) }
            } catch {
                // Writing the report says what is wrong there.
                found.append(run)
            }
        }
        return found
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
        let written = status.identity.modified
        let milliseconds = written.seconds * 1000 + Int64(written.nanoseconds / 1_000_000)
        // File systems use a clock that lags behind, by up to a tick of the kernel.
        return milliseconds + Self.clockTick < changedAt
    }

    /// In milliseconds.
    private static let clockTick: Int64 = 10
}
