package import DurableFiles
import MigrationEngine
package import StateFolders
package import StoreLocks
import StoreSwap

/// What is looked at before any work on a store.
package struct StoreAdmission {
    /// The store, symbolic links resolved.
    let store: StoreLocation
    /// Where the result will lie; nil swaps it into the store's place.
    let output: StoreLocation?
    let files: DurableFileSystem
    /// What to do where programs that have the store open cannot be seen.
    let clients: ClientPolicy
    /// The name that the run's backups carry, where it is known.
    var mark: String?

    package init(
        store: StoreLocation, output: StoreLocation?, files: DurableFileSystem,
        clients: ClientPolicy,
        mark: String? = nil
    ) {
        self.store = store
        self.output = output
        self.files = files
        self.clients = clients
        self.mark = mark
    }

    private var path: FilePath { store.database }
    private var isInPlace: Bool { output == nil }

    /// Refuses what could not be ended well, and takes the store's lock against other runs, which
    /// may have other state folders.
    ///
    /// - Returns: the lock; nil where the file system has no such locks.
    /// - Throws: `RunError` naming what stands in the way.
    package func admit() throws(RunError) -> StoreLock? {
        try checkFolders()
        if isInPlace {
            try refuseHardLinks()
            try refuseHiddenClients()
        }
        let lock = try lock()
        try refuseExistingOutput()
        return lock
    }

    /// Refuses the same without a lock, for a caller that leaves the swap to others.
    ///
    /// A worker that hangs must not keep others from the store.
    func check() throws(RunError) {
        try checkFolders()
        if isInPlace { try refuseHardLinks() }
        try refuseExistingOutput()
    }

    /// Refuses folders of external data, and a backup's folder, in which no swap could work.
    ///
    /// A link would lead the run, which may have more rights than the store's owner, into another
    /// user's folder; it is refused for results beside the store, too. Another file system, or
    /// another owner, only stands in the way of a swap.
    ///
    /// - Throws: `RunError.file` with `refusedFolder`.
    func checkFolders() throws(RunError) {
        let folders = SwapFacts.folders(ofStore: path, run: isInPlace ? mark : nil)
        do throws(DurableFileError) {
            if isInPlace {
                try HeldTree(path.parent, store: path).check(folders)
            } else {
                for folder in folders {
                    guard try FileStatus.isLink(folder) else { continue }
                    throw .refusedFolder(folder, .symbolicLink)
                }
            }
        } catch {
            throw .file(error)
        }
    }

    private func lock() throws(RunError) -> StoreLock? {
        do throws(DurableFileError) {
            return try StoreLock(
                path, for: isInPlace ? .replacing : .reading, faults: files.faults)
        } catch {
            // A file system without such locks: reading needs none.
            let isUnknown = ["ENOLCK", "EOPNOTSUPP", "ENOSYS", "EBADF", "EINVAL"].contains(
                error.number.map { DurableFileError.name(of: $0) })
            if isUnknown, !isInPlace { return nil }
            throw .file(error)
        }
    }

    /// A program that has the store open without a lock would destroy what a swap puts in place.
    private func refuseHiddenClients() throws(RunError) {
        guard !clients.assumesClosed else { return }
        try RunError.translating {
            guard case .hidden(let reason) = try ClientVisibility(of: path) else { return }
            throw SwapError.clientsHidden(store: path.description, reason: reason)
        }
    }

    /// A swap would leave the other names with the original: better said before any work.
    func refuseHardLinks() throws(RunError) {
        try RunError.translating {
            let links = try FileStatus(of: path).links
            guard links > 1 else { return }
            let own = try SwapFacts.backups(of: PlannedFile(at: path), files)
            guard links > own + 1 else { return }
            throw SwapError.severalHardLinks(store: path.description, links: links - own)
        }
    }

    private func refuseExistingOutput() throws(RunError) {
        guard let output else { return }
        try RunError.translating {
            let companions = StoreCompanion.withContent.map(output.companion)
            for path in [output.database] + companions + [output.support]
            where try FileStatus.ifPresentLink(path) != nil {
                throw RunError.outputExists(path)
            }
        }
    }
}
