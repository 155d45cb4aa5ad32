internal import CLinux
internal import Glibc

/// What publishing does where the name is taken.
package enum Replacement: Hashable, Sendable {
    /// The file that is there is replaced in one step.
    case replace
    /// The file that is there stays, and publishing fails with EEXIST.
    case refuse
}

extension DurableFileSystem {
    /// What the names of files begin with that are being written and not yet published.
    package static let temporaryPrefix = ".godwit-unpublished-"
    /// How many temporary names are tried; one folder never has so many writers.
    private static let temporaryLimit = 10_000

    /// Writes a file so that under its name there is never anything but the whole of it.
    ///
    /// The body writes a temporary file in the same folder, which is then synced, closed and
    /// renamed, and the folder synced. The temporary name does not grow with the final one, so
    /// names of 255 bytes work.
    ///
    /// - Parameters:
    ///   - destination: the file's name; its folder must exist.
    ///   - permissions: of the file, exactly.
    ///   - existing: what happens where the name is taken.
    ///   - body: writes the file through the handle.
    /// - Returns: what the body returns.
    /// - Throws: what the body throws, or `DurableFileError`. After a failure the name holds
    ///   what it held before, unless the very last step failed (the folder's sync): then it
    ///   holds the new file, which a power cut may still undo. No temporary file is left.
    package func publish<Result>(
        to destination: FilePath, permissions: UInt32 = DurableFileSystem.privateFile,
        existing: Replacement = .replace, body: (borrowing OpenFile) throws -> Result
    ) throws -> Result {
        let file = try createTemporary(in: destination.parent, permissions: permissions)
        let temporary = file.path
        do {
            let result = try body(file)
            try file.sync()
            try file.close()
            try rename(temporary, to: destination, existing: existing)
            try syncFolder(destination.parent)
            return result
        } catch {
            discard(temporary)
            throw error
        }
    }

    /// Writes small contents so that under the name there is never anything but the whole.
    ///
    /// - Throws: `DurableFileError`, as the other `publish`.
    package func publish(
        _ contents: [UInt8], to destination: FilePath,
        permissions: UInt32 = DurableFileSystem.privateFile, existing: Replacement = .replace
    ) throws {
        try publish(to: destination, permissions: permissions, existing: existing) { file in
            try file.write(contents)
        }
    }

    /// Publishes a file that another library wrote and closed, such as SQLite.
    ///
    /// Syncs the file, renames it, and syncs both folders. Permissions stay as they are. Both
    /// names must lie on one file system. A database must be closed, its `-wal` checkpointed
    /// into it: only the one file is moved.
    ///
    /// - Throws: `DurableFileError`; the temporary file is left where the rename had not been
    ///   done.
    package func publishFile(
        _ temporary: FilePath, as destination: FilePath, existing: Replacement = .replace
    ) throws(DurableFileError) {
        try syncFile(temporary)
        try rename(temporary, to: destination, existing: existing)
        try syncFolders(of: temporary, and: destination)
    }

    /// Publishes a folder with everything in it under a name that must not exist.
    ///
    /// Syncs every file and folder below, renames the folder, and syncs both parents.
    ///
    /// - Throws: `DurableFileError`; the folder is left under its old name where the rename had
    ///   not been done.
    /// - Complexity: O(files) syncs.
    package func publishFolder(
        _ temporary: FilePath, as destination: FilePath
    ) throws(DurableFileError) {
        for found in try tree(at: temporary) {
            if found.status.isFolder {
                try syncFolder(found.path)
            } else if found.status.isRegularFile {
                try syncFile(found.path)
            }
        }
        try rename(temporary, to: destination, existing: .refuse)
        try syncFolders(of: temporary, and: destination)
    }

    /// Renames a file or folder; the folders are not synced.
    ///
    /// - Throws: `DurableFileError`, with EEXIST where `existing` is `.refuse` and the name is
    ///   taken.
    package func rename(
        _ source: FilePath, to destination: FilePath, existing: Replacement
    ) throws(DurableFileError) {
        do {
            try faults.perform(.rename, on: destination) { () throws(DurableFileError) in
                switch existing {
                case .replace:
                    try betweenFolders(source, destination, .rename, clinux_rename_in)
                case .refuse:
                    try betweenFolders(source, destination, .rename, clinux_rename_in_no_replace)
                }
            }
        } catch {
            guard existing == .refuse, error.number == EINVAL || error.number == ENOSYS else {
                throw error
            }
            try renameByLink(source, to: destination)
        }
    }

    /// Removes temporary files that a killed process left in a folder; returns how many.
    ///
    /// The caller must hold the folder's owner lock: a live writer's file looks the same.
    package func removeUnpublished(in folder: FilePath) throws(DurableFileError) -> Int {
        let prefix = FilePath(DurableFileSystem.temporaryPrefix)
        var removed = 0
        for name in try names(in: folder) where name.bytes.starts(with: prefix.bytes) {
            try unlink(folder.appending(name))
            removed += 1
        }
        if removed > 0 { try syncFolder(folder) }
        return removed
    }

    /// For file systems without RENAME_NOREPLACE (NFS, some FUSE): a link fails where the name
    /// is taken, and so does a plain rename of a folder unless an empty folder is there.
    private func renameByLink(
        _ source: FilePath, to destination: FilePath
    ) throws(DurableFileError) {
        if try FileStatus(ofLink: source).isFolder {
            try faults.perform(.rename, on: destination) { () throws(DurableFileError) in
                try betweenFolders(source, destination, .rename, clinux_rename_in)
            }
        } else {
            try linkWithoutSync(from: source, to: destination)
            try unlink(source)
        }
    }

    /// Makes a rename durable: syncs the folder of the new name, and of the old one if it differs.
    package func syncFolders(
        of source: FilePath, and destination: FilePath
    ) throws(DurableFileError) {
        try syncFolder(destination.parent)
        if source.parent != destination.parent { try syncFolder(source.parent) }
    }

    /// What this process's temporary files are called: its id, and when it began to write, since
    /// in a container every start may get the same id.
    private static let processMark: String = {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return "\(clinux_process_id()).\(time.tv_sec).\(time.tv_nsec)"
    }()

    /// Names are numbered, not random: a process that meets a taken one tries the next.
    private func createTemporary(
        in folder: FilePath, permissions: UInt32
    ) throws(DurableFileError) -> OpenFile {
        let stem = "\(DurableFileSystem.temporaryPrefix)\(DurableFileSystem.processMark)-"
        var attempt = 0
        while true {
            do {
                return try create(folder.appending("\(stem)\(attempt)"), permissions: permissions)
            } catch {
                attempt += 1
                let isTaken = error.number == EEXIST
                guard isTaken, attempt < DurableFileSystem.temporaryLimit else { throw error }
            }
        }
    }

    /// Temporary files in a folder whose writers are other processes; of a folder that one process
    /// alone writes in at a time they are dead.
    ///
    /// - Returns: their paths; none where the folder is missing.
    package func abandoned(in folder: FilePath) throws(DurableFileError) -> [FilePath] {
        guard try FileStatus.ifPresent(folder) != nil else { return [] }
        return try names(in: folder).filter { name in
            let text = name.description
            guard text.hasPrefix(Self.temporaryPrefix) else { return false }
            let parts = text.dropFirst(Self.temporaryPrefix.count).split(separator: "-")
            guard parts.count == 2, Int64(parts[1]) != nil else { return false }
            let isMark = parts[0].split(separator: ".").allSatisfy { Int64($0) != nil }
            return isMark && parts[0] != Self.processMark
        }.map { folder.appending($0) }
    }
}
