import CoreDataStore
import DurableFiles

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

    /// Opens the store's folder, in whose path no link may stand.
    ///
    /// - Throws: `EngineError.file`.
    init(
        store: FilePath, files: DurableFileSystem, lock: StoreLock, clients: ClientPolicy
    ) throws(EngineError) {
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
    /// - Throws: `EngineError.storeBusy` where a program has it open, `.clientsHidden` where that
    ///   cannot be seen, `.file` with `lockHeld` where another run has it.
    func cover(_ file: FilePath) throws(EngineError) {
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
    /// - Throws: what the body throws; `EngineError.storeBusy` where programs keep coming.
    func whileClientsAreOut(
        _ body: (_ letIn: () throws -> Void) throws -> Void
    ) throws -> [ReplacedFile] {
        var before: FileIdentity?
        // What fails after the name has changed hands leaves the old file as a success does.
        defer { lock.abandon(before, unless: identity(before: before)) }
        for _ in 0..<StoreMoves.tries {
            do {
                before = try live()
                try body {
                    if lock.isAwaited || lock.isAboutToBeOpened { throw ClientWaits() }
                }
                return lock.handOver(keeping: try live())
            } catch is ClientWaits {
                lock.admitClients()
            }
        }
        let users = FileUser.all(of: try live())
        throw EngineError.storeBusy(
            store: store.description,
            holder: users.isEmpty
                ? "programs that open it again and again" : FileUser.words(users))
    }

    /// What has the store's name now; what had it, where that cannot be seen.
    private func identity(before: FileIdentity?) -> FileIdentity? {
        do throws(DurableFileError) { return try live() } catch { return before }
    }

    /// How often programs that wait for the store may come first.
    private static let tries = 50

    /// A program waits to open the store.
    private struct ClientWaits: Error {}

    /// Gives a file the store's name, durably; one that has it already keeps it.
    ///
    /// Renaming one hard link of a file over another would do nothing and leave both.
    ///
    /// - Parameters:
    ///   - file: as it was planned or made; no other file gets the name.
    ///   - replaced: what may have had the store's name before.
    ///   - putBack: called where another file got the name all the same, because the file's own
    ///     name changed hands in the middle of the call.
    /// - Throws: `EngineError.swapRefused` for another file than the planned one.
    func replaceStore(
        with file: PlannedFile, insteadOf replaced: [PlannedFile] = [],
        putBack: () throws -> Void = {}
    ) throws {
        if file.isFile(try live()) {
            // Done before a crash; a second link to it would stay, or what it was exchanged for.
            if let left = try tree.status(of: file.path),
                ([file] + replaced).contains(where: { $0.isFile(left.identity) })
                    || lock.holds(left.identity)
            {
                try tree.unlink(file.path)
            }
        } else {
            guard let present = try tree.status(of: file.path), file.isFile(present.identity)
            else { throw refusal("\(file.path), which was to take its place, is gone or changed") }
            try cover(file.path)
            if try !exchangeStore(for: file) {
                try tree.rename(file.path, to: store, existing: .replace)
                guard let named = try tree.status(of: store), file.isFile(named.identity) else {
                    try putBack()
                    throw another(file)
                }
            }
        }
        try tree.syncFolder(store.parent)
        try syncSource(file.path.parent)
    }

    /// Exchanges a file for the store, looks at both, and puts them back where one of them is not
    /// what it was: a program may replace the store by a rename at any moment, of which no lock and
    /// no lease keeps it.
    ///
    /// - Returns: whether the file system can do that; nothing has changed where it cannot.
    private func exchangeStore(for file: PlannedFile) throws -> Bool {
        guard try tree.exchange(file.path, with: store) else { return false }
        let (named, out) = (try tree.status(of: store), try tree.status(of: file.path))
        let isFile = named.map { file.isFile($0.identity) } ?? false
        guard isFile, let out, lock.holds(out.identity) else {
            _ = try tree.exchange(file.path, with: store)
            throw isFile ? EngineError.changed(store) : another(file)
        }
        try tree.unlink(file.path)
        return true
    }

    private func another(_ file: PlannedFile) -> EngineError {
        refusal(
            "another file was put in the place of \(file.path) while that took its name, "
                + "and the store's own file was put back")
    }

    func refusal(_ reason: String) -> EngineError {
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

    /// Removes files that may be gone already, and makes that durable.
    func remove(_ paths: [FilePath]) throws(DurableFileError) {
        for path in paths { try tree.unlinkIfPresent(path) }
        try tree.syncFolder(store.parent)
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
