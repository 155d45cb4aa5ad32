import LocalRun
import Synchronization

/// Shows a run on standard error: one line that changes on a terminal, a line for each step
/// elsewhere. Events may come from any thread.
final class RunView: Sendable {
    private let store: String
    private let isLive: Bool
    private let progress = Mutex(RunProgress())

    /// - Parameters:
    ///   - store: how lines name the store.
    ///   - isLive: whether standard error is a terminal.
    init(store: String, isLive: Bool) {
        self.store = store
        self.isLive = isLive
    }

    /// Takes in an event and shows what it changed.
    func show(_ event: RunEvent, at now: Double) {
        // Written under the lock, so that lines of two threads do not mix.
        progress.withLock { progress in
            let line = progress.take(event, at: now)
            if isLive {
                if let line {
                    Console.status("")
                    Console.log("\(store): \(line)")
                } else {
                    Console.status(String("\(store): \(progress.status(at: now))".prefix(78)))
                }
            } else if let line {
                Console.log("\(store): \(line)")
            }
        }
    }

    /// Leaves the terminal's line empty.
    func end() {
        if isLive { Console.status("") }
    }
}
