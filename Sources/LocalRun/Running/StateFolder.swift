package import DurableFiles
package import RunLedger

/// A folder of runs: the ledger, its lock, and the folders of the runs.
package struct StateFolder: Sendable {
    package let path: FilePath
    private let files: DurableFileSystem

    package init(_ path: FilePath, files: DurableFileSystem = DurableFileSystem()) {
        self.path = path
        self.files = files
    }

    /// Opens the ledger for the time of a body.
    ///
    /// - Parameters:
    ///   - purpose: what others are told who want it meanwhile.
    ///   - body: gets the ledger and the folder without symbolic links.
    /// - Returns: what the body returns.
    /// - Throws: the body's error before one of closing.
    package func withLedger<Result>(
        _ purpose: String, _ body: (Ledger, FilePath) throws(RunError) -> Result
    ) throws(RunError) -> Result {
        let resolved: FilePath
        do throws(DurableFileError) {
            try files.makeFolders(path)
            resolved = try files.resolve(path)
        } catch {
            throw .file(error)
        }
        let ledger = try RunError.ledger { () throws(LedgerError) in
            try Ledger(
                folder: resolved, holder: .thisProcess(doing: purpose), faults: files.faults)
        }
        let result: Result
        do throws(RunError) {
            result = try body(ledger, resolved)
        } catch {
            Self.abandon(ledger)
            throw error
        }
        do throws(LedgerError) {
            try ledger.close()
        } catch {
            // What was appended is durable in the log: the next opener has room to move it.
            if !error.isOutOfSpace { throw .ledger(error) }
        }
        return result
    }

    /// Closes a ledger on a way out whose own reason is what counts; the lock goes with its owner.
    private static func abandon(_ ledger: Ledger) {
        do throws(LedgerError) { try ledger.close() } catch { return }
    }
}
