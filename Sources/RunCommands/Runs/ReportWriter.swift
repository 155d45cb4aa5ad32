import CommandSupport
package import DurableFiles
package import Logging
import RunLedger
import StateFolders
import StoreRuns

/// Writes the reports of a coordinator's runs, each when it has come to its end.
package struct ReportWriter: Sendable {
    /// The coordinator's folder.
    let state: FilePath
    /// Jobs at a time that its plans are cut for.
    let slots: Int
    let log: Logger

    package init(state: FilePath, slots: Int, log: Logger) {
        self.state = state
        self.slots = slots
        self.log = log
    }

    /// Writes the report of a run into its folder; says where that cannot be done.
    package func write(_ run: String) {
        do throws(CommandFailure) {
            try Self.keep(run, state: state, slots: slots)
        } catch {
            log.error(
                "its report could not be written: \(error)",
                metadata: Logger.Metadata([.run: run]))
        }
    }

    /// Writes the report of a run that has ended.
    ///
    /// - Throws: `CommandFailure` where the ledger cannot be read, or the report not be written.
    static func keep(_ run: String, state: FilePath, slots: Int) throws(CommandFailure) {
        let (request, counts) = try CommandFailure.translating {
            let records = try RunRecords(state: state)
            let request = try records.request(of: run, state: state, slots: slots)
            let counts = try records.counts(of: run)
            try records.close()
            return (request, counts)
        }
        // A coordinator may have stopped on the way, and a replay comes days later: how long the
        // run took says nothing.
        try EndReport(
            RunEnding(id: run, counts: counts, isResumed: false),
            request: request, destination: request.destinationName, fleet: nil, seconds: 0
        ).keep()
    }
}
