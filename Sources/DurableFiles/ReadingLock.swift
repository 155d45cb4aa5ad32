internal import CLinux
internal import Glibc

/// Keeps those who read a file and one who rewrites it apart, for moments.
///
/// A flock(2) lock on a file that stands for the other: it works on a read-only descriptor, goes
/// with the process, and takes no notice of the lock that an `OwnerLock` holds on the same file
/// (flock(2): the two kinds do not see each other on a local file system).
package struct ReadingLock: ~Copyable {
    private let file: OpenFile

    /// Takes the lock without waiting; the file must be there.
    ///
    /// - Parameters:
    ///   - path: the file that is locked.
    ///   - isRewriting: whether no other process may have it; readers share it.
    ///   - faults: where tests let durable actions fail.
    /// - Throws: `DurableFileError.lockHeld` where others have it; `isMissing` where there is no
    ///   such file.
    package init(
        _ path: FilePath, isRewriting: Bool, faults: FaultPoints = .none
    ) throws(DurableFileError) {
        let open = try DurableFileSystem().openForReading(path)
        let descriptor = open.descriptor
        do throws(DurableFileError) {
            try faults.perform(.lock, on: path) { () throws(DurableFileError) in
                _ = try checked(clinux_lock_file(descriptor, isRewriting ? 1 : 0), .lock, path)
            }
        } catch {
            guard error.number == EAGAIN else { throw error }
            throw .lockHeld(path, holder: isRewriting ? "a reader" : "its owner")
        }
        file = open
    }

    deinit {
        // A child on its way to another program would keep what is only closed.
        _ = clinux_unlock_file(file.descriptor)
    }
}
