package import CoreDataStore
package import DurableFiles
import SafeSQLite

/// A file and the state in which a plan found it.
package struct PlannedFile: Hashable, Sendable, Codable {
    package let path: FilePath
    package let identity: FileIdentity

    /// Reads the state that a file is in now.
    ///
    /// - Throws: `DurableFileError`, `notRegularFile` for anything but a file, links included.
    package init(at path: FilePath) throws(DurableFileError) {
        let status = try FileStatus(ofLink: path)
        try self.init(path, status)
    }

    /// Reads the state of a file that lies in a tree.
    ///
    /// - Throws: `DurableFileError`, as the other initialiser.
    init(at path: FilePath, in tree: HeldTree) throws(DurableFileError) {
        try self.init(path, tree.existing(path))
    }

    private init(_ path: FilePath, _ status: FileStatus) throws(DurableFileError) {
        guard status.isRegularFile else { throw .notRegularFile(path, kind: status.kind) }
        self.init(path: path, identity: status.identity)
    }

    /// A file whose state is known.
    init(path: FilePath, identity: FileIdentity) {
        self.path = path
        self.identity = identity
    }

    /// Whether it is the same file, whatever was written to it since.
    package func isFile(_ other: FileIdentity) -> Bool {
        identity.isStill(other)
    }

    /// Whether it is the same file with the same contents.
    package func isSame(_ other: FileIdentity) -> Bool {
        identity.isSame(other)
    }
}

/// What is to be swapped.
package struct SwapRequest: Sendable {
    /// The store as the user named it; a symbolic link is resolved once.
    package let store: StoreLocation
    /// The run's short name, which the backup's folder carries: 1 to 64 letters, digits and
    /// hyphens.
    package let run: String
    /// The store's state when it was read for the migration.
    package let expected: StoreFingerprint
    /// The validated result, closed, under a temporary name on the store's file system.
    package let newFile: FilePath
    /// One file that is the whole of the original, on the store's file system; needed where the
    /// original has a `-wal` with content or a hot journal, ignored otherwise.
    package let snapshot: FilePath?
    /// Files of external data that the result refers to and the store has not; normally none.
    ///
    /// They are moved from where they are into the store's own folder under their names.
    package let additions: [FilePath]
    /// The result as it was validated, which alone takes the store's place; nil accepts any.
    package let validated: FileIdentity?

    package init(
        store: StoreLocation, run: String, expected: StoreFingerprint, newFile: FilePath,
        snapshot: FilePath? = nil, additions: [FilePath] = [], validated: FileIdentity? = nil
    ) {
        self.store = store
        self.run = run
        self.expected = expected
        self.newFile = newFile
        self.snapshot = snapshot
        self.additions = additions
        self.validated = validated
    }
}

/// What was found of a store and of what is to take its place: all that a swap plan depends on.
package struct SwapFacts: Hashable, Sendable, Codable {
    /// A file beside the store.
    package struct Companion: Hashable, Sendable, Codable {
        package let kind: StoreCompanion
        package let file: PlannedFile
        package let content: StoreCompanion.Content
    }

    /// A file of external data that is to come in.
    package struct Addition: Hashable, Sendable, Codable {
        package let file: PlannedFile
        package let target: FilePath
        /// Whether something has the name already.
        package let isTaken: Bool
    }

    package let run: String
    /// The main file; no symbolic link is left in its path.
    package let store: PlannedFile
    /// The folder that it lies in.
    package let parent: FileIdentity
    /// How many names the main file has.
    package let links: UInt64
    /// How many of them are backups of ours that an earlier run left.
    package let ownLinks: UInt64
    /// What changed since the store was read.
    package let changes: Set<FingerprintPart>
    /// Those that exist.
    package let companions: [Companion]
    package let newFile: PlannedFile
    /// Whether the result is the file that was validated.
    package let isValidated: Bool
    /// Whether the result is one closed file.
    package let isNewFileAtRest: Bool
    package let snapshot: PlannedFile?
    package let hasExternalData: Bool
    package let additions: [Addition]
    /// Folders that additions need and that do not exist, the outermost first.
    package let missingFolders: [FilePath]
    /// What a backup will hold, under the paths of the originals.
    package let originals: [BackupRecord.Entry]

    /// Looks at the files; nothing is changed.
    ///
    /// - Throws: `SwapError.file` for a store that is gone or no regular file, for a folder
    ///   in which this process may not work, for one that is a link, lies on another file system
    ///   or belongs to another user, and for a result or snapshot that is not there.
    package init(
        reading request: SwapRequest, files: DurableFileSystem
    ) throws(SwapError) {
        self = try SwapError.translating { try SwapFacts(request, files) }
    }

    private init(_ request: SwapRequest, _ files: DurableFileSystem) throws {
        let path = try files.resolve(request.store.database)
        let tree = try HeldTree(path.parent, store: path)
        try tree.check(SwapFacts.folders(ofStore: path, run: request.run))
        let found = try StoreFingerprint(of: path)
        let status = try FileStatus(ofLink: path)
        run = request.run
        store = try PlannedFile(at: path)
        parent = try FileStatus(ofLink: path.parent).identity
        links = status.links
        ownLinks = try links > 1 ? SwapFacts.backups(of: store, files) : 0
        var changes = found.differences(from: request.expected)
        // Making a backup and taking it away again moves nothing but this.
        if changes == [.changed] { changes = [] }
        self.changes = changes
        try files.checkRights(inFolder: path.parent)
        companions = try StoreCompanion.allCases.compactMap { kind in
            guard try FileStatus.ifPresent(StoreLocation(path).companion(kind)) != nil else {
                return nil
            }
            return try Companion(
                kind: kind, file: PlannedFile(at: StoreLocation(path).companion(kind)),
                content: kind.content(of: path, files: files))
        }
        let result = try PlannedFile(at: SwapFacts.resolved(request.newFile, files))
        newFile = result
        isValidated = request.validated.map { result.isSame($0) } ?? true
        isNewFileAtRest = try StoreCompanion.allCases.allSatisfy { kind in
            try kind.content(of: request.newFile, files: files) == .none
        }
        snapshot = try request.snapshot.map {
            try PlannedFile(at: SwapFacts.resolved($0, files))
        }
        let folder = StoreLocation(path).externalData
        hasExternalData = try tree.status(of: folder)?.isFolder == true
        originals = try SwapFacts.originals(
            [path] + companions.filter { $0.kind != .sharedMemory }.map(\.file.path), folder, tree)
        additions = try request.additions.map { file in
            let file = try SwapFacts.resolved(file, files)
            let target = folder.appending(file.lastComponent)
            return try Addition(
                file: PlannedFile(at: file), target: target,
                isTaken: FileStatus.ifPresent(target) != nil)
        }
        missingFolders = try [folder.parent, folder].filter { folder in
            try !request.additions.isEmpty && FileStatus.ifPresent(folder) == nil
        }
    }

    /// A path whose folder has no symbolic link in it; the last name may be one.
    private static func resolved(
        _ path: FilePath, _ files: DurableFileSystem
    ) throws(DurableFileError) -> FilePath {
        try files.resolve(path.parent).appending(path.lastComponent)
    }

    /// The folders that a store has, or gets, beside it.
    ///
    /// - Parameters:
    ///   - path: the main file.
    ///   - run: the name that the run's backups carry; nil leaves the backup's folder out.
    /// - Returns: the folders, of which none need exist; those of one path the outer one first.
    package static func folders(ofStore path: FilePath, run: String?) -> [FilePath] {
        let external = StoreLocation(path).externalData
        let backup = run.map { path.parent.appending(SwapPlan.backupPrefix + $0) }
        return [external.parent, external] + [backup].compactMap(\.self)
    }

    /// What there is to back up: the store's files, and the regular files of its external data.
    private static func originals(
        _ files: [FilePath], _ external: FilePath, _ tree: HeldTree
    ) throws(DurableFileError) -> [BackupRecord.Entry] {
        var entries: [BackupRecord.Entry] = []
        for file in files { entries.append(try tree.entry(at: file, as: file, isCopy: false)) }
        for name in try tree.names(in: external) where !StoreMoves.isTemporary(name) {
            let file = external.appending(name)
            guard try tree.status(of: file)?.isRegularFile == true else { continue }
            entries.append(try tree.entry(at: file, as: file, isCopy: false))
        }
        return entries
    }

    /// How many names a store's main file has in backup folders beside it.
    package static func backups(
        of store: PlannedFile, _ files: DurableFileSystem
    ) throws(DurableFileError) -> UInt64 {
        let folder = try HeldFolder(store.path.parent)
        var count: UInt64 = 0
        for name in try folder.names()
        where name.bytes.starts(with: SwapPlan.backupPrefix.utf8) {
            // What is no folder here holds no backup of ours.
            guard try folder.entry(name)?.isFolder == true else { continue }
            let link = try HeldFolder(name, in: folder).entry(store.path.lastComponent)
            if let link, store.isFile(link.identity) { count += 1 }
        }
        return count
    }
}
