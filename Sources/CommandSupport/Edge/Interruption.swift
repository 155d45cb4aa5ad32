package import DurableFiles
import Synchronization
package import Threads

/// What happens when a signal asks the process to end: scratch folders, which hold users' data,
/// are removed, and the process ends as the signal asks.
///
/// Nothing else needs care, because a process may be killed at any time. A command that has
/// something to give back takes the first signal itself.
package final class Interruption: Sendable {
    /// The one of the process.
    package static let shared = Interruption()

    /// How often a folder is removed into which other threads may still be writing.
    private static let attempts = 1000

    /// The scratch folders that are there.
    private let folders = Mutex<[FilePath]>([])
    /// What the first signal calls instead of ending the process.
    private let atFirst = Mutex<(@Sendable () -> Void)?>(nil)
    /// Lives as long as the process.
    private let watcher = Mutex<OwnedThread?>(nil)

    /// Begins to watch for signals; to be called before any other thread is started.
    ///
    /// - Throws: `ThreadError` where no thread can be started.
    package func watch() throws(ThreadError) {
        guard EndSignals.block() else { return }
        let thread = try OwnedThread(name: "signals") { [self] in
            var signal = EndSignals.wait()
            while let body = atFirst.withLock({ $0.take() }) {
                body()
                signal = EndSignals.wait()
            }
            let last = signal
            folders.withLock { all in
                // The lock is never given back: who passes the gate from now on waits for the end.
                for line in Self.remove(all) { Console.lastWord("godwit: \(line)") }
                EndSignals.end(by: last)
            }
        }
        watcher.withLock { $0 = thread }
    }

    /// Has a body called when the next signal comes, on a thread of its own; the one after that
    /// ends the process, and every one does without a body.
    package func atFirstSignal(_ body: (@Sendable () -> Void)?) {
        atFirst.withLock { $0 = body }
    }

    /// Returns at once, or never, where the process is about to end by a signal.
    package func gate() { folders.withLock { _ in } }

    /// Makes a scratch folder.
    ///
    /// - Throws: `DurableFileError` where it cannot be made.
    package func make(_ folder: FilePath) throws(DurableFileError) {
        try folders.withLock { all throws(DurableFileError) in
            all.append(folder)
            try DurableFileSystem().makeFolder(folder)
        }
    }

    /// Removes a scratch folder with everything in it.
    ///
    /// - Throws: `DurableFileError` for what cannot be removed.
    package func remove(_ folder: FilePath) throws(DurableFileError) {
        try folders.withLock { all throws(DurableFileError) in
            try DurableFileSystem().removeTree(folder)
            all.removeAll { $0 == folder }
        }
    }

    /// Removes folders although other threads may be writing into them.
    ///
    /// - Returns: what could not be removed, in words.
    static func remove(_ folders: [FilePath]) -> [String] {
        folders.compactMap { folder in
            var failure: String?
            for _ in 0..<attempts {
                do throws(DurableFileError) {
                    try DurableFileSystem().removeTree(folder)
                    return nil
                } catch {
                    // Something came or went between listing and removing: once more.
                    failure = "\(error)"
                }
            }
            return failure
        }
    }
}
