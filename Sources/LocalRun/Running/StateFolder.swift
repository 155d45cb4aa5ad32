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
    /// The folder must be this user's, and no other user may be able to write it.
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
            let files = files.with(.followed)
            try files.makeFolders(path)
            resolved = try files.resolve(path)
        } catch {
            throw .file(error)
        }
        try Self.refuseForeign(resolved)
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

    /// Whether what a state folder says may be acted on: no other user can have written it.
    ///
    /// The ledger names the files that a swap, a rollback or a prune changes. One that lies in a
    /// user's folder may be the user's own.
    ///
    /// - Parameter folder: without symbolic links.
    /// - Returns: whether it is this user's, and no other user may write it.
    /// - Throws: `DurableFileError` where the folder cannot be looked at.
    package static func isOwn(_ folder: FilePath) throws(DurableFileError) -> Bool {
        let status = try FileStatus(ofLink: folder)
        return status.isFolder && status.isOurOwn && status.permissions & 0o022 == 0
    }

    private static func refuseForeign(_ folder: FilePath) throws(RunError) {
        do throws(DurableFileError) {
            guard try isOwn(folder) else { throw .refusedPath(folder, reason: foreign) }
        } catch {
            throw .file(error)
        }
    }

    private static let foreign = """
        it belongs to another user, or other users may write it, so that its records may be \
        theirs; nothing was changed. Name another folder with --state, or take the right to write \
        away from others (chmod go-w)
        """

    /// Closes a ledger on a way out whose own reason is what counts; the lock goes with its owner.
    private static func abandon(_ ledger: Ledger) {
        do throws(LedgerError) { try ledger.close() } catch { return }
    }
}
