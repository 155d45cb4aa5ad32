import LocalRun

/// Shows a run on standard error: one line that changes on a terminal, a line for each step
/// elsewhere.
final class RunView {
    private let store: String
    private let isLive: Bool
    private var progress = RunProgress()

    /// - Parameters:
    ///   - store: how lines name the store.
    ///   - isLive: whether standard error is a terminal.
    init(store: String, isLive: Bool) {
        self.store = store
        self.isLive = isLive
    }

    /// Takes in an event and shows what it changed.
    func show(_ event: RunEvent, at now: Double) {
        let line = progress.take(event, at: now)
        if let line {
            end()
            Console.log("\(store): \(line)")
        } else if isLive {
            Console.status(String("\(store): \(progress.status(at: now))".prefix(78)))
        }
    }

    /// Leaves the terminal's line empty.
    func end() {
        if isLive { Console.status("") }
    }
}
