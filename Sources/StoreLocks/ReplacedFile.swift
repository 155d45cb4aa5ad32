internal import CLinux
package import DurableFiles

internal import Glibc
internal import Synchronization

/// A database file that another file has taken the name of, while clients are kept out of it.
///
/// A program that looked the name up just before the change may open this file just after it. It
/// would then read and write the old file beside the `-wal` of the new one, which destroys both.
/// The lease shows such a program, which waits in open(2) until the file can do no harm.
package final class ReplacedFile: Sendable {
    /// Device and inode say which file it is; the rest is as old as the lock.
    package let identity: FileIdentity
    /// Holds the file until it is released: read it through this.
    package let held = HeldFiles()
    private let faults: FaultPoints
    private let start = clinux_monotonic()

    /// Milliseconds since the file was replaced.
    package var age: Int64 { clinux_monotonic() - start }

    /// Waits so many milliseconds, between two looks.
    package static func pause(_ milliseconds: Int64) { clinux_sleep(milliseconds) }

    /// What is left of a file that must not be taken for a database any more.
    ///
    /// Not an empty one: SQLite deletes the `-wal` beside an empty database.
    static let invalidHeader: [UInt8] = Array("replaced by godwit; open again\n".utf8)

    init(_ file: HeldFile, faults: FaultPoints) {
        identity = file.identity
        // The right against other runs concerns the name, which it has lost.
        _ = clinux_unlock_file(file.descriptor)
        self.faults = faults
        held.files.withLock { $0 = [file] }
    }

    /// Whether a program has opened the file, or waits to, since its lease was granted; false
    /// where its file system has no leases.
    package var isAwaited: Bool { held.files.withLock { $0.contains { $0.isAwaited } } }

    /// Whether no other program has the file open now; true where that cannot be seen.
    package func isUnopened() -> Bool {
        held.files.withLock { files in
            guard let file = files.first else { return true }
            if file.hasLease { return !file.isAwaited }
            switch clinux_lease(file.descriptor) {
            case 0:
                _ = clinux_lease_release(file.descriptor)
                return true
            case -EAGAIN: return false
            default: return true
            }
        }
    }

    /// Whether a program is about to open the file and does not wait for its lease yet.
    package var isAboutToBeOpened: Bool {
        held.files.withLock { $0.contains { $0.isAboutToBeOpened } }
    }

    /// The processes that have it open.
    package func users() -> [FileUser] { FileUser.all(of: identity) }

    /// The file for reading, as its name is given in errors.
    ///
    /// - Throws: `DurableFileError`; `stopped` once it was released.
    package func opened(_ name: FilePath) throws(DurableFileError) -> OpenFile {
        let duplicate = held.files.withLock { $0.first.map { clinux_duplicate($0.descriptor) } }
        guard let duplicate else { throw .stopped(name) }
        return OpenFile(try checked(duplicate, .open, name), name, faults)
    }

    /// Makes a file that has no name any more unusable as a database, and lets those open it who
    /// wait: they get "file is not a database", or stay locked out for as long as this lives.
    ///
    /// - Throws: `DurableFileError`; `refusedPath` for a file that has a name.
    package func invalidate(_ name: FilePath) throws(DurableFileError) {
        let open = try opened(name)
        guard try open.status().links == 0 else {
            throw .refusedPath(name, reason: "the file still has a name")
        }
        if held.files.withLock({ $0.contains { $0.isWritable } }) {
            try open.setSize(Int64(ReplacedFile.invalidHeader.count))
            try open.write(ReplacedFile.invalidHeader, at: 0)
        }
        admitWaiting()
    }

    /// Lets those open the file who wait to; they stay locked out by SQLite's lock bytes.
    package func admitWaiting() {
        held.files.withLock { files in
            for index in files.indices where files[index].hasLease {
                _ = clinux_lease_release(files[index].descriptor)
                files[index].hasLease = false
            }
        }
    }

    /// Lets the file go; a second call does nothing.
    ///
    /// A program that has it open, or waits for it, or is about to, is left to the guardian.
    package func release() {
        let isUnopened = isUnopened() && !isAboutToBeOpened
        held.files.withLock { files in
            for file in files {
                if isUnopened { file.close() } else { file.abandon() }
            }
            files = []
        }
    }

    /// Whether programs that have the file open stay locked out after this process has ended.
    package static var outlivesProcess: Bool { FileGuardian.outlivesProcess }

    deinit { release() }
}
