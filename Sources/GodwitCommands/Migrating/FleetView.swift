import DurableFiles
import LocalRun
import Synchronization

/// Shows a run on standard error.
///
/// One line that changes on a terminal; elsewhere a line for each step of a single store, and
/// for every hundredth store of a fleet. Called from the run's threads.
final class FleetView: Sendable {
    private struct State {
        var active: [Int: (name: String, progress: RunProgress)] = [:]
        var done = 0
        var failed = 0
        var failures = StoreOutcomes(count: 0)
        var pause: String?
        var results: [StoreResult] = []
    }

    private let stores: Int
    private let isLive: Bool
    private let clock: @Sendable () -> Double
    private let state: Mutex<State>

    /// - Parameters:
    ///   - stores: of the run.
    ///   - isLive: whether standard error is a terminal.
    ///   - clock: of the run.
    init(stores: Int, isLive: Bool, clock: @escaping @Sendable () -> Double) {
        self.stores = stores
        self.isLive = isLive
        self.clock = clock
        var state = State()
        state.failures = StoreOutcomes(count: stores)
        self.state = Mutex(state)
    }

    /// Takes in what the run tells.
    func show(_ notice: RunNotice) {
        state.withLock { state in
            switch notice {
            case .planned: break
            case .progress(let number, let path, let event): take(event, number, path, &state)
            case .ended(let number, let path, let end): take(end, number, path, &state)
            case .paused(let reason):
                state.pause = reason
                clear()
                Console.log("paused: \(reason)")
            case .resumed:
                state.pause = nil
                clear()
                Console.log("going on: there is room again")
            }
            if isLive { Console.status(String(line(state).prefix(78))) }
        }
    }

    private func take(_ event: RunEvent, _ number: Int, _ path: FilePath, _ state: inout State) {
        var entry =
            state.active[number]
            ?? (name: path.lastComponent.description, progress: RunProgress())
        let line = entry.progress.take(event, at: clock())
        state.active[number] = entry
        // Of a fleet, steps of every store would be too much.
        guard stores == 1, let line else { return }
        clear()
        Console.log("\(entry.name): \(line)")
    }

    private func take(_ end: StoreEnd, _ number: Int, _ path: FilePath, _ state: inout State) {
        state.active[number] = nil
        switch end {
        case .done(let result), .deferred(let result):
            state.done += 1
            if stores == 1 { state.results = [result] }
            if stores > 1, !isLive, state.done % 100 == 0 {
                Console.log("\(grouped(state.done)) of \(counted(stores, "store")) migrated")
            }
        case .unchanged:
            state.done += 1
            guard stores == 1 else { return }
            Console.log("\(path) is of the destination's version already; nothing was done")
        case .failed(let error):
            state.failed += 1
            clear()
            state.failures.fail(path, CommandFailure(error))
        }
    }

    private func line(_ state: State) -> String {
        if let pause = state.pause { return "waiting: \(pause)" }
        var parts: [String] = []
        if stores > 1 {
            parts.append("\(grouped(state.done))/\(grouped(stores)) stores")
            if state.failed > 0 { parts.append("\(grouped(state.failed)) failed") }
            let seconds = clock()
            if seconds > 1, state.done > 0 {
                let rate = Double(state.done) / seconds
                parts.append("\(Int64((rate * 10).rounded()) / 10)/s")
                let left = stores - state.done - state.failed
                if left > 0 { parts.append("\(Seconds.words(Double(left) / rate)) left") }
            }
        }
        // The store with the most jobs is the one that others wait for.
        let longest = state.active.max {
            ($0.value.progress.current?.jobs ?? 0, $1.key)
                < ($1.value.progress.current?.jobs ?? 0, $0.key)
        }
        if let longest {
            let status = longest.value.progress.status(at: clock())
            parts.append("\(longest.value.name): \(status)")
        }
        return parts.joined(separator: "  ")
    }

    private func clear() { if isLive { Console.status("") } }

    /// Leaves the terminal's line empty.
    func end() { clear() }

    /// What failed so far.
    var failures: StoreOutcomes { state.withLock { $0.failures } }

    /// The result of the only store, where there is one.
    var onlyResult: StoreResult? { state.withLock { $0.results.first } }
}
