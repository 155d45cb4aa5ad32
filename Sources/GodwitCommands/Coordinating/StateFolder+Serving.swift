import CommandSupport
import DurableFiles
import RunLedger
import StateFolders
import StoreRuns

extension StateFolder {
    /// Opens the ledger for the time of a body that may fail in any way.
    ///
    /// - Parameters:
    ///   - purpose: what others are told who want it meanwhile.
    ///   - body: gets the ledger and the folder without symbolic links.
    /// - Returns: what the body returns.
    /// - Throws: `CommandFailure` with the status that goes with the error.
    func serving<Result>(
        _ purpose: String, _ body: (Ledger, FilePath) throws -> Result
    ) throws(CommandFailure) -> Result {
        var failure: CommandFailure?
        do throws(RunError) {
            return try withLedger(purpose) { ledger, state throws(RunError) in
                do {
                    return try body(ledger, state)
                } catch {
                    failure = CommandFailure(caught: error)
                    throw .stopped
                }
            }
        } catch {
            throw failure ?? CommandFailure(error)
        }
    }
}
