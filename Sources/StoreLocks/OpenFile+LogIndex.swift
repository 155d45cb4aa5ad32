internal import CLinux
package import DurableFiles

internal import Glibc

extension OpenFile {
    /// SQLite's `os_unix.c`: UNIX_SHM_DMS, behind the eight locks of the index itself.
    private static let usersByte: Int64 = 128

    /// Locks the index of a write-ahead log (`-shm`), which is open for writing, until it is
    /// closed.
    ///
    /// SQLite takes a shared lock on this byte before it looks at a log, also beside a database
    /// that is in another mode, and reports the database as busy where it cannot.
    ///
    /// - Throws: `DurableFileError.inUse` where a program uses the log.
    package func lockLogIndex() throws(DurableFileError) {
        do throws(DurableFileError) {
            let (descriptor, path) = (descriptor, path)
            try faults.perform(.lock, on: path) { () throws(DurableFileError) in
                _ = try checked(clinux_lock_range(descriptor, Self.usersByte, 1, 1), .lock, path)
            }
        } catch {
            guard error.number == EAGAIN else { throw error }
            throw .inUse(path, by: try FileUser.all(of: status().identity))
        }
    }

    /// Whether a program has the file, which is open for reading alone, open for writing; false
    /// where the file system does not tell.
    package func hasWriters() -> Bool { clinux_lease_probe(descriptor) == -EAGAIN }

    /// Leaves an index to the guardian: it stays locked until no program has the log open for
    /// writing, as SQLite has it.
    ///
    /// A program that has opened a log and waits for its index uses that log as soon as it can,
    /// also once the log has lost its name. It may close the index meanwhile and open it again, so
    /// the index keeps its name and holds nothing, as after the end of a program by a signal.
    ///
    /// - Parameter log: the log, open for reading, which has lost its name beside the index.
    package consuming func keepLogIndex(until log: borrowing OpenFile) {
        let path = path
        let descriptor = takeDescriptor()
        if let number = FileGuardian.hold(descriptor, of: path) {
            FileGuardian.keep(number, until: log.descriptor)
        }
        _ = clinux_close(descriptor)
    }
}
