package import CoreDataStore
package import DurableFiles

/// A file and the state in which a plan found it.
package struct PlannedFile: Hashable, Sendable, Codable {
    package let path: FilePath
    package let identity: FileIdentity

    /// Reads the state that a file is in now.
    ///
    /// - Throws: `DurableFileError`, `notRegularFile` for anything but a file.
    package init(at path: FilePath) throws(DurableFileError) {
        let status = try FileStatus(of: path)
        guard status.isRegularFile else { throw .notRegularFile(path, kind: status.kind) }
        self.path = path
        identity = status.identity
    }

    /// Whether it is the same file, whatever was written to it since.
    package func isFile(_ other: FileIdentity) -> Bool {
        PlannedFile.isFile(identity, other)
    }

    /// Whether two identities are of one file, whatever was written to it between them.
    static func isFile(_ left: FileIdentity, _ right: FileIdentity) -> Bool {
        left.device == right.device && left.inode == right.inode
    }

    /// Whether it is the same file with the same contents.
    ///
    /// When a name, a link or a right changed (ctime) does not count, for the swap changes those.
    package func isSame(_ other: FileIdentity) -> Bool {
        isFile(other) && identity.size == other.size && identity.modified == other.modified
    }
}

/// What is to be swapped.
package struct SwapRequest: Sendable {
    /// The store as the user named it; a symbolic link is resolved once.
    package let store: FilePath
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

    package init(
        store: FilePath, run: String, expected: StoreFingerprint, newFile: FilePath,
        snapshot: FilePath? = nil, additions: [FilePath] = []
    ) {
        self.store = store
        self.run = run
        self.expected = expected
        self.newFile = newFile
        self.snapshot = snapshot
        self.additions = additions
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
    /// How many names the main file has.
    package let links: UInt64
    /// How many of them are backups of ours that an earlier run left.
    package let ownLinks: UInt64
    /// What changed since the store was read.
    package let changes: Set<FingerprintPart>
    /// Those that exist.
    package let companions: [Companion]
    package let newFile: PlannedFile
    /// Whether the result is one closed file.
    package let isNewFileAtRest: Bool
    package let snapshot: PlannedFile?
    package let hasExternalData: Bool
    package let additions: [Addition]
    /// Folders that additions need and that do not exist, the outermost first.
    package let missingFolders: [FilePath]

    /// Looks at the files; nothing is changed.
    ///
    /// - Throws: `EngineError.file` for a store that is gone or no regular file, for a folder
    ///   in which this process may not work, and for a result or snapshot that is not there.
    package init(
        reading request: SwapRequest, files: DurableFileSystem
    ) throws(EngineError) {
        self = try EngineError.translating { try SwapFacts(request, files) }
    }

    private init(_ request: SwapRequest, _ files: DurableFileSystem) throws {
        let path = try files.resolve(request.store)
        let found = try StoreFingerprint(of: path)
        let status = try FileStatus(of: path)
        run = request.run
        store = try PlannedFile(at: path)
        links = status.links
        ownLinks = try links > 1 ? SwapFacts.backups(of: store, files) : 0
        var changes = found.differences(from: request.expected)
        // Making a backup and taking it away again moves nothing but this.
        if changes == [.changed] { changes = [] }
        self.changes = changes
        try files.checkRights(inFolder: path.parent)
        companions = try StoreCompanion.allCases.compactMap { kind in
            guard try FileStatus.ifPresent(kind.path(of: path)) != nil else { return nil }
            return try Companion(
                kind: kind, file: PlannedFile(at: kind.path(of: path)),
                content: kind.content(of: path, files: files))
        }
        newFile = try PlannedFile(at: request.newFile)
        isNewFileAtRest = try StoreCompanion.allCases.allSatisfy { kind in
            try kind.content(of: request.newFile, files: files) == .none
        }
        snapshot = try request.snapshot.map { try PlannedFile(at: $0) }
        let folder = SupportFolder.externalData(ofStore: path)
        hasExternalData = try FileStatus.ifPresent(folder)?.isFolder == true
        additions = try request.additions.map { file in
            let target = folder.appending(file.lastComponent)
            return try Addition(
                file: PlannedFile(at: file), target: target,
                isTaken: FileStatus.ifPresent(target) != nil)
        }
        missingFolders = try [folder.parent, folder].filter { folder in
            try !request.additions.isEmpty && FileStatus.ifPresent(folder) == nil
        }
    }

    /// How many names a store's main file has in backup folders beside it.
    package static func backups(
        of store: PlannedFile, _ files: DurableFileSystem
    ) throws(DurableFileError) -> UInt64 {
        let folder = store.path.parent
        var count: UInt64 = 0
        for name in try files.names(in: folder)
        where name.bytes.starts(with: SwapPlan.backupPrefix.utf8) {
            let link = folder.appending(name).appending(store.path.lastComponent)
            if let status = try FileStatus.ifPresent(link), store.isFile(status.identity) {
                count += 1
            }
        }
        return count
    }
}
