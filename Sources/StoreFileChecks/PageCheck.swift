package import CoreDataStore
package import SafeSQLite
import Synchronization
import Threads

/// The check of all pages of a source, on a thread of its own or on the caller's.
package final class PageCheck: Sendable {
    /// Nil for a check that has been made already.
    private let thread: OwnedThread?
    private let found: Found

    /// What the check found, shared with its thread.
    private final class Found: Sendable {
        let error = Mutex<StoreError?>(nil)
    }

    /// Begins.
    ///
    /// - Parameters:
    ///   - source: the store.
    ///   - connection: to its database, for a check on the caller's thread.
    ///   - inline: whether to check on the caller's thread: for small stores, which cost less
    ///     than a thread and a connection, and where others use the processors.
    /// - Throws: `ThreadError` where no thread can be started.
    package init(_ source: SourceStore, over connection: Connection, inline: Bool) throws {
        let found = Found()
        self.found = found
        guard !inline else {
            thread = nil
            do throws(StoreError) {
                try StoreOpener.checkPages(over: connection)
            } catch {
                found.error.withLock { $0 = error }
            }
            return
        }
        let stop = StatementStop.current
        thread = try OwnedThread(name: "page check") {
            do throws(StoreError) {
                try StatementStop.reaching(stop) { () throws(StoreError) in
                    try StoreOpener.checkPages(of: source)
                }
            } catch {
                found.error.withLock { $0 = error }
            }
        }
    }

    /// Waits for the check; to be called once.
    ///
    /// - Throws: `StoreError.notAStore` for a damaged file.
    package func finish() throws(StoreError) {
        thread?.join()
        if let error = found.error.withLock({ $0 }) { throw error }
    }
}
