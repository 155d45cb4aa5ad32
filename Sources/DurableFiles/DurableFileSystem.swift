internal import CLinux
internal import Glibc

/// Actions on files that are durable once they return, each a fault point.
///
/// A value without state of its own but for the fault points; it may be copied freely and used
/// from any thread.
package struct DurableFileSystem: Sendable {
    /// Where tests let actions fail.
    package let faults: FaultPoints
    /// What opening and listing do about symbolic links.
    package let links: LinkPolicy
    /// Files that are opened through the descriptors of their lock.
    package let held: (any HeldDescriptors)?

    /// - Parameters:
    ///   - faults: where tests let actions fail.
    ///   - links: followed only for paths as users give them, to resolve those once.
    package init(faults: FaultPoints = .none, links: LinkPolicy = .refused) {
        self.init(faults: faults, links: links, held: nil)
    }

    private init(faults: FaultPoints, links: LinkPolicy, held: (any HeldDescriptors)?) {
        self.faults = faults
        self.links = links
        self.held = held
    }

    /// The same actions under another policy for links.
    package func with(_ links: LinkPolicy) -> DurableFileSystem {
        DurableFileSystem(faults: faults, links: links, held: held)
    }

    /// The same, opening the files of a lock through the descriptors that hold them: while clients
    /// are kept out of a file, no program can open it another way.
    package func opening(_ held: any HeldDescriptors) -> DurableFileSystem {
        DurableFileSystem(faults: faults, links: links, held: held)
    }

    /// Permission bits of files that hold user data: read and written by the owner alone.
    package static let privateFile: UInt32 = 0o600
    /// Permission bits of folders that hold user data.
    package static let privateFolder: UInt32 = 0o700

    /// Opens a regular file for reading.
    ///
    /// - Throws: `DurableFileError.notRegularFile` for folders, pipes and devices; opening a
    ///   pipe does not block.
    package func openForReading(_ path: FilePath) throws(DurableFileError) -> OpenFile {
        try openRegular(path, O_RDONLY)
    }

    /// Opens an existing regular file for reading and writing.
    ///
    /// - Throws: `DurableFileError`, as `openForReading`.
    package func openForWriting(_ path: FilePath) throws(DurableFileError) -> OpenFile {
        try openRegular(path, O_RDWR)
    }

    /// How long opening waits for a lease of another run, in milliseconds.
    private static let leasePatience: Int64 = 3000

    /// Opens a file without blocking, and again while a run that swaps its store, or the guardian
    /// of one, keeps others from it for a moment.
    static func pastLeases(
        _ open: () throws(DurableFileError) -> Int32
    ) throws(DurableFileError) -> Int32 {
        var opened = try open()
        var waited: Int64 = 0
        while opened == -EWOULDBLOCK, waited < leasePatience {
            clinux_sleep(10)
            waited += 10
            opened = try open()
        }
        return opened
    }

    private func openRegular(
        _ path: FilePath, _ flags: Int32
    ) throws(DurableFileError) -> OpenFile {
        if let file = try held?.open(path, writable: flags == O_RDWR, faults) { return file }
        let how = flags | O_NONBLOCK | O_NOCTTY
        let opened = try Self.pastLeases { () throws(DurableFileError) in
            try path.withPointer { links.open($0, how) }
        }
        let file = OpenFile(try links.checked(opened, .open, path), path, faults)
        let status = try file.status()
        guard status.isRegularFile else { throw .notRegularFile(path, kind: status.kind) }
        return file
    }

    /// Creates a file that must not exist; a symbolic link in its place counts as existing.
    ///
    /// The file is durable only after its own `sync()` and its folder's `syncFolder`.
    ///
    /// - Throws: `DurableFileError` with EEXIST where the name is taken. After any failure no
    ///   file that this call made is left.
    package func create(
        _ path: FilePath, permissions: UInt32 = DurableFileSystem.privateFile
    ) throws(DurableFileError) -> OpenFile {
        var made = false
        do {
            let file = try faults.perform(.create, on: path) {
                () throws(DurableFileError) -> OpenFile in
                let opened = try path.withPointer {
                    links.open($0, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, permissions)
                }
                let number = try links.checked(opened, .create, path)
                made = true
                return OpenFile(number, path, faults)
            }
            try file.setPermissions(permissions)
            return file
        } catch {
            if made { discard(path) }
            throw error
        }
    }

    /// The whole contents of a file that has at most `limit` bytes.
    ///
    /// - Throws: `DurableFileError.overLimit` for a larger one.
    package func contents(
        of path: FilePath, limit: Int
    ) throws(DurableFileError) -> [UInt8] {
        let file = try openForReading(path)
        let size = try file.status().size
        guard size <= limit else { throw .overLimit(path, limit: limit) }
        return try file.read(count: Int(size), at: 0)
    }

    /// Makes a file's contents durable, no matter which process wrote them.
    ///
    /// For the hazard of opening a database that SQLite has open, see `OpenFile`.
    package func syncFile(_ path: FilePath) throws(DurableFileError) {
        let file = try openForReading(path)
        try file.sync()
        try file.close()
    }

    /// Makes the names in a folder durable: what was created, renamed and removed there.
    ///
    /// A file system that cannot sync folders (some network ones answer EINVAL) is taken to
    /// have done so with the change itself.
    package func syncFolder(_ path: FilePath) throws(DurableFileError) {
        try faults.perform(.syncFolder, on: path) { () throws(DurableFileError) in
            let folder = try openFolder(path, .syncFolder)
            let result = clinux_sync(folder.descriptor)
            if result != -EINVAL { try checked(result, .syncFolder, path) }
        }
    }

    /// Makes everything on the file system of a path durable: cheaper than thousands of fsyncs.
    ///
    /// The path is a file or a folder. Linux 5.8 and later also report lost writes.
    package func syncFileSystem(at path: FilePath) throws(DurableFileError) {
        try faults.perform(.syncFileSystem, on: path) { () throws(DurableFileError) in
            let opened = try path.withPointer { links.open($0, O_RDONLY | O_NONBLOCK) }
            let file = OpenFile(try links.checked(opened, .open, path), path, faults)
            _ = try checked(clinux_sync_file_system(file.descriptor), .syncFileSystem, path)
        }
    }

    func openFolder(
        _ path: FilePath, _ operation: FileOperation
    ) throws(DurableFileError) -> OpenFile {
        let opened = try path.withPointer { links.open($0, O_RDONLY | O_DIRECTORY) }
        return OpenFile(try links.checked(opened, operation, path), path, faults)
    }

    /// Removes a file and makes the removal durable; a missing file is fine.
    package func remove(_ path: FilePath) throws(DurableFileError) {
        do {
            try unlink(path)
        } catch {
            if error.isMissing { return }
            throw error
        }
        try syncFolder(path.parent)
    }

    /// Removes a name without making the removal durable.
    package func unlink(_ path: FilePath) throws(DurableFileError) {
        try faults.perform(.unlink, on: path) { () throws(DurableFileError) in
            let folder = try holdFolder(of: path, .unlink)
            let result = try path.lastComponent.withPointer {
                clinux_unlink_in(folder.descriptor, $0)
            }
            _ = try checked(result, .unlink, path)
        }
    }

    /// The folder of a path, as the policy for links reaches it: what is then done to a name in it
    /// is done there, whatever becomes of the path.
    ///
    /// - Parameters:
    ///   - path: of something in the folder.
    ///   - operation: what failures are told as.
    /// - Returns: the folder.
    /// - Throws: `DurableFileError`.
    func holdFolder(
        of path: FilePath, _ operation: FileOperation
    ) throws(DurableFileError) -> OpenFile {
        let parent = path.parent
        let opened = try parent.withPointer { links.open($0, clinux_path_only | O_DIRECTORY) }
        return OpenFile(try links.checked(opened, operation, path), parent, faults)
    }

    /// Runs a call on two names and their folders, which are reached as the policy says.
    ///
    /// - Parameters:
    ///   - source: the first name.
    ///   - destination: the second one, which failures name.
    ///   - operation: what failures are told as.
    ///   - call: gets the folder and the name of each.
    /// - Throws: `DurableFileError`.
    func betweenFolders(
        _ source: FilePath, _ destination: FilePath, _ operation: FileOperation,
        _ call: (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>) -> Int32
    ) throws(DurableFileError) {
        let from = try holdFolder(of: source, operation)
        let to = try holdFolder(of: destination, operation)
        let result = try source.lastComponent.withPointer { old throws(DurableFileError) in
            try destination.lastComponent.withPointer { new in
                call(from.descriptor, old, to.descriptor, new)
            }
        }
        _ = try checked(result, operation, destination)
    }

    /// Removes what a failed action leaves; the failure itself is what the caller reports.
    func discard(_ path: FilePath) {
        do throws(DurableFileError) { try unlink(path) } catch { return }
    }

    /// The path without symbolic links; everything on the way must exist.
    ///
    /// Where links are refused, a path that holds one is refused, too: it was resolved before, and
    /// another place has its name since.
    package func resolve(_ path: FilePath) throws(DurableFileError) -> FilePath {
        if links == .refused {
            let opened = try path.withPointer { links.open($0, clinux_path_only) }
            _ = OpenFile(try links.checked(opened, .resolve, path), path, faults)
            return path
        }
        // The kernel takes and gives paths of at most 4,096 bytes (PATH_MAX).
        var buffer = [CChar](repeating: 0, count: 4096)
        let length = try path.withPointer { clinux_resolve($0, &buffer, buffer.count) }
        let count = Int(try checked(length, .resolve, path))
        return FilePath(bytes: buffer[..<count].map { UInt8(bitPattern: $0) })
    }

    /// A store's path without symbolic links; of a store that is gone, its path in its folder,
    /// so that what was made beside it is still found.
    ///
    /// - Throws: `DurableFileError` where its folder is gone, too.
    package func resolveStore(_ path: FilePath) throws(DurableFileError) -> FilePath {
        do throws(DurableFileError) {
            return try resolve(path)
        } catch {
            guard error.isMissing else { throw error }
            return try resolve(path.parent).appending(path.lastComponent)
        }
    }
}
