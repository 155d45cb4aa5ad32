internal import CLinux
internal import Glibc
internal import Synchronization

/// Who holds a lock, as others are told.
package struct LockHolder: Hashable, Sendable {
    /// One line, such as `pid 812 on server-3 (migrate)`; at most 255 bytes are kept.
    package let text: String

    package init(text: String) { self.text = text }

    /// This process, on this machine, and what it does.
    package static func thisProcess(doing purpose: String) -> LockHolder {
        var name = [CChar](repeating: 0, count: 256)
        _ = clinux_host_name(&name, name.count)
        let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        let host = FilePath(bytes: bytes).description
        return LockHolder(text: "pid \(clinux_process_id()) on \(host) (\(purpose))")
    }
}

/// The exclusive right to a folder or run, held until released or until the process ends.
///
/// An open file description lock (F_OFD_SETLK) on a file of its own: unlike POSIX locks it is
/// not lost when another part of the process closes the file, and it excludes other threads.
/// The file stays when the lock goes, for removing it would let two owners lock two files of
/// one name. It is no lock across machines on every network file system.
package final class OwnerLock: Sendable {
    /// The lock file.
    package let path: FilePath
    private let descriptor: Mutex<Int32?>
    private let faults: FaultPoints

    /// Takes the lock without waiting, making its file if need be.
    ///
    /// - Throws: `DurableFileError.lockHeld` with what the holder wrote about itself.
    package init(
        _ path: FilePath, holder: LockHolder, faults: FaultPoints = .none
    ) throws(DurableFileError) {
        let file = try OwnerLock.open(path, faults)
        do {
            try faults.perform(.lock, on: path) { () throws(DurableFileError) in
                _ = try checked(clinux_lock(file.descriptor), .lock, path)
            }
        } catch {
            guard error.number == EAGAIN else { throw error }
            throw .lockHeld(path, holder: try OwnerLock.holder(in: file))
        }
        try file.setSize(0)
        try file.write(Array(holder.text.utf8.prefix(OwnerLock.textLimit)))
        try file.sync()
        self.path = path
        self.faults = faults
        descriptor = Mutex(file.takeDescriptor())
    }

    deinit {
        descriptor.withLock { number in
            if let open = number.take() { OwnerLock.drop(open) }
        }
    }

    /// Gives the lock back; a second call does nothing.
    ///
    /// - Throws: `DurableFileError` where the system refuses; the descriptor is closed, and the
    ///   lock gone, all the same.
    package func release() throws(DurableFileError) {
        guard let open = descriptor.withLock({ $0.take() }) else { return }
        defer { OwnerLock.drop(open) }
        try faults.perform(.truncate, on: path) { () throws(DurableFileError) in
            _ = try checked(clinux_truncate(open, 0), .truncate, path)
        }
        try faults.perform(.unlock, on: path) { () throws(DurableFileError) in
            _ = try checked(clinux_unlock(open), .unlock, path)
        }
    }

    /// Gives the lock back before its file is closed: a child on its way to another program would
    /// keep what is only closed.
    private static func drop(_ descriptor: Int32) {
        _ = clinux_unlock(descriptor)
        _ = clinux_close(descriptor)
    }

    /// Who holds the lock of a file, or nil where no process does or the file is missing.
    package static func currentHolder(of path: FilePath) throws(DurableFileError) -> String? {
        do {
            let file = try DurableFileSystem().openForWriting(path)
            let isHeld = try checked(
                clinux_lock_is_held(file.descriptor), .inspectLock, path)
            return isHeld == 1 ? try holder(in: file) : nil
        } catch {
            if error.isMissing { return nil }
            throw error
        }
    }

    private static let textLimit = 255

    private static func open(
        _ path: FilePath, _ faults: FaultPoints
    ) throws(DurableFileError) -> OpenFile {
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK
        let file = try faults.perform(.create, on: path) {
            () throws(DurableFileError) -> OpenFile in
            let opened = try path.withPointer {
                clinux_open($0, flags, DurableFileSystem.privateFile)
            }
            return OpenFile(try checked(opened, .lock, path), path, faults)
        }
        let status = try file.status()
        guard status.isRegularFile else { throw .notRegularFile(path, kind: status.kind) }
        return file
    }

    /// What the holder wrote, made printable; it may not have written yet.
    private static func holder(in file: borrowing OpenFile) throws(DurableFileError) -> String {
        let bytes = try file.read(count: textLimit, at: 0)
        let text = FilePath(bytes: bytes).description
        return text.isEmpty ? "an unknown process" : text
    }
}
