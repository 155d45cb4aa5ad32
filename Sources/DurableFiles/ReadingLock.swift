internal import CLinux
internal import Glibc

/// Keeps those who read a file and one who rewrites it apart, for moments.
///
/// A flock(2) lock on a file that stands for the other: it works on a read-only descriptor, goes
/// with the process, and takes no notice of the lock that an `OwnerLock` holds on the same file
/// (flock(2): the two kinds do not see each other on a local file system).
package struct ReadingLock: ~Copyable {
    private let file: OpenFile

    /// Milliseconds between two tries.
    private static let interval: UInt32 = 5

    /// Takes the lock; the file must be there.
    ///
    /// - Parameters:
    ///   - path: the file that is locked.
    ///   - isRewriting: whether nobody else may have it; readers share it.
    ///   - milliseconds: how long to try while others have it; 0 tries once.
    ///   - faults: where tests let durable actions fail.
    /// - Throws: `DurableFileError.lockHeld` where others keep it that long; `isMissing` where
    ///   there is no such file.
    package init(
        _ path: FilePath, isRewriting: Bool, waiting milliseconds: UInt32 = 0,
        faults: FaultPoints = .none
    ) throws(DurableFileError) {
        let open = try DurableFileSystem().openForReading(path)
        let descriptor = open.descriptor
        var left = milliseconds / ReadingLock.interval
        while true {
            do throws(DurableFileError) {
                try faults.perform(.lock, on: path) { () throws(DurableFileError) in
                    _ = try checked(
                        clinux_lock_file(descriptor, isRewriting ? 1 : 0), .lock, path)
                }
                break
            } catch {
                guard error.number == EAGAIN else { throw error }
                guard left > 0 else {
                    throw .lockHeld(path, holder: isRewriting ? "a reader" : "its owner")
                }
            }
            left -= 1
            // Nothing tells when a lock of flock(2) goes; waiting for no descriptor passes time.
            _ = poll(nil, 0, Int32(ReadingLock.interval))
        }
        file = open
    }

    deinit {
        // A child on its way to another program would keep what is only closed.
        _ = clinux_unlock_file(file.descriptor)
    }
}
