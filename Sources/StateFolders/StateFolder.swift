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
            try Self.refuseForeignLinks(path)
            let files = files.with(.followed)
            try files.makeFolders(path)
            resolved = try files.resolve(path)
            guard try Self.isOwn(resolved) else {
                throw .refusedPath(resolved, reason: Self.foreign)
            }
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

    /// Whether what a state folder says may be acted on: no other user can have written it.
    ///
    /// The ledger names the files that a swap, a rollback or a prune changes. One that lies in a
    /// user's folder may be the user's own, also inside a folder of ours: the owner of the folder
    /// around it may have renamed a folder of kept originals, with a store that was called as the
    /// ledger is.
    ///
    /// - Parameter folder: without symbolic links.
    /// - Returns: whether it and its ledger are this user's, and no other user may write them.
    /// - Throws: `DurableFileError` where the folder cannot be looked at.
    package static func isOwn(_ folder: FilePath) throws(DurableFileError) -> Bool {
        let status = try FileStatus(ofLink: folder)
        guard status.isFolder, status.isOurOwn, status.permissions & 0o022 == 0 else {
            return false
        }
        let ledger = folder.appending(FilePath(Ledger.fileName))
        let files =
            ["", "-wal", "-shm", "-journal"].map { ledger.adding(suffix: $0) }
            + [folder.appending(FilePath(Ledger.lockName))]
        for file in files {
            guard let status = try FileStatus.ifPresentLink(file) else { continue }
            guard status.isRegularFile, status.isOurOwn, status.permissions & 0o022 == 0,
                status.links == 1
            else { return false }
        }
        return true
    }

    /// Refuses a way to a state folder that another user chose.
    ///
    /// - Parameter path: as it was given; what exists of it counts.
    /// - Throws: `DurableFileError.refusedPath` for a symbolic link that another user has made.
    package static func refuseForeignLinks(_ path: FilePath) throws(DurableFileError) {
        guard let link = try LinkWalk.foreignLink(on: path) else { return }
        throw .refusedPath(
            path,
            reason: "\(link) is a symbolic link owned by another user, who can change its target. "
                + "Nothing was changed. Give the folder itself")
    }

    private static let foreign = """
        it or its ledger belongs to another user, or other users can write to it and could \
        forge its records. Nothing was changed. Give another state folder, or remove the write \
        permission of other users (chmod go-w)
        """

    /// Closes a ledger on a way out whose own reason is what counts; the lock goes with its owner.
    private static func abandon(_ ledger: Ledger) {
        do throws(LedgerError) { try ledger.close() } catch { return }
    }
}
