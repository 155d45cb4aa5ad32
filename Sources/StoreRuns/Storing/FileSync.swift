import DurableFiles
import MigrationPlans
import Synchronization
import Threads

/// Makes a file's contents durable on a thread of its own.
final class FileSync: Sendable {
    private let thread: OwnedThread
    private let found: Found

    /// What went wrong, shared with the thread.
    private final class Found: Sendable {
        let error = Mutex<DurableFileError?>(nil)
    }

    /// Begins.
    ///
    /// - Throws: `EngineError.internalError` where no thread can be started.
    init(_ path: FilePath, files: DurableFileSystem) throws(EngineError) {
        let found = Found()
        self.found = found
        do {
            thread = try OwnedThread(name: "sync") {
                do throws(DurableFileError) {
                    try files.syncFile(path)
                } catch {
                    found.error.withLock { $0 = error }
                }
            }
        } catch {
            throw .internalError("a thread cannot be started: \(error)")
        }
    }

    /// Waits; to be called once.
    ///
    /// - Throws: `EngineError.file` for a failed sync, which is never tried again: what the disk
    ///   then holds is unknown.
    func finish() throws(EngineError) {
        thread.join()
        if let error = found.error.withLock({ $0 }) { throw .file(error) }
    }
}
