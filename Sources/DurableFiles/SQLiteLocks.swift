internal import CLinux
internal import Glibc
internal import Synchronization

/// What other processes, and other connections of this one, do with a database.
package enum SQLiteUsage: Hashable, Sendable {
    /// Nobody holds a lock. A connection that waits between transactions of a rollback journal
    /// holds none either.
    case unused
    /// Somebody reads, or has it open with a write-ahead log; the process id where it is known.
    case open(process: Int64?)
    /// Somebody is in the middle of writing.
    case writing(process: Int64?)
}

/// SQLite's own locks on databases, held so that no connection anywhere reads or writes them.
///
/// SQLite locks bytes from 0x40000000 on (its `os.h`: PENDING_BYTE, RESERVED_BYTE, 510 SHARED
/// bytes) by fcntl(2), and open file description locks conflict with those, in the same process
/// too. A connection to a database with a write-ahead log holds a SHARED lock for as long as it
/// is open; one that comes while the locks are held gets SQLITE_BUSY.
///
/// For the hazard of opening a database that this process has open in SQLite, see `OpenFile`.
package final class SQLiteLocks: Sendable {
    private let covered = Mutex<[CoveredFile]>([])
    private let faults: FaultPoints

    /// Where SQLite's lock bytes begin: the pending byte.
    static let start: Int64 = 0x4000_0000
    /// The pending byte and, behind it, the reserved byte: what a writer locks.
    static let writerBytes: Int64 = 2
    /// All of SQLite's lock bytes.
    static let allBytes: Int64 = 512
    /// The byte of a `-shm` file that a writer locks (walformat: WAL_WRITE_LOCK).
    static let sharedMemoryWriter: Int64 = 120

    /// Holds nothing yet.
    package init(faults: FaultPoints = .none) { self.faults = faults }

    /// Keeps every connection out of a file; one that is covered already is fine.
    ///
    /// A file that this process may not write is locked for reading, which keeps writers out,
    /// and looked at for readers.
    ///
    /// - Throws: `DurableFileError.lockHeld` where somebody has the database open.
    package func cover(_ file: FilePath) throws(DurableFileError) {
        let identity = try FileStatus(of: file).identity
        if covered.withLock({ $0.contains { $0.isFile(identity) } }) { return }
        let system = DurableFileSystem(faults: faults)
        var isExclusive = true
        let open: OpenFile
        do {
            open = try system.openForWriting(file)
        } catch {
            guard [EACCES, EPERM, EROFS].contains(error.number) else { throw error }
            open = try system.openForReading(file)
            isExclusive = false
        }
        let opened = try open.status().identity
        do {
            try faults.perform(.lock, on: file) { () throws(DurableFileError) in
                _ = try checked(
                    clinux_lock_range(
                        open.descriptor, SQLiteLocks.start, SQLiteLocks.allBytes,
                        isExclusive ? 1 : 0),
                    .lock, file)
            }
        } catch {
            guard error.number == EAGAIN else { throw error }
            throw try SQLiteLocks.busy(open)
        }
        if !isExclusive, try SQLiteLocks.isHeld(open, SQLiteLocks.allBytes, exclusive: true) != nil
        {
            throw try SQLiteLocks.busy(open)
        }
        let number = open.takeDescriptor()
        covered.withLock { $0.append(CoveredFile(identity: opened, descriptor: number)) }
    }

    /// Lets connections in again; a second call does nothing.
    package func release() {
        covered.withLock { files in
            for file in files {
                // A child on its way to another program would keep what is only closed.
                _ = clinux_unlock_range(
                    file.descriptor, SQLiteLocks.start, SQLiteLocks.allBytes)
                _ = clinux_close(file.descriptor)
            }
            files = []
        }
    }

    deinit { release() }

    /// What others do with a store, without locking anything: old when it is returned.
    ///
    /// - Throws: `DurableFileError` where the main file cannot be opened for reading.
    package static func usage(of store: FilePath) throws(DurableFileError) -> SQLiteUsage {
        let main = try DurableFileSystem().openForReading(store)
        if let process = try isHeld(main, writerBytes, exclusive: false) {
            return .writing(process: process.number)
        }
        if let process = try writerOfLog(store) { return .writing(process: process.number) }
        if let process = try isHeld(main, allBytes, exclusive: true) {
            return .open(process: process.number)
        }
        return .unused
    }

    /// Somebody who holds a lock.
    private struct Holder {
        /// The process, where the lock is one of a process.
        let number: Int64?
    }

    private static func isHeld(
        _ file: borrowing OpenFile, from start: Int64 = SQLiteLocks.start, _ length: Int64,
        exclusive: Bool
    ) throws(DurableFileError) -> Holder? {
        var process: Int64 = 0
        let result = clinux_range_is_held(
            file.descriptor, start, length, exclusive ? 1 : 0, &process)
        guard try checked(result, .inspectLock, file.path) == 1 else { return nil }
        return Holder(number: process > 0 ? process : nil)
    }

    private static func writerOfLog(_ store: FilePath) throws(DurableFileError) -> Holder? {
        do {
            let memory = try DurableFileSystem().openForReading(store.adding(suffix: "-shm"))
            return try isHeld(memory, from: sharedMemoryWriter, 1, exclusive: false)
        } catch {
            if error.isMissing { return nil }
            throw error
        }
    }

    private static func busy(
        _ file: borrowing OpenFile
    ) throws(DurableFileError) -> DurableFileError {
        let process = try isHeld(file, allBytes, exclusive: true)?.number
        return .lockHeld(
            file.path,
            holder: "a process that has it open" + (process.map { " (pid \($0))" } ?? ""))
    }
}
