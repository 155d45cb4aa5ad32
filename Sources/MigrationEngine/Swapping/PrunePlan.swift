package import CoreDataStore
package import DurableFiles

/// What of a store's backup is to be removed for good.
package struct PrunePlan: Hashable, Sendable, Codable {
    /// The backup's main file first: once it is gone, no rollback is tried.
    package let files: [FilePath]
    /// Folders with all that is in them.
    package let trees: [FilePath]
    /// Removed where it is empty then; other stores may have their backups in it.
    package let folder: FilePath
    /// Bytes that the file system gets back: of files that have no other name.
    package let bytes: Int64

    /// Looks at a backup and decides what goes; nothing is removed.
    ///
    /// - Parameters:
    ///   - swap: the plan of the swap that made the backup.
    ///   - backupNames: names of external data that the original refers to.
    ///   - storeNames: names that the live store refers to, its `-wal` included.
    ///   - existing: names that were there at the time of the swap; nil where that is unknown.
    ///   - isGivenUp: whether the swap will not be gone on with: what has the store's name is all
    ///     that is needed then.
    ///   - files: through which the files are looked at.
    /// - Throws: `EngineError.swapRefused` where the swap is not finished and the backup is still
    ///   needed, `.file` where the store itself is gone.
    package init(
        _ swap: SwapPlan, backupNames: Set<String>, storeNames: Set<String>,
        existing: Set<String>? = nil, isGivenUp: Bool = false, files: DurableFileSystem
    ) throws(EngineError) {
        self = try EngineError.translating {
            let facts = try RollbackFacts(reading: swap, files: files)
            guard facts.position != .snapshot || isGivenUp else {
                throw EngineError.swapRefused(
                    store: swap.store.path.description,
                    reason: "its swap was stopped on its way and still needs the backup; go on "
                        + "with it or roll it back first")
            }
            var stale = backupNames.subtracting(storeNames)
            if let existing { stale.formIntersection(existing) }
            let external = SupportFolder.externalData(ofStore: swap.store.path)
            return try PrunePlan(
                swap,
                stale: facts.position == .original ? [] : stale.sorted().map(external.appending)
            )
        }
    }

    private init(_ swap: SwapPlan, stale: [FilePath]) throws(DurableFileError) {
        files = swap.backups.map(\.backup) + stale
        trees = swap.backupTrees
        folder = swap.backupFolder
        var names: [FileIdentity: (names: UInt64, links: UInt64)] = [:]
        for path in files { try PrunePlan.count(FileStatus.ifPresent(path), &names) }
        for tree in trees where try FileStatus.ifPresent(tree) != nil {
            for found in try DurableFileSystem().tree(at: tree) {
                try PrunePlan.count(found.status, &names)
            }
        }
        bytes = names.filter { $0.value.names >= $0.value.links }.reduce(0) { sum, file in
            sum.addingReportingOverflow(file.key.size).partialValue
        }
    }

    private static func count(
        _ status: FileStatus?, _ names: inout [FileIdentity: (names: UInt64, links: UInt64)]
    ) throws(DurableFileError) {
        guard let status, status.isRegularFile else { return }
        names[status.identity, default: (0, status.links)].names += 1
    }

    /// Removes what the plan names; what is gone already is fine, so it can be done again.
    ///
    /// - Parameters:
    ///   - system: through which files are removed.
    ///   - lock: of the store, so that no rollback needs the backup meanwhile.
    /// - Throws: `EngineError.file`.
    package func run(files system: DurableFileSystem, under lock: StoreLock) throws(EngineError) {
        try EngineError.translating {
            for file in files where try FileStatus.ifPresent(file) != nil {
                try system.unlink(file)
            }
            for folder in Set(files.map(\.parent)).sorted()
            where try FileStatus.ifPresent(folder) != nil {
                try system.syncFolder(folder)
            }
            for tree in trees where try FileStatus.ifPresent(tree.parent) != nil {
                try system.removeTree(tree)
            }
            if try FileStatus.ifPresent(folder) != nil { try system.removeEmptyFolder(folder) }
        }
    }
}

/// Names of external data.
package enum ExternalNames {
    /// The names of all files of external data that a store refers to.
    ///
    /// - Throws: `EngineError.store`.
    /// - Complexity: one pass over each table with such an attribute.
    package static func referenced(by store: SourceStore) throws(EngineError) -> Set<String> {
        try EngineError.translating {
            var names: Set<String> = []
            let connection = try store.connect()
            try ExternalDataSurvey.references(in: store.layout, connection) { names.insert($0) }
            try connection.close()
            return names
        }
    }
}
