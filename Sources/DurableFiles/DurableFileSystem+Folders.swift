internal import CLinux
internal import Glibc

/// Something found below a folder.
package struct FoundFile: Hashable, Sendable {
    package let path: FilePath
    /// Of the name itself: symbolic links are not followed.
    package let status: FileStatus
}

extension DurableFileSystem {
    /// The most entries that a folder may have to be listed.
    package static let folderLimit = 10_000_000
    /// The most folders that may lie inside each other; a real store has three.
    package static let depthLimit = 64

    /// Makes a folder durably; the parent must exist, the folder may.
    ///
    /// - Throws: `DurableFileError` with EEXIST where something else has the name.
    package func makeFolder(
        _ path: FilePath, permissions: UInt32 = DurableFileSystem.privateFolder
    ) throws(DurableFileError) {
        try makeName(path, permissions: permissions)
        try syncFolder(path.parent)
    }

    private func makeName(_ path: FilePath, permissions: UInt32) throws(DurableFileError) {
        do {
            try faults.perform(.makeFolder, on: path) { () throws(DurableFileError) in
                let folder = try holdFolder(of: path, .makeFolder)
                let result = try path.lastComponent.withPointer {
                    clinux_make_folder_in(folder.descriptor, $0, permissions)
                }
                _ = try checked(result, .makeFolder, path)
            }
        } catch {
            guard error.number == EEXIST else { throw error }
            // A link to a folder would lead the private files elsewhere.
            guard try FileStatus(ofLink: path).isFolder else { throw error }
        }
    }

    /// Makes a folder and the folders on the way to it durably.
    ///
    /// Another process may remove empty ones at the same time.
    package func makeFolders(
        _ path: FilePath, permissions: UInt32 = DurableFileSystem.privateFolder
    ) throws(DurableFileError) {
        for _ in 1..<Self.folderTries {
            do {
                for folder in try missing(path) {
                    try makeFolder(folder, permissions: permissions)
                }
                return
            } catch {
                // ESTALE: over NFS, for a folder that another machine has removed.
                guard error.number == ENOENT || error.number == ESTALE else { throw error }
            }
        }
        for folder in try missing(path) { try makeFolder(folder, permissions: permissions) }
    }

    /// How often folders are made that vanish meanwhile.
    private static let folderTries = 4

    /// Makes a folder and the folders on the way to it for files that are made again after a crash
    /// of the machine: nothing is synced.
    package func makeScratchFolders(_ path: FilePath) throws(DurableFileError) {
        for folder in try missing(path) {
            try makeName(folder, permissions: Self.privateFolder)
        }
    }

    /// A folder and those on the way to it that are not there, the highest first.
    private func missing(_ path: FilePath) throws(DurableFileError) -> [FilePath] {
        var missing: [FilePath] = []
        var current = path
        while try FileStatus.ifPresent(current) == nil, missing.count < 4096 {
            missing.append(current)
            current = current.parent
        }
        return missing.reversed()
    }

    /// The names in a folder, sorted by their bytes.
    ///
    /// - Throws: `DurableFileError.overLimit` above `folderLimit` entries.
    package func names(in folder: FilePath) throws(DurableFileError) -> [FilePath] {
        var failure: Int32 = 0
        let descriptor = try openFolder(folder, .listFolder)
        let opened = clinux_folder_open_again(descriptor.descriptor, &failure)
        return try Self.names(in: opened, failure, of: folder)
    }

    /// The names in a folder that was opened for listing, which this closes.
    ///
    /// - Parameters:
    ///   - opened: nil where opening failed.
    ///   - failure: the negated number of that failure, 0 for none.
    ///   - folder: how errors name it.
    /// - Returns: the names, sorted by their bytes.
    /// - Throws: `DurableFileError`, as the other `names`.
    static func names(
        in opened: UnsafeMutableRawPointer?, _ failure: Int32, of folder: FilePath
    ) throws(DurableFileError) -> [FilePath] {
        var failure = failure
        try checked(failure, .listFolder, folder)
        guard let opened else { throw .system(.listFolder, folder, number: ENOENT) }
        defer { clinux_folder_close(opened) }
        var names: [FilePath] = []
        while let name = clinux_folder_next(opened, &failure) {
            guard names.count < DurableFileSystem.folderLimit else {
                throw .overLimit(folder, limit: DurableFileSystem.folderLimit)
            }
            let bytes = UnsafeBufferPointer(start: name, count: strlen(name))
            names.append(FilePath(bytes: bytes.map { UInt8(bitPattern: $0) }))
        }
        try checked(failure, .listFolder, folder)
        return names.sorted()
    }

    /// Everything below a folder and the folder itself, contents before their folder.
    ///
    /// Symbolic links are listed and not followed.
    ///
    /// - Throws: `DurableFileError.overLimit` below `depthLimit` folders.
    package func tree(at root: FilePath) throws(DurableFileError) -> [FoundFile] {
        let rootStatus = try FileStatus(ofLink: root)
        var found = [FoundFile(path: root, status: rootStatus)]
        var folders = rootStatus.isFolder ? [(path: root, depth: 0)] : []
        while let folder = folders.popLast() {
            guard folder.depth < DurableFileSystem.depthLimit else {
                throw .overLimit(folder.path, limit: DurableFileSystem.depthLimit)
            }
            for name in try names(in: folder.path) {
                let path = folder.path.appending(name)
                let status = try FileStatus(ofLink: path)
                found.append(FoundFile(path: path, status: status))
                if status.isFolder { folders.append((path, folder.depth + 1)) }
            }
        }
        // A folder is found before its contents, whatever the order of the walk.
        return found.reversed()
    }

    /// Removes a folder with everything in it, or a single file; a missing one is fine.
    ///
    /// Symbolic links are removed, not followed. The removal is durable.
    package func removeTree(_ root: FilePath) throws(DurableFileError) {
        if try removeNames(root) { try syncRemoval(from: root.parent) }
    }

    /// As `removeTree`, for several: those of one folder share its descriptor and its sync.
    ///
    /// - Throws: the first failure; the rest is removed all the same.
    package func removeTrees(_ roots: [FilePath]) throws(DurableFileError) {
        var first: DurableFileError?
        let byFolder = Dictionary(grouping: roots, by: \.parent)
        // What lies deepest goes first.
        for (path, roots) in byFolder.sorted(by: { $1.key < $0.key }) {
            do throws(DurableFileError) {
                guard let folder = try holdPresent(path) else { continue }
                var isChanged = false
                for root in roots {
                    do throws(DurableFileError) {
                        if try folder.removeTree(root.lastComponent) { isChanged = true }
                    } catch {
                        first = first ?? error
                    }
                }
                if isChanged { try syncRemoval(from: path) }
            } catch {
                first = first ?? error
            }
        }
        if let first { throw first }
    }

    /// As `removeTree`, for files that a crash of the machine may bring back: nothing is synced.
    package func removeScratchTree(_ root: FilePath) throws(DurableFileError) {
        _ = try removeNames(root)
    }

    /// Removes a folder with everything in it; false where it is missing.
    private func removeNames(_ root: FilePath) throws(DurableFileError) -> Bool {
        try holdPresent(root.parent)?.removeTree(root.lastComponent) ?? false
    }

    /// Makes a removal durable; where the folder itself was removed meanwhile, that is another's.
    private func syncRemoval(from folder: FilePath) throws(DurableFileError) {
        do throws(DurableFileError) {
            try syncFolder(folder)
        } catch {
            guard error.isMissing else { throw error }
        }
    }

    /// Opens the folder that holds what is to be removed; nil where it is missing.
    ///
    /// Links in its path are followed, none below.
    private func holdPresent(_ path: FilePath) throws(DurableFileError) -> HeldFolder? {
        do throws(DurableFileError) {
            return try HeldFolder(following: path, faults: faults)
        } catch {
            if error.isMissing { return nil }
            throw error
        }
    }

    /// Removes a folder that is empty, durably; one that is not, or is gone, stays as it is.
    package func removeEmptyFolder(_ path: FilePath) throws(DurableFileError) {
        do {
            try removeFolder(path)
        } catch {
            if error.isMissing || error.number == ENOTEMPTY || error.number == EEXIST { return }
            throw error
        }
        try syncFolder(path.parent)
    }

    /// Checks that this process may make and remove names in a folder.
    ///
    /// - Throws: `DurableFileError` with EACCES, or with EROFS where the file system is
    ///   read-only.
    package func checkRights(inFolder path: FilePath) throws(DurableFileError) {
        let result = try path.withPointer { clinux_may_change_folder($0) }
        try checked(result, .inspectRights, path)
    }

    private func removeFolder(_ path: FilePath) throws(DurableFileError) {
        try faults.perform(.removeFolder, on: path) { () throws(DurableFileError) in
            let folder = try holdFolder(of: path, .removeFolder)
            let result = try path.lastComponent.withPointer {
                clinux_remove_folder_in(folder.descriptor, $0)
            }
            _ = try checked(result, .removeFolder, path)
        }
    }
}
