internal import CLinux
package import DurableFiles

internal import Glibc
internal import Synchronization

/// A file that a lock holds through one descriptor: every lock of ours lies on it, because a
/// second open of the file, even by ourselves, would break the lease.
struct HeldFile: Sendable {
    let identity: FileIdentity
    let descriptor: Int32
    /// Whether the descriptor may write.
    let isWritable: Bool
    /// Whether SQLite's lock bytes are held on it.
    var hasLockBytes = false
    /// Whether a lease was granted on it; it may have been broken since.
    var hasLease = false
    /// Its number with the guardian, which holds it, too.
    var guarded: UInt64?

    /// SQLite locks bytes from 0x40000000 on (its `os.h`: PENDING_BYTE, RESERVED_BYTE, 510 SHARED
    /// bytes) by fcntl(2), and open file description locks conflict with those, in the same
    /// process too.
    static let lockBytesStart: Int64 = 0x4000_0000
    static let lockBytes: Int64 = 512

    /// Whether it is the same file, in whatever state.
    func isFile(_ other: FileIdentity) -> Bool {
        identity.isFile(other)
    }

    /// Whether a program has opened the file, or waits to open it, since the lease was granted.
    var isAwaited: Bool { hasLease && clinux_lease_is_whole(descriptor) != 1 }

    /// Whether a program is about to open the file, though it does not wait for the lease yet: a
    /// scanner of opened files (fanotify(7)) may hold it up before that for as long as it takes.
    ///
    /// The kernel counts it already, and grants no lease again.
    var isAboutToBeOpened: Bool { hasLease && clinux_lease(descriptor) == -EAGAIN }

    /// Lets clients in again.
    mutating func admitClients() {
        if hasLockBytes {
            _ = clinux_unlock_range(
                descriptor, HeldFile.lockBytesStart, HeldFile.lockBytes)
        }
        if hasLease { _ = clinux_lease_release(descriptor) }
        if let guarded { FileGuardian.admit(guarded) }
        (hasLockBytes, hasLease, guarded) = (false, false, nil)
    }

    /// Leaves a file that has lost its store's name to the guardian.
    ///
    /// A program may have it open, or wait for it: the file stays locked until no program has it
    /// open. Without a guardian everything is given back.
    func abandon() {
        guard let guarded else { return close() }
        FileGuardian.abandon(guarded)
        _ = clinux_unlock_file(descriptor)
        _ = clinux_close(descriptor)
    }

    /// Gives everything back.
    func close() {
        var held = self
        held.admitClients()
        // A child on its way to another program would keep what is only closed.
        _ = clinux_unlock_file(descriptor)
        _ = clinux_close(descriptor)
    }
}

/// The files that a lock holds, through whose descriptors others may read them.
package final class HeldFiles: HeldDescriptors {
    let files = Mutex<[HeldFile]>([])

    /// The held file that a path leads to; nil where the path leads to another file.
    package func open(
        _ path: FilePath, writable: Bool, _ faults: FaultPoints
    ) throws(DurableFileError) -> OpenFile? {
        guard let status = try FileStatus.ifPresent(path) else { return nil }
        return try open(status.identity, path, writable: writable, faults)
    }

    /// A held file by its identity; nil for another file.
    package func open(
        _ identity: FileIdentity, _ path: FilePath, writable: Bool, _ faults: FaultPoints
    ) throws(DurableFileError) -> OpenFile? {
        let result: Int32? = files.withLock { files in
            files.first { $0.isFile(identity) && ($0.isWritable || !writable) }.map {
                clinux_duplicate($0.descriptor)
            }
        }
        guard let result else { return nil }
        return OpenFile(try checked(result, .open, path), path, faults)
    }
}
