import CoreDataStore
package import DurableFiles

/// Whose file has the store's name.
package enum SwapPosition: String, Hashable, Sendable, Codable {
    /// The original: the swap went no further than its backup.
    case original
    /// The snapshot: the swap was stopped on its way.
    case snapshot
    /// The result, as the swap left it.
    case result
    /// The result with somebody's changes, or a file of somebody else.
    case changed
}

/// What was found of a store and of its backup: all that a rollback plan depends on.
package struct RollbackFacts: Hashable, Sendable, Codable {
    /// A file of the backup as it is now.
    package struct Backup: Hashable, Sendable, Codable {
        package let file: BackedUpFile
        /// Nil where it is gone.
        package let found: PlannedFile?

        /// Whether it still is what the swap put there.
        ///
        /// Of a copy, the size must do. What had no content may be missing.
        package var isWhole: Bool {
            guard let found else { return !file.hasContent }
            if file.original.isFile(found.identity) { return file.original.isSame(found.identity) }
            return file.original.identity.size == found.identity.size
        }
    }

    package let swap: SwapPlan
    /// What has the store's name.
    package let live: PlannedFile
    package let position: SwapPosition
    /// Files beside it.
    package let companions: [SwapFacts.Companion]
    package let backups: [Backup]

    /// Looks at the files; nothing is changed.
    ///
    /// - Throws: `EngineError`.
    package init(reading swap: SwapPlan, files: DurableFileSystem) throws(EngineError) {
        self = try EngineError.translating { try RollbackFacts(swap, files) }
    }

    private init(_ swap: SwapPlan, _ files: DurableFileSystem) throws {
        let path = swap.store.path
        self.swap = swap
        live = try PlannedFile(at: path)
        companions = try StoreCompanion.allCases.compactMap { kind in
            guard try FileStatus.ifPresent(kind.path(of: path)) != nil else { return nil }
            return try SwapFacts.Companion(
                kind: kind, file: PlannedFile(at: kind.path(of: path)),
                content: kind.content(of: path, files: files))
        }
        backups = try swap.backups.map { file in
            let isThere = try FileStatus.ifPresent(file.backup) != nil
            return try Backup(file: file, found: isThere ? PlannedFile(at: file.backup) : nil)
        }
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
