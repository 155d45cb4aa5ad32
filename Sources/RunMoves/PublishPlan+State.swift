import DurableFiles
import StoreSwap

// MARK: - What is there of a store and its result

extension PublishPlan {
    /// Whether the folder of a store's external data has lost files since the store was read.
    ///
    /// - Throws: `DurableFileError`.
    func heldMore(than store: FilePath) throws(DurableFileError) -> Bool {
        guard let sourceHeld, try FileStatus.ifPresent(store.parent) != nil else { return false }
        return try Self.sourceData(of: store).held.hasFewerFiles(than: sourceHeld)
    }

    /// The folder of the result's files of external data, wherever it is now; nil where there is
    /// none.
    ///
    /// - Throws: `DurableFileError`.
    func resultFolder() throws(DurableFileError) -> FilePath? {
        try twin?.appending(StoreLocation.externalDataName)
    }

    /// Whether a store still is as it was read; nil where the plan does not say how that was.
    ///
    /// - Throws: `DurableFileError`, `isMissing` where the store is gone.
    func isUpToDate(_ store: FilePath) throws(DurableFileError) -> Bool? {
        guard let source else { return nil }
        // First: a store that is gone may have taken its external data with it.
        let now = try StoreFingerprint(of: store)
        if let sourceHeld {
            let (folder, tree, held) = try Self.sourceData(of: store)
            guard try holds(held, sourceHeld, at: folder, tree, beside: twin) else { return false }
        }
        // Hard links say nothing of contents.
        return now.differences(from: source).subtracting([.changed]).isEmpty
    }

    /// The folder of a store's external data, and what it holds.
    static func sourceData(
        of store: FilePath
    ) throws(DurableFileError) -> (folder: FilePath, tree: HeldTree, held: FolderContents) {
        let folder = StoreLocation(store).support
        let tree = try HeldTree(folder.parent)
        return (folder, tree, try FolderContents(of: folder, in: tree))
    }

    /// The folder of the result's external data, wherever it is now.
    var twin: FilePath? {
        get throws(DurableFileError) {
            guard let support else { return nil }
            for path in [support.to, support.from]
            where try FileStatus.ifPresentLink(path)?.identity.inode == support.inode {
                return path
            }
            return nil
        }
    }

    /// Whether a folder holds what it held before.
    ///
    /// Where times leave that open, the bytes of the same files in another folder decide: those
    /// of a store and of its result are equal. Where there are none, a change of links, rights or
    /// owners explains the times.
    func holds(
        _ now: FolderContents, _ former: FolderContents, at folder: FilePath, _ tree: HeldTree,
        beside other: FilePath?
    ) throws(DurableFileError) -> Bool {
        switch now.compared(with: former) {
        case .same: return true
        case .different: return false
        case .unclear(let hasOtherOwners):
            guard let other,
                let areSame = try FolderContents.haveSameBytes(folder, other, tree)
            else { return hasOtherOwners }
            return areSame
        }
    }

    /// Whether the result still has its name and is as it was published, external data included.
    ///
    /// - Throws: `DurableFileError`.
    func stands(_ files: DurableFileSystem) throws(DurableFileError) -> Bool {
        // An app that has it open, or was killed, may have written to its log.
        guard try sideFile() == nil else { return false }
        guard let support else {
            return try FileStatus.ifPresentLink(output.database).map {
                building.isSame($0.identity)
            }
                ?? false
        }
        guard let tree = try openIfThere(files),
            let there = try tree.status(of: place(output.database, tree, files)),
            building.isSame(there.identity)
        else { return false }
        return try state(of: support, at: place(support.to, tree, files), tree) == .whole
    }

    /// The folder of external data that a result with its name has lost; nil where it has none.
    ///
    /// What was written to a result that has its name is its owner's.
    ///
    /// - Throws: `DurableFileError`.
    func lostExternalData(_ files: DurableFileSystem) throws(DurableFileError) -> FilePath? {
        guard let support, let tree = try openIfThere(files),
            let there = try tree.status(of: place(output.database, tree, files)),
            building.isFile(there.identity)
        else { return nil }
        switch try state(of: support, at: place(support.to, tree, files), tree) {
        case .missing, .empty: return support.to
        case .whole, .changed: return nil
        }
    }

    /// The folder of external data that an earlier process gave its name, and that holds something
    /// else now; nil where there is none.
    ///
    /// Another program may have put its files there: they must not be moved or removed.
    ///
    /// - Throws: `DurableFileError`.
    func foreignExternalData(_ files: DurableFileSystem) throws(DurableFileError) -> FilePath? {
        guard let support, let tree = try openIfThere(files),
            try tree.status(of: place(output.database, tree, files)) == nil,
            try state(of: support, at: place(support.to, tree, files), tree) == .changed
        else { return nil }
        return support.to
    }

    /// What became of a folder of external data.
    enum FolderState {
        case whole
        /// It is there, and has no file.
        case empty
        /// It holds something else than was found in it.
        case changed
        /// Another folder has the name, or none.
        case missing
    }

    func state(
        of support: Support, at path: FilePath, _ tree: HeldTree
    ) throws(DurableFileError) -> FolderState {
        guard let status = try tree.status(of: path), status.isFolder,
            status.identity.inode == support.inode
        else { return .missing }
        guard let held = support.held else { return .whole }
        let now = try FolderContents(of: path, in: tree)
        let source = store.map { StoreLocation($0).support }
        if try holds(now, held, at: path, tree, beside: source) { return .whole }
        return now.isEmpty ? .empty : .changed
    }
}
