import CommandSupport
import DurableFiles
import RunLedger
import StateFolders
import StoreRuns

/// Reports that were never written, because a command was killed between the end of its run and
/// its report.
struct MissingReports {
    /// A state folder.
    let state: FilePath
    /// Jobs at a time, which the ledger does not record.
    let slots: Int

    /// Writes what is missing, and says so; what cannot be written is no reason to begin nothing.
    ///
    /// - Throws: `CommandFailure` where the state folder cannot be read.
    func write() throws(CommandFailure) {
        let runs = try CommandFailure.translating {
            guard let records = try records() else { return [RunOverview]() }
            let runs = try records.unreported()
            try records.close()
            return runs
        }
        for run in runs {
            do throws(CommandFailure) {
                try ReportWriter.keep(run.id, state: state, slots: slots)
                let folder = state.appending("runs").appending(FilePath(run.id))
                Console.log(
                    "godwit: the command of run \(run.id) was killed before it wrote a report. "
                        + "Godwit wrote the report now: \(folder.appending("report.html"))")
            } catch {
                Console.log(
                    "godwit: could not write the report of run \(run.id): \(error)")
            }
        }
    }

    private func records() throws -> RunRecords? {
        let ledger = state.appending(FilePath(Ledger.fileName))
        // Another user's records count for nothing; the command refuses such a folder next.
        guard try FileStatus.ifPresent(ledger) != nil, try StateFolder.isOwn(state)
        else { return nil }
        do throws(RunError) {
            return try RunRecords(state: state)
        } catch {
            // A command that was killed while it made the ledger leaves an unfinished one. The
            // command opens it next, and reports what cannot be repaired.
            return nil
        }
    }
}
