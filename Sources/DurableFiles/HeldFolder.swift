internal import CLinux
internal import Glibc

/// A folder held by its descriptor: every action stays in it, whatever its path leads to later.
///
/// Actions take the name of an entry, never a path, and follow no symbolic link. Those that change
/// something are the fault points that `DurableFileSystem` has for them.
package final class HeldFolder: Sendable {
    /// The path that the folder was opened by, for messages and fault points.
    package let path: FilePath
    /// What the folder was when it was opened.
    package let status: FileStatus
    let descriptor: Int32
    private let faults: FaultPoints

    /// Opens a folder by a path in which no symbolic link may stand.
    ///
    /// - Throws: `DurableFileError`; `refusedFolder` where a link stands in the path or something
    ///   else than a folder at its end.
    package convenience init(
        _ path: FilePath, faults: FaultPoints = .none
    ) throws(DurableFileError) {
        try self.init(path, in: AT_FDCWD, path, clinux_resolve_no_symlinks, faults)
    }

    /// Opens a folder by a path in which links may stand, such as one that the user gave.
    ///
    /// - Throws: `DurableFileError`.
    package convenience init(
        following path: FilePath, faults: FaultPoints = .none
    ) throws(DurableFileError) {
        try self.init(path, in: AT_FDCWD, path, 0, faults)
    }

    /// Opens a folder in another one; the mount point of another file system is refused.
    ///
    /// - Throws: as the first initialiser.
    package convenience init(
        _ name: FilePath, in parent: HeldFolder
    ) throws(DurableFileError) {
        try HeldFolder.check(name)
        let rules =
            clinux_resolve_no_symlinks | clinux_resolve_beneath | clinux_resolve_no_mounts
        try self.init(
            parent.path.appending(name), in: parent.descriptor, name, rules, parent.faults)
        guard status.identity.device == parent.status.identity.device else {
            throw .refusedFolder(path, .otherFileSystem)
        }
    }

    private init(
        _ path: FilePath, in folder: Int32, _ relative: FilePath, _ rules: UInt64,
        _ faults: FaultPoints
    ) throws(DurableFileError) {
        let opened = try relative.withPointer {
            clinux_open_beneath(folder, $0, O_RDONLY | O_DIRECTORY, 0, rules)
        }
        switch -opened {
        case ELOOP: throw .refusedFolder(path, .symbolicLink)
        case EXDEV: throw .refusedFolder(path, .otherFileSystem)
        default: descriptor = try checked(opened, .open, path)
        }
        self.path = path
        self.faults = faults
        var found = clinux_status()
        let result = clinux_stat_open(descriptor, &found)
        status = FileStatus(found)
        try checked(result, .status, path)
    }

    deinit { _ = clinux_close(descriptor) }

    /// A name is one entry of the folder itself.
    private static func check(_ name: FilePath) throws(DurableFileError) {
        let isEntry =
            !name.bytes.contains(FilePath.slash) && ![".", "..", ""].contains(name)
        guard isEntry else {
            throw .refusedPath(name, reason: "it is not the name of one entry of a folder")
        }
    }

    // MARK: - Looking

    /// What has a name, which may be a symbolic link; nil where nothing has it.
    package func entry(_ name: FilePath) throws(DurableFileError) -> FileStatus? {
        try HeldFolder.check(name)
        var found = clinux_status()
        let result = try name.withPointer { clinux_stat_in(descriptor, $0, &found) }
        if result == -ENOENT || result == -ENAMETOOLONG { return nil }
        try checked(result, .status, path.appending(name))
        return FileStatus(found)
    }

    /// A descriptor that only names a file (`O_PATH`): it neither reads nor breaks a lease.
    func pin(_ name: FilePath) throws(DurableFileError) -> OpenFile? {
        try HeldFolder.check(name)
        let opened = try name.withPointer {
            clinux_open_beneath(
                descriptor, $0, clinux_path_only | O_NOFOLLOW, 0,
                clinux_resolve_beneath | clinux_resolve_no_symlinks)
        }
        return opened < 0 ? nil : OpenFile(opened, path.appending(name), faults)
    }

    /// Opens a regular file for reading; opening a pipe does not block.
    ///
    /// - Throws: `DurableFileError.notRegularFile` for anything else, links included.
    package func openForReading(_ name: FilePath) throws(DurableFileError) -> OpenFile {
        try HeldFolder.check(name)
        let full = path.appending(name)
        let opened = try DurableFileSystem.pastLeases { () throws(DurableFileError) in
            try name.withPointer {
                clinux_open_beneath(
                    descriptor, $0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0,
                    clinux_resolve_beneath | clinux_resolve_no_symlinks)
            }
        }
        if opened == -ELOOP { throw .notRegularFile(full, kind: "a symbolic link") }
        let file = OpenFile(try checked(opened, .open, full), full, faults)
        let status = try file.status()
        guard status.isRegularFile else { throw .notRegularFile(full, kind: status.kind) }
        return file
    }

    /// The names in the folder, sorted by their bytes.
    ///
    /// - Throws: `DurableFileError.overLimit` above `DurableFileSystem.folderLimit` entries.
    package func names() throws(DurableFileError) -> [FilePath] {
        var failure: Int32 = 0
        let opened = clinux_folder_open_again(descriptor, &failure)
        return try DurableFileSystem.names(in: opened, failure, of: path)
    }

    // MARK: - Changing

    /// Creates a file that must not exist; see `DurableFileSystem.create`.
    ///
    /// - Throws: `DurableFileError` with EEXIST where the name is taken.
    package func create(
        _ name: FilePath, permissions: UInt32 = DurableFileSystem.privateFile
    ) throws(DurableFileError) -> OpenFile {
        try HeldFolder.check(name)
        let full = path.appending(name)
        let rules = clinux_resolve_beneath | clinux_resolve_no_symlinks
        let file = try faults.perform(.create, on: full) {
            () throws(DurableFileError) -> OpenFile in
            let opened = try name.withPointer {
                clinux_open_beneath(descriptor, $0, O_RDWR | O_CREAT | O_EXCL, permissions, rules)
            }
            return OpenFile(try checked(opened, .create, full), full, faults)
        }
        try file.setPermissions(permissions)
        return file
    }

    /// Gives an entry a second name, perhaps in another folder; nothing is synced.
    ///
    /// - Throws: `DurableFileError` with EEXIST, EXDEV, EMLINK, or EPERM where the file system
    ///   has no hard links.
    package func link(
        _ name: FilePath, to folder: HeldFolder, _ newName: FilePath
    ) throws(DurableFileError) {
        try move(name, to: folder, newName, .link, clinux_link_in)
    }

    /// Renames an entry, perhaps into another folder; nothing is synced.
    ///
    /// - Throws: `DurableFileError`, with EEXIST where `existing` is `.refuse` and the name is
    ///   taken.
    package func rename(
        _ name: FilePath, to folder: HeldFolder, _ newName: FilePath, existing: Replacement
    ) throws(DurableFileError) {
        guard existing == .refuse else {
            return try move(name, to: folder, newName, .rename, clinux_rename_in)
        }
        do {
            try move(name, to: folder, newName, .rename, clinux_rename_in_no_replace)
        } catch {
            guard error.number == EINVAL || error.number == ENOSYS else { throw error }
            // Without RENAME_NOREPLACE (NFS, some FUSE) a link fails where the name is taken, and
            // so does a plain rename of a folder unless an empty folder is there.
            if try entry(name)?.isFolder == true {
                try move(name, to: folder, newName, .rename, clinux_rename_in)
            } else {
                try link(name, to: folder, newName)
                try unlink(name)
            }
        }
    }

    /// Gives two entries each other's names in one step; nothing is synced.
    ///
    /// - Returns: whether the file system can; where it cannot, nothing has changed.
    /// - Throws: `DurableFileError`; `isMissing` where one of them is gone.
    package func exchange(
        _ name: FilePath, with folder: HeldFolder, _ other: FilePath
    ) throws(DurableFileError) -> Bool {
        do throws(DurableFileError) {
            try move(name, to: folder, other, .rename, clinux_exchange_in)
            return true
        } catch {
            guard [EINVAL, ENOSYS, EOPNOTSUPP, EXDEV].contains(error.number) else { throw error }
            return false
        }
    }

    private func move(
        _ name: FilePath, to folder: HeldFolder, _ newName: FilePath,
        _ operation: FileOperation,
        _ call: (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>) -> Int32
    ) throws(DurableFileError) {
        try HeldFolder.check(name)
        try HeldFolder.check(newName)
        let full = folder.path.appending(newName)
        try faults.perform(operation, on: full) { () throws(DurableFileError) in
            let result = try name.withPointer { from throws(DurableFileError) in
                try newName.withPointer { to in
                    call(descriptor, from, folder.descriptor, to)
                }
            }
            _ = try checked(result, operation, full)
        }
    }

    /// Removes a name without making the removal durable.
    package func unlink(_ name: FilePath) throws(DurableFileError) {
        try HeldFolder.check(name)
        let full = path.appending(name)
        try faults.perform(.unlink, on: full) { () throws(DurableFileError) in
            _ = try checked(
                name.withPointer { clinux_unlink_in(descriptor, $0) }, .unlink, full)
        }
    }

    /// Makes a folder, which may exist; nothing is synced.
    ///
    /// - Throws: `DurableFileError.refusedFolder` where a link has the name, `.system` with
    ///   EEXIST where something else has it.
    package func makeFolder(
        _ name: FilePath, permissions: UInt32 = DurableFileSystem.privateFolder
    ) throws(DurableFileError) {
        try HeldFolder.check(name)
        let full = path.appending(name)
        do {
            try faults.perform(.makeFolder, on: full) { () throws(DurableFileError) in
                _ = try checked(
                    name.withPointer { clinux_make_folder_in(descriptor, $0, permissions) },
                    .makeFolder, full)
            }
        } catch {
            guard error.number == EEXIST, let there = try entry(name) else { throw error }
            if there.isSymbolicLink { throw .refusedFolder(full, .symbolicLink) }
            guard there.isFolder else { throw error }
        }
    }

    /// Gives the folder a file's owner and group, where this user may, and the rights of a folder
    /// of such files: who may read them may look them up.
    func adopt(_ file: FileStatus) throws(DurableFileError) {
        let rights = file.permissions & 0o777
        do throws(DurableFileError) {
            try faults.perform(.setOwner, on: path) { () throws(DurableFileError) in
                _ = try checked(
                    clinux_set_owner(descriptor, file.owner, file.group), .setOwner, path)
            }
        } catch {
            // As for files: who may not give it away keeps it.
            guard error.number == EPERM || error.number == ENOTSUP else { throw error }
            return
        }
        try faults.perform(.setMode, on: path) { () throws(DurableFileError) in
            _ = try checked(
                clinux_set_mode(descriptor, rights | (rights & 0o444) >> 2), .setMode, path)
        }
    }

    /// Removes a folder, which must be empty; nothing is synced.
    package func removeFolder(_ name: FilePath) throws(DurableFileError) {
        try HeldFolder.check(name)
        let full = path.appending(name)
        try faults.perform(.removeFolder, on: full) { () throws(DurableFileError) in
            _ = try checked(
                name.withPointer { clinux_remove_folder_in(descriptor, $0) }, .removeFolder,
                full)
        }
    }

    /// Removes a file, or a folder with everything in it; nothing is synced.
    ///
    /// Symbolic links are removed, not followed; another file system is not entered.
    ///
    /// - Returns: false where nothing has the name.
    /// - Throws: `DurableFileError`; `overLimit` below `DurableFileSystem.depthLimit` folders.
    package func removeTree(_ name: FilePath) throws(DurableFileError) -> Bool {
        try removeTree(name, depth: 0)
    }

    private func removeTree(_ name: FilePath, depth: Int) throws(DurableFileError) -> Bool {
        do throws(DurableFileError) {
            return try removePresent(name, depth: depth)
        } catch {
            // Another program may remove the same.
            guard error.isMissing else { throw error }
            return false
        }
    }

    private func removePresent(
        _ name: FilePath, depth: Int
    ) throws(DurableFileError) -> Bool {
        guard let status = try entry(name) else { return false }
        guard status.isFolder else {
            try unlink(name)
            return true
        }
        guard depth < DurableFileSystem.depthLimit else {
            throw .overLimit(path.appending(name), limit: DurableFileSystem.depthLimit)
        }
        let folder = try HeldFolder(name, in: self)
        for entry in try folder.names() {
            _ = try folder.removeTree(entry, depth: depth + 1)
        }
        try removeFolder(name)
        return true
    }

    /// Makes the names in the folder durable; see `DurableFileSystem.syncFolder`.
    package func sync() throws(DurableFileError) {
        try faults.perform(.syncFolder, on: path) { () throws(DurableFileError) in
            let result = clinux_sync(descriptor)
            if result != -EINVAL { try checked(result, .syncFolder, path) }
        }
    }
}
