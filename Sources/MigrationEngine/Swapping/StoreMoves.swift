import CoreDataStore
import DurableFiles

/// The moves that swap and rollback are made of: each can be done again after a crash.
struct StoreMoves {
    /// The store's main file.
    let store: FilePath
    /// Opens the files of the lock through its descriptors.
    let files: DurableFileSystem
    /// Keeps other runs and clients out of every file that has, or gets, the store's name.
    let lock: StoreLock
    let clients: ClientPolicy

    init(
        store: FilePath, files: DurableFileSystem, lock: StoreLock, clients: ClientPolicy
    ) {
        self.store = store
        self.files = files.opening(lock.held)
        self.lock = lock
        self.clients = clients
    }

    /// What has the store's name now.
    func live() throws(DurableFileError) -> FileIdentity { try FileStatus(of: store).identity }

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
        defer { lock.admitClients() }
        for _ in 0..<StoreMoves.tries {
            do {
                try body {
                    if lock.isAwaited { throw ClientWaits() }
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

    /// How often programs that wait for the store may come first.
    private static let tries = 50

    /// A program waits to open the store.
    private struct ClientWaits: Error {}

    /// Gives a file the store's name, durably; one that has it already keeps it.
    ///
    /// Renaming one hard link of a file over another would do nothing and leave both.
    func replaceStore(with file: PlannedFile) throws {
        if file.isFile(try live()) {
            // Done before a crash; a second link to it would stay.
            if let left = try FileStatus.ifPresent(file.path), file.isFile(left.identity) {
                try files.unlink(file.path)
            }
        } else {
            try cover(file.path)
            try files.rename(file.path, to: store, existing: .replace)
        }
        try files.syncFolder(store.parent)
        try syncSource(file.path.parent)
    }

    /// Makes durable what has left a folder; one that was removed before a crash has nothing left.
    func syncSource(_ folder: FilePath) throws(DurableFileError) {
        guard folder != store.parent, try FileStatus.ifPresent(folder) != nil else { return }
        try files.syncFolder(folder)
    }

    /// Removes files that may be gone already, and makes that durable.
    func remove(_ paths: [FilePath]) throws(DurableFileError) {
        for path in paths { try unlinkIfPresent(path) }
        try files.syncFolder(store.parent)
    }

    /// Removes a name that may be gone already.
    func unlinkIfPresent(_ path: FilePath) throws(DurableFileError) {
        do {
            try files.unlink(path)
        } catch {
            guard error.isMissing else { throw error }
        }
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
    func linkOrClone(_ source: FilePath, to target: FilePath) throws(DurableFileError) {
        let identity = try FileStatus(of: source).identity
        if let present = try FileStatus.ifPresent(target) {
            if present.identity.device == identity.device,
                present.identity.inode == identity.inode
            {
                return
            }
            try files.unlink(target)
        }
        do {
            try files.linkWithoutSync(from: source, to: target)
        } catch {
            guard error.isWithoutHardLinks else { throw error }
            // Under a name of its own until it is whole.
            let copy = StoreMoves.temporary(for: target)
            try unlinkIfPresent(copy)
            _ = try files.clone(from: source, to: copy)
            _ = try files.copyAttributes(from: source, to: copy)
            try files.rename(copy, to: target, existing: .refuse)
        }
    }

    /// The name of a copy that is not whole yet.
    static func temporary(for target: FilePath) -> FilePath {
        let digest = ContentDigest.hexadecimal(of: target.lastComponent.bytes)
        return target.parent.appending(
            DurableFileSystem.temporaryPrefix + "copy-\(digest.prefix(16))")
    }

    /// Whether a name is one of a file that is still being made.
    private func isTemporary(_ name: FilePath) -> Bool {
        name.bytes.starts(with: DurableFileSystem.temporaryPrefix.utf8)
    }

    /// Gives every regular file of a folder a second name in another, which is made.
    func linkAll(in source: FilePath, to target: FilePath) throws(DurableFileError) {
        try files.makeFolders(target)
        for name in try files.names(in: source) where !isTemporary(name) {
            guard try FileStatus(ofLink: source.appending(name)).isRegularFile else { continue }
            try linkOrClone(source.appending(name), to: target.appending(name))
        }
        try files.syncFolder(target)
    }

    /// Gives files of a folder back their names in another where those are gone.
    func linkMissing(from source: FilePath, to target: FilePath) throws(DurableFileError) {
        guard try FileStatus.ifPresent(source) != nil else { return }
        try files.makeFolders(target)
        for name in try files.names(in: source) where !isTemporary(name) {
            guard try FileStatus.ifPresent(target.appending(name)) == nil else { continue }
            try linkOrClone(source.appending(name), to: target.appending(name))
        }
        try files.syncFolder(target)
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
