import CoreDataStore
import DurableFiles
import StoreLocks

/// The moves that swap and rollback are made of: each can be done again after a crash.
struct StoreMoves {
    /// The store's main file.
    let store: FilePath
    /// Opens the files of the lock through its descriptors.
    let files: DurableFileSystem
    /// The store's folder and those below it: every file is reached through their descriptors.
    let tree: HeldTree
    /// Keeps other runs and clients out of every file that has, or gets, the store's name.
    let lock: StoreLock
    let clients: ClientPolicy
    /// What was moved on the way.
    let moved = MovedFiles()

    /// Opens the store's folder, in whose path no link may stand.
    ///
    /// - Throws: `SwapError.file`.
    init(
        store: FilePath, files: DurableFileSystem, lock: StoreLock, clients: ClientPolicy
    ) throws(SwapError) {
        do throws(DurableFileError) {
            tree = try HeldTree(
                store.parent, store: store, through: lock.held, faults: files.faults)
        } catch {
            throw .file(error)
        }
        self.store = store
        self.files = files.opening(lock.held)
        self.lock = lock
        self.clients = clients
    }

    /// What has the store's name now.
    ///
    /// - Throws: `DurableFileError.notRegularFile` for anything but a file, links included.
    func live() throws(DurableFileError) -> FileIdentity {
        try PlannedFile(at: store, in: tree).identity
    }

    /// Keeps everybody out of a file that has the store's name or is to get it.
    ///
    /// - Throws: `SwapError.storeBusy` where a program has it open, `.clientsHidden` where that
    ///   cannot be seen, `.file` with `lockHeld` where another run has it.
    func cover(_ file: FilePath) throws(SwapError) {
        do throws(DurableFileError) {
            try lock.keepClientsOut(of: file, clients)
        } catch {
            switch error {
            case .inUse(_, let users):
                throw .storeBusy(store: store.description, holder: FileUser.words(users))
            case .clientsHidden(_, let reason):
                throw .clientsHidden(store: store.description, reason: reason)
            default: throw .file(error)
            }
        }
    }

    /// Runs steps while clients are kept out, and starts again whenever a program waits to open
    /// the store before any of its names has changed: that program may then use the store first.
    ///
    /// - Parameter body: does what is left to do; `letIn` throws where a program waits, and must
    ///   be called before the first step that changes what has the store's name or lies beside it.
    /// - Returns: the files that lost the store's name.
    /// - Throws: what the body throws; `SwapError.storeBusy` where programs keep coming.
    func whileClientsAreOut(
        _ body: (_ letIn: () throws -> Void) throws -> Void
    ) throws -> [ReplacedFile] {
        var users: [FileUser] = []
        // What fails after the name has changed hands leaves the old file as a success does.
        defer { admitClients() }
        for _ in 0..<StoreMoves.tries {
            do {
                moved.named.append(try live())
                try body {
                    if lock.isAwaited || lock.isAboutToBeOpened { throw ClientWaits() }
                }
                return lock.handOver(keeping: try live())
            } catch is ClientWaits {
                lock.admitClients()
                // For the message: it may have closed the store again when the last try fails.
                let others = FileUser.some(of: try live(), looks: 1)
                if !others.isEmpty { users = others }
            }
        }
        throw SwapError.storeBusy(
            store: store.description,
            holder: users.isEmpty
                ? "programs that keep opening it" : FileUser.words(users))
    }

    /// Lets clients in again, but into no file that had the store's name and has lost it: a
    /// program that looked the name up meanwhile waits for that file.
    func admitClients() {
        let live: FileIdentity?
        do throws(DurableFileError) { live = try self.live() } catch { live = nil }
        // What cannot be seen may be the file that had the name first.
        lock.abandon(moved.named, unless: live ?? moved.named.first)
    }

    /// How often programs that wait for the store may come first.
    private static let tries = 50

    /// A program waits to open the store.
    private struct ClientWaits: Error {}

    func refusal(_ reason: String) -> SwapError {
        .swapRefused(store: store.description, reason: reason)
    }

    /// Makes durable what has left a folder; one that was removed before a crash has nothing left.
    func syncSource(_ folder: FilePath) throws(DurableFileError) {
        guard folder != store.parent else { return }
        do throws(DurableFileError) {
            try tree.syncFolder(folder)
        } catch {
            guard error.isMissing else { throw error }
        }
    }

    /// Removes a file that may be gone already, and makes that durable in its own folder.
    func remove(_ path: FilePath) throws(DurableFileError) {
        try tree.unlinkIfPresent(path)
        try tree.syncFolder(path.parent)
    }

    /// The companions that are there and have content.
    func companionsWithContent() throws(DurableFileError) -> [StoreCompanion] {
        var found: [StoreCompanion] = []
        for kind in StoreCompanion.allCases
        where try kind.content(of: store, files: files) != .none {
            found.append(kind)
        }
        return found
    }

    /// Gives a file a second name, or copies it where the file system has no hard links.
    ///
    /// What else has the name is removed. The folder is not synced.
    ///
    /// - Parameters:
    ///   - source: the file.
    ///   - target: its second name.
    ///   - isExpected: whether the file that is found is the one that is meant; no other file gets
    ///     the name.
    /// - Returns: the file that has the second name now, and whether it is a copy.
    /// - Throws: `DurableFileError.changedMeanwhile` for a file that is not expected.
    @discardableResult
    func linkOrClone(
        _ source: FilePath, to target: FilePath, where isExpected: (FileIdentity) -> Bool
    ) throws(DurableFileError) -> (file: PlannedFile, isCopy: Bool) {
        let found = try PlannedFile(at: source, in: tree)
        guard isExpected(found.identity) else { throw .changedMeanwhile(source) }
        if let present = try tree.status(of: target) {
            if found.isFile(present.identity) {
                return (PlannedFile(path: target, identity: present.identity), false)
            }
            try tree.unlink(target)
        }
        do throws(DurableFileError) {
            try tree.link(source, to: target)
        } catch {
            guard error.isWithoutHardLinks else { throw error }
            return (try clone(source, to: target, where: isExpected), true)
        }
        let linked = try PlannedFile(at: target, in: tree)
        guard found.isFile(linked.identity) else {
            // The source's name changed hands since it was looked at.
            try tree.unlink(target)
            throw .changedMeanwhile(source)
        }
        return (linked, false)
    }

    private func clone(
        _ source: FilePath, to target: FilePath, where isExpected: (FileIdentity) -> Bool
    ) throws(DurableFileError) -> PlannedFile {
        // Under a name of its own until it is whole.
        let name = StoreMoves.temporary(for: target)
        try tree.unlinkIfPresent(name)
        let input = try tree.openForReading(source)
        guard isExpected(try input.status().identity) else { throw .changedMeanwhile(source) }
        let output = try tree.create(name)
        do throws(DurableFileError) {
            try files.copyContents(of: input, to: output)
            _ = try files.copyAttributes(from: input, to: output)
            try output.sync()
            let made = PlannedFile(path: target, identity: try output.status().identity)
            try output.close()
            try tree.syncFolder(name.parent)
            try tree.rename(name, to: target, existing: .refuse)
            guard let named = try tree.status(of: target), made.isSame(named.identity) else {
                throw .changedMeanwhile(target)
            }
            return made
        } catch {
            discard(name)
            throw error
        }
    }

    /// Removes what a failed copy leaves; the failure itself is what the caller reports.
    private func discard(_ path: FilePath) {
        do throws(DurableFileError) { try tree.unlinkIfPresent(path) } catch { return }
    }

    /// The name of a copy that is not whole yet.
    static func temporary(for target: FilePath) -> FilePath {
        let digest = ContentDigest.hexadecimal(of: target.lastComponent.bytes)
        return target.parent.appending(
            DurableFileSystem.temporaryPrefix + "copy-\(digest.prefix(16))")
    }

    /// Whether a name is one of a file that is still being made.
    static func isTemporary(_ name: FilePath) -> Bool {
        name.bytes.starts(with: DurableFileSystem.temporaryPrefix.utf8)
    }
}

extension DurableFileError {
    /// Whether a link failed because the file system, or its rules, have no place for one more.
    var isWithoutHardLinks: Bool {
        guard case .system(.link, _, _) = self else { return false }
        return ["EPERM", "EOPNOTSUPP", "EMLINK", "ENOSYS"].contains(
            number.map { DurableFileError.name(of: $0) })
    }
}
