import CoreDataStore
import Synchronization
import Threads

/// The check of all pages of a source, on a thread of its own.
final class PageCheck: Sendable {
    private let thread: OwnedThread
    private let found: Found

    /// What the check found, shared with its thread.
    private final class Found: Sendable {
        let error = Mutex<StoreError?>(nil)
    }

    /// Begins.
    ///
    /// - Throws: `ThreadError` where no thread can be started.
    init(_ source: SourceStore) throws {
        let found = Found()
        self.found = found
        thread = try OwnedThread(name: "page check") {
            do throws(StoreError) {
                try StoreOpener.checkPages(of: source)
            } catch {
                found.error.withLock { $0 = error }
            }
        }
    }

    /// Waits for the check; to be called once.
    ///
    /// - Throws: `StoreError.notAStore` for a damaged file.
    func finish() throws(StoreError) {
        thread.join()
        if let error = found.error.withLock({ $0 }) { throw error }
    }
}
