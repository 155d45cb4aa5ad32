package import DurableFiles

/// Finds out what other programs did to the external data of a store that was to be swapped.
package struct ExternalDataLook {
    private let tree: HeldTree

    init(_ tree: HeldTree) {
        self.tree = tree
    }

    /// Looks below the folder of a store.
    ///
    /// - Throws: `DurableFileError` where it is gone.
    package init(of plan: SwapPlan, _ files: DurableFileSystem) throws(DurableFileError) {
        tree = try HeldTree(plan.store.path.parent, store: plan.store.path, faults: files.faults)
    }

    /// The names of files that only the backup has, because other files have these names.
    ///
    /// - Throws: `DurableFileError`.
    /// - Complexity: reads both of two files that have one name.
    package func replaced(of plan: SwapPlan) throws(DurableFileError) -> Set<String> {
        guard let folder = plan.externalData else { return [] }
        var names: Set<String> = []
        for entry in plan.record?.entries ?? [] where entry.path.parent == folder.backup {
            let original = folder.original.appending(entry.path.lastComponent)
            if case .isReplaced = try state(of: entry, named: original) {
                names.insert("\(entry.path.lastComponent)")
            }
        }
        return names
    }

    /// What has become of a file of external data since its swap.
    enum State {
        /// It has its name, and its contents.
        case inPlace
        /// Only its backup is there.
        case isGone
        /// Its backup is there, and something else has its name.
        case isReplaced
        /// Its contents are nowhere.
        case lost
    }

    /// Looks at a file of external data and at its backup.
    ///
    /// - Parameters:
    ///   - entry: what the swap recorded of it.
    ///   - original: its name in the store's folder.
    /// - Returns: what has become of it.
    /// - Throws: `DurableFileError`.
    /// - Complexity: reads both files where they are not one.
    func state(
        of entry: BackupRecord.Entry, named original: FilePath
    ) throws(DurableFileError) -> State {
        let live = try tree.status(of: original)
        // A swap that stopped early has not backed it up, or has not recorded its copy.
        if let live, !entry.isCopy, entry.isSame(live.identity) { return .inPlace }
        guard let backup = try tree.status(of: entry.path) else { return .lost }
        guard backup.isRegularFile, entry.isFile(backup.identity) else { return .lost }
        // What is left of it is better than nothing.
        guard let live else { return .isGone }
        guard backup.size == entry.identity.size,
            try tree.entry(at: entry.path, as: entry.path, isCopy: true).header == entry.header
        else { return .lost }
        if live.identity.isFile(backup.identity) { return .inPlace }
        guard live.isRegularFile, live.size == backup.size,
            try tree.openForReading(original).hasSameContents(
                as: tree.openForReading(entry.path))
        else { return .isReplaced }
        return .inPlace
    }
}
