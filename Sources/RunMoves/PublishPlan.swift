package import DurableFiles
import MigrationEngine
import StoreRuns
import StoreSwap

/// The renames that give a result its name in the output folder.
///
/// The database comes last: once it is there, all of the result is.
package struct PublishPlan: Codable {
    let building: PlannedFile
    package let output: StoreLocation
    /// The folder of external data and its final name.
    let support: Support?
    /// The folder that the result goes to, without links in its path; nil in plans of versions that
    /// did not record it.
    private(set) var folder: Folder?

    struct Support: Codable {
        let from: FilePath
        let to: FilePath
        let inode: UInt64
        /// What was found in it; nil in plans of versions that did not record it.
        let held: FolderContents?
    }

    /// The store as it was read; nil in plans of versions that did not record it.
    private(set) var source: StoreFingerprint?
    /// The store's path; nil in plans of versions that did not record it.
    private(set) var store: FilePath?
    /// What the folder of the store's own external data held; nil in plans of versions that did not
    /// record it.
    private(set) var sourceHeld: FolderContents?

    /// A folder as it was found.
    struct Folder: Codable {
        let path: FilePath
        let device: UInt64
        let inode: UInt64
    }

    /// Looks at what was built.
    ///
    /// - Parameters:
    ///   - places: of the store.
    ///   - output: where the result will lie.
    ///   - validated: the file that was validated; no other one is published.
    ///   - source: the store as it was read.
    ///   - store: its path.
    ///   - files: through which paths are resolved.
    /// - Throws: `DurableFileError`.
    init(
        _ places: StorePaths, output: StoreLocation, validated: FileIdentity,
        source: StoreFingerprint, of store: FilePath, _ files: DurableFileSystem
    ) throws(DurableFileError) {
        let path = try files.resolve(output.database.parent)
        let tree = try HeldTree(path)
        let found = tree.anchor.status.identity
        building = try PlannedFile(at: places.building)
        guard building.isSame(validated) else { throw .changedMeanwhile(places.building) }
        self.output = output
        self.source = source
        self.store = store
        sourceHeld = try Self.sourceData(of: store).held
        folder = Folder(path: path, device: found.device, inode: found.inode)
        let built = try files.resolve(places.buildingSupport.parent)
            .appending(places.buildingSupport.lastComponent)
        guard let status = try tree.status(of: built) else {
            support = nil
            return
        }
        support = Support(
            from: places.buildingSupport, to: output.support,
            inode: status.identity.inode, held: try FolderContents(of: built, in: tree))
    }

    /// A file that belongs to a database of the result's name; nil where there is none.
    ///
    /// SQLite would apply a log or journal of another database to the result.
    ///
    /// - Throws: `DurableFileError`.
    func sideFile() throws(DurableFileError) -> FilePath? {
        // What may hold something comes first: that one is named.
        for path in (StoreCompanion.withContent + [.sharedMemory]).map(output.companion) {
            if try FileStatus.ifPresentLink(path) != nil { return path }
        }
        return nil
    }

    /// Takes back what a publication that will not be made has moved: the external data.
    ///
    /// One rename gives them their former name, so that nothing is half undone. They stay where
    /// another program may have a use for them: beside a database of the result's name that is not
    /// the result, where the result is gone from both of its places, and where their folder holds
    /// something else than it did.
    ///
    /// - Parameters:
    ///   - files: through which paths are resolved.
    ///   - moves: whether to take them back; otherwise nothing is changed.
    /// - Returns: the file or folder that is in the way of another result then; nil where none is.
    /// - Throws: `DurableFileError`.
    func takeBack(
        _ files: DurableFileSystem, moves: Bool = true
    ) throws(DurableFileError) -> FilePath? {
        // Where another folder has its name, or none, what was moved is not there.
        guard let support, let tree = try openIfThere(files) else { return nil }
        let moved = try place(support.to, tree, files)
        guard let status = try tree.status(of: moved), status.isFolder,
            status.identity.inode == support.inode,
            status.identity.device == tree.anchor.status.identity.device
        else { return nil }
        if let there = try tree.status(of: place(output.database, tree, files)) {
            return building.isFile(there.identity) ? nil : output.database
        }
        guard try FileStatus.ifPresentLink(building.path) != nil,
            try state(of: support, at: moved, tree) != .changed
        else { return support.to }
        guard moves else { return nil }
        let from = try place(support.from, tree, files)
        guard try giveBack(moved, as: from, support, tree) else { return support.to }
        try tree.syncFolder(moved.parent)
        return nil
    }

    /// Whether the folder of the result is the one that was found.
    ///
    /// - Throws: `DurableFileError`.
    func hasFolder(_ files: DurableFileSystem) throws(DurableFileError) -> Bool {
        guard folder != nil else { return true }
        return try openIfThere(files) != nil
    }

    /// Carries the plan out, or what is left of it; contents were synced before, and the output's
    /// folder is synced by the caller.
    ///
    /// - Throws: `DurableFileError`, `changedMeanwhile` where the result is not what was validated;
    ///   then the folder of external data keeps its name only if another program changed it.
    package func run(_ files: DurableFileSystem) throws(DurableFileError) {
        let tree = try open(files)
        let output = try place(self.output.database, tree, files)
        // Its former folder may be gone: it is removed before the ledger knows of the end.
        if let there = try tree.status(of: output), self.building.isFile(there.identity) { return }
        let building = try place(self.building.path, tree, files)
        guard let built = try tree.status(of: building), self.building.isSame(built.identity) else {
            throw .changedMeanwhile(self.building.path)
        }
        let moved = try nameSupport(tree, files)
        do throws(DurableFileError) {
            try rename(building, output, tree) { self.building.isFile($0.identity) }
        } catch {
            // Where the database did not get its name, its data must not keep theirs.
            if let support, let moved {
                giveBack(moved.to, as: moved.from, support, unlessGone: building, tree)
            }
            throw error
        }
    }

    /// Gives the folder of external data its name, or finds it there as it was found once.
    ///
    /// - Returns: its places; nil where there is none.
    /// - Throws: `DurableFileError`, `changedMeanwhile` where it does not hold what it held: with
    ///   its name, it keeps that, for another program may have put files there.
    private func nameSupport(
        _ tree: HeldTree, _ files: DurableFileSystem
    ) throws(DurableFileError) -> (from: FilePath, to: FilePath)? {
        guard let support else { return nil }
        let from = try place(support.from, tree, files)
        let to = try place(support.to, tree, files)
        switch try state(of: support, at: to, tree) {
        case .whole: return (from, to)
        case .changed: throw .changedMeanwhile(support.to)
        case .empty:
            try tree.rename(to, to: from, existing: .refuse)
            throw .changedMeanwhile(support.to)
        case .missing:
            guard try state(of: support, at: from, tree) == .whole else {
                throw .changedMeanwhile(support.to)
            }
            try rename(from, to, tree) { $0.isFolder && $0.identity.inode == support.inode }
            return (from, to)
        }
    }

    /// Gives a folder its former name back, for a database that is still where it was built.
    ///
    /// The error that led here is the one to report; where the folder keeps its name, the next
    /// look at the publication finds it.
    private func giveBack(
        _ folder: FilePath, as former: FilePath, _ support: Support,
        unlessGone building: FilePath, _ tree: HeldTree
    ) {
        do throws(DurableFileError) {
            guard try tree.status(of: building) != nil,
                try state(of: support, at: folder, tree) == .whole
            else { return }
            _ = try giveBack(folder, as: former, support, tree)
        } catch {
            return
        }
    }

    /// Gives a folder its former name back, unless another program changes it meanwhile: then it
    /// keeps its name, because what is built is removed, and its folder with it.
    ///
    /// - Returns: whether it has its former name.
    /// - Throws: `DurableFileError`.
    private func giveBack(
        _ folder: FilePath, as former: FilePath, _ support: Support, _ tree: HeldTree
    ) throws(DurableFileError) -> Bool {
        try tree.rename(folder, to: former, existing: .refuse)
        guard try state(of: support, at: former, tree) == .changed else { return true }
        try tree.rename(former, to: folder, existing: .refuse)
        return false
    }

    /// Opens the folder of the result; nil where another folder has its name, or none.
    func openIfThere(_ files: DurableFileSystem) throws(DurableFileError) -> HeldTree? {
        do throws(DurableFileError) {
            return try open(files)
        } catch {
            if error.isMissing { return nil }
            if case .changedMeanwhile = error { return nil }
            throw error
        }
    }

    /// Opens the folder of the result, which must be the one that was found.
    private func open(_ files: DurableFileSystem) throws(DurableFileError) -> HeldTree {
        let path = if let folder { folder.path } else { try files.resolve(output.database.parent) }
        let tree = try HeldTree(path, faults: files.faults)
        let found = tree.anchor.status.identity
        if let folder, folder.device != found.device || folder.inode != found.inode {
            throw .changedMeanwhile(path)
        }
        return tree
    }

    /// A path as the tree knows it: the folder of the result has no links in its own.
    func place(
        _ path: FilePath, _ tree: HeldTree, _ files: DurableFileSystem
    ) throws(DurableFileError) -> FilePath {
        if path.parent == output.database.parent {
            return tree.anchor.path.appending(path.lastComponent)
        }
        return try files.resolve(path.parent).appending(path.lastComponent)
    }

    /// Renames a file or folder; another one that got the name instead goes back.
    private func rename(
        _ source: FilePath, _ target: FilePath, _ tree: HeldTree,
        isExpected: (FileStatus) -> Bool
    ) throws(DurableFileError) {
        try tree.rename(source, to: target, existing: .refuse)
        guard let named = try tree.status(of: target), isExpected(named) else {
            if try tree.status(of: target) != nil {
                try tree.rename(target, to: source, existing: .refuse)
            }
            throw .changedMeanwhile(source)
        }
    }
}
