import CoreDataStore
package import DurableFiles
import SafeSQLite

/// Whose file has the store's name.
package enum SwapPosition: String, Hashable, Sendable, Codable {
    /// The original: the swap stopped after its backup.
    case original
    /// The snapshot: the swap was stopped on its way.
    case snapshot
    /// The result, as the swap left it.
    case result
    /// The result with a program's changes, or another program's file.
    case changed
}

/// What was found of a store and of its backup: all that a rollback plan depends on.
package struct RollbackFacts: Hashable, Sendable, Codable {
    /// A file of the backup as it is now.
    package struct Backup: Hashable, Sendable, Codable {
        package let file: BackedUpFile
        /// Nil where it is gone.
        package let found: PlannedFile?

        /// What the swap recorded of it; nil where it was not recorded.
        package let recorded: BackupRecord.Entry?
        /// The digest of its first bytes as they are now.
        package let header: String?
        /// Where nothing was recorded: whether a main file begins as a database does.
        package let fitsOriginal: Bool?

        /// Whether it still is what the swap put there.
        ///
        /// What had no content may be missing. The original itself counts whatever was recorded: a
        /// process may have died before a copy took its place.
        package var isWhole: Bool {
            guard let found else { return !file.hasContent }
            if let recorded, !file.original.isFile(found.identity) {
                return recorded.isSame(found.identity) && recorded.header == header
            }
            if file.original.isFile(found.identity) { return file.original.isSame(found.identity) }
            return file.original.identity.size == found.identity.size && fitsOriginal != false
        }

        /// Looks at a file of a backup.
        ///
        /// - Throws: `DurableFileError`, `refusedFolder` where the backup's folder is not one.
        init(
            _ file: BackedUpFile, of swap: SwapPlan, in tree: HeldTree
        ) throws(DurableFileError) {
            self.file = file
            recorded = swap.record?.entry(file.backup)
            guard try tree.status(of: file.backup) != nil else {
                (found, header, fitsOriginal) = (nil, nil, nil)
                return
            }
            let open = try tree.openForReading(file.backup)
            let now = try BackupRecord.entry(of: open, as: file.backup, isCopy: false)
            found = PlannedFile(path: file.backup, identity: now.identity)
            header = now.header
            guard file.kind == nil, recorded == nil else {
                fitsOriginal = nil
                return
            }
            let start = try open.read(count: StoreFingerprint.headerBytes, at: 0)
            if case .success = DatabaseHeader.read(start) {
                fitsOriginal = true
            } else {
                fitsOriginal = false
            }
        }
    }

    package let swap: SwapPlan
    /// What has the store's name.
    package let live: PlannedFile
    package let position: SwapPosition
    /// Files beside it.
    package let companions: [SwapFacts.Companion]
    package let backups: [Backup]

    /// Whether the store holds nothing at all that could be lost.
    var isEmpty: Bool {
        live.identity.size == 0 && companions.allSatisfy { $0.content == .none }
    }

    /// Looks at the files; nothing is changed.
    ///
    /// - Throws: `SwapError`.
    package init(reading swap: SwapPlan, files: DurableFileSystem) throws(SwapError) {
        self = try SwapError.translating { try RollbackFacts(swap, files) }
    }

    private init(_ swap: SwapPlan, _ files: DurableFileSystem) throws {
        let path = swap.store.path
        let tree = try HeldTree(path.parent, store: path, through: files.held)
        try tree.check([swap.backupFolder] + SwapFacts.folders(ofStore: path, run: nil))
        self.swap = swap
        live = try PlannedFile(at: path, in: tree)
        companions = try StoreCompanion.allCases.compactMap { kind in
            guard try tree.status(of: StoreLocation(path).companion(kind)) != nil else {
                return nil
            }
            return try SwapFacts.Companion(
                kind: kind, file: PlannedFile(at: StoreLocation(path).companion(kind), in: tree),
                content: kind.content(of: path, files: files))
        }
        backups = try swap.backups.map { try Backup($0, of: swap, in: tree) }
        position = RollbackFacts.position(swap, live: live.identity, companions)
    }

    private static func position(
        _ swap: SwapPlan, live: FileIdentity, _ companions: [SwapFacts.Companion]
    ) -> SwapPosition {
        let contents = companions.filter { $0.content != .none }
        if swap.newFile.isSame(live) { return contents.isEmpty ? .result : .changed }
        // What has content must be the original's own.
        let areOriginal = contents.allSatisfy { companion in
            swap.backups.contains {
                $0.kind == companion.kind && $0.original.isSame(companion.file.identity)
            }
        }
        guard areOriginal else { return .changed }
        if swap.store.isSame(live) { return .original }
        return swap.snapshot?.isSame(live) == true ? .snapshot : .changed
    }
}
