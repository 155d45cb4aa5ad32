internal import CLinux
internal import Glibc
internal import Synchronization

/// A user's folder and the folders below it, each opened once and held by its descriptor.
///
/// Files are named by their paths, as plans record them, but every action goes through the
/// descriptor of the folder: a link that a user puts in the place of a folder changes nothing.
/// Folders below the user's folder must be real folders on its file system and, where owners are
/// given, belong to one of them.
package final class HeldTree: Sendable {
    /// The user's folder.
    package let anchor: HeldFolder
    private let faults: FaultPoints
    private let store: FilePath?
    /// Files that are opened through the descriptors of their lock.
    private let files: (any HeldDescriptors)?
    private let held = Mutex<[FilePath: HeldFolder]>([:])

    /// Opens the user's folder.
    ///
    /// - Parameters:
    ///   - folder: a path without symbolic links.
    ///   - store: a file there to whose owner, to this process's user or to root the folders below
    ///     must belong; nil for folders of any owner.
    ///   - files: held files: no program can open them another way while clients are kept out.
    ///   - faults: where tests let actions fail.
    /// - Throws: `DurableFileError`, `refusedFolder` where a link stands in the path.
    package init(
        _ folder: FilePath, store: FilePath? = nil, through files: (any HeldDescriptors)? = nil,
        faults: FaultPoints = .none
    ) throws(DurableFileError) {
        anchor = try HeldFolder(folder, faults: faults)
        self.store = store
        self.files = files
        self.faults = faults
    }

    /// A folder, opened now where it has not been before.
    ///
    /// One that lies outside of the user's folder is opened by its own path, without links.
    ///
    /// - Throws: `DurableFileError`; `refusedFolder` for a folder that breaks the rules.
    package func folder(_ path: FilePath) throws(DurableFileError) -> HeldFolder {
        if path == anchor.path { return anchor }
        if let known = held.withLock({ $0[path] }) { return known }
        let opened: HeldFolder
        if path.isInside(anchor.path) {
            opened = try HeldFolder(path.lastComponent, in: folder(path.parent))
            try checkOwner(of: opened)
        } else {
            opened = try HeldFolder(path, faults: faults)
        }
        held.withLock { $0[path] = opened }
        return opened
    }

    private func checkOwner(of folder: HeldFolder) throws(DurableFileError) {
        guard let store, let expected = try status(of: store)?.owner else { return }
        let owner = folder.status.owner
        guard [expected, 0, clinux_effective_user()].contains(owner) else {
            throw .refusedFolder(folder.path, .otherOwner(owner, store: expected))
        }
    }

    /// Looks at folders that may be missing; each that is there must obey the rules.
    ///
    /// - Throws: `DurableFileError.refusedFolder` for the first that does not.
    package func check(_ folders: [FilePath]) throws(DurableFileError) {
        for path in folders {
            guard let found = try status(of: path) else { continue }
            if found.isSymbolicLink { throw .refusedFolder(path, .symbolicLink) }
            if found.isFolder { _ = try folder(path) }
        }
    }

    private func forget(_ path: FilePath) {
        held.withLock { held in held = held.filter { !$0.key.isInside(path) } }
    }

    // MARK: - Looking

    /// What has a path, perhaps a symbolic link; nil where nothing has it, or no folder is there.
    package func status(of path: FilePath) throws(DurableFileError) -> FileStatus? {
        do throws(DurableFileError) {
            return try folder(path.parent).entry(path.lastComponent)
        } catch {
            if error.isMissing { return nil }
            throw error
        }
    }

    /// What has a path, perhaps a symbolic link.
    ///
    /// - Throws: `DurableFileError`, `isMissing` where nothing has it.
    package func existing(_ path: FilePath) throws(DurableFileError) -> FileStatus {
        guard let status = try status(of: path) else {
            throw .system(.status, path, number: ENOENT)
        }
        return status
    }

    /// Opens a regular file for reading: the one place where files of a tree are opened.
    ///
    /// - Throws: `DurableFileError.notRegularFile` for anything else, links included.
    package func openForReading(_ path: FilePath) throws(DurableFileError) -> OpenFile {
        if let files, let status = try status(of: path),
            let file = try files.open(status.identity, path, writable: false, faults)
        {
            return file
        }
        return try folder(path.parent).openForReading(path.lastComponent)
    }

    /// What keeps a file's number from another file, whatever its kind and rights; nil where there
    /// is no file, or only a link.
    ///
    /// - Throws: `DurableFileError` where the folder cannot be reached.
    package func pin(_ path: FilePath) throws(DurableFileError) -> OpenFile? {
        try folder(path.parent).pin(path.lastComponent)
    }

    /// The names in a folder, sorted by their bytes; none where it is missing.
    package func names(in path: FilePath) throws(DurableFileError) -> [FilePath] {
        do throws(DurableFileError) {
            return try folder(path).names()
        } catch {
            if error.isMissing { return [] }
            throw error
        }
    }

    // MARK: - Changing

    /// Creates a file that must not exist.
    package func create(_ path: FilePath) throws(DurableFileError) -> OpenFile {
        try folder(path.parent).create(path.lastComponent)
    }

    /// Gives a file a second name; nothing is synced.
    package func link(_ source: FilePath, to target: FilePath) throws(DurableFileError) {
        let from = try folder(source.parent)
        try from.link(source.lastComponent, to: folder(target.parent), target.lastComponent)
    }

    /// Renames a file or folder; nothing is synced.
    package func rename(
        _ source: FilePath, to target: FilePath, existing: Replacement
    ) throws(DurableFileError) {
        let from = try folder(source.parent)
        try from.rename(
            source.lastComponent, to: folder(target.parent), target.lastComponent,
            existing: existing)
        forget(source)
    }

    /// Gives two files each other's names in one step; nothing is synced.
    ///
    /// - Returns: whether the file system can; where it cannot, nothing has changed.
    package func exchange(
        _ file: FilePath, with other: FilePath
    ) throws(DurableFileError) -> Bool {
        let from = try folder(file.parent)
        return try from.exchange(
            file.lastComponent, with: folder(other.parent), other.lastComponent)
    }

    /// Removes a name; nothing is synced.
    package func unlink(_ path: FilePath) throws(DurableFileError) {
        try folder(path.parent).unlink(path.lastComponent)
    }

    /// Removes a name that may be gone already; nothing is synced.
    package func unlinkIfPresent(_ path: FilePath) throws(DurableFileError) {
        do throws(DurableFileError) {
            try unlink(path)
        } catch {
            guard error.isMissing else { throw error }
        }
    }

    /// Makes a folder and those on the way to it durably; they may exist.
    ///
    /// - Parameters:
    ///   - path: of the folder.
    ///   - file: gives folders that are made its owner, its group and the rights that go with its
    ///     own; nil leaves them to this user alone.
    /// - Throws: `DurableFileError.refusedFolder` for a link on the way, `.system` where a folder
    ///   cannot be made.
    package func makeFolders(
        _ path: FilePath, for file: FileStatus? = nil
    ) throws(DurableFileError) {
        guard path != anchor.path else { return }
        if path.parent != anchor.path, path.parent.isInside(anchor.path) {
            try makeFolders(path.parent, for: file)
        }
        let there = try status(of: path)
        if there?.isSymbolicLink == true { throw .refusedFolder(path, .symbolicLink) }
        if there?.isFolder == true {
            _ = try folder(path)
        } else {
            try makeFolder(path)
            if let file { try folder(path).adopt(file) }
        }
    }

    /// Makes a folder durably; it may exist.
    package func makeFolder(_ path: FilePath) throws(DurableFileError) {
        let parent = try folder(path.parent)
        try parent.makeFolder(path.lastComponent)
        try parent.sync()
        // Another store may have removed and made it since it was opened.
        forget(path)
        _ = try folder(path)
    }

    /// Removes a folder that is empty, durably; one that is not, or is gone, stays as it is.
    package func removeEmptyFolder(_ path: FilePath) throws(DurableFileError) {
        do throws(DurableFileError) {
            try folder(path.parent).removeFolder(path.lastComponent)
        } catch {
            if error.isMissing || error.number == ENOTEMPTY || error.number == EEXIST { return }
            throw error
        }
        forget(path)
        try syncFolder(path.parent)
    }

    /// Removes a file, or a folder with everything in it, durably; a missing one is fine.
    package func removeTree(_ path: FilePath) throws(DurableFileError) {
        do throws(DurableFileError) {
            let parent = try folder(path.parent)
            if try parent.removeTree(path.lastComponent) { try parent.sync() }
        } catch {
            guard error.isMissing else { throw error }
        }
        forget(path)
    }

    /// Makes the names in a folder durable.
    package func syncFolder(_ path: FilePath) throws(DurableFileError) {
        try folder(path).sync()
    }
}
