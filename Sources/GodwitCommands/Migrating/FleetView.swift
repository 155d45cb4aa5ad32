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
        var pace: FleetPace?
        var done = 0
        var doneBytes: Int64 = 0
        var failed = 0
        var failures = StoreOutcomes(count: 0)
        /// Why the run waits; kept until work has gone on, so that a disk that stays full is told
        /// of once.
        var pause: String?
        var triesAgain = false
        var results: [StoreResult] = []
    }

    private let stores: Int
    private let bytes: [FilePath: Int64]
    private let isLive: Bool
    private let clock: @Sendable () -> Double
    private let write: @Sendable (String) -> Void
    private let state: Mutex<State>

    /// - Parameters:
    ///   - stores: of the run.
    ///   - bytes: of the stores, as they were found.
    ///   - isLive: whether standard error is a terminal.
    ///   - clock: of the run.
    ///   - write: takes lines that stay.
    init(
        stores: Int, bytes: [FilePath: Int64] = [:], isLive: Bool,
        clock: @escaping @Sendable () -> Double,
        write: @escaping @Sendable (String) -> Void = { Console.log($0) }
    ) {
        self.stores = stores
        self.bytes = bytes
        self.isLive = isLive
        self.clock = clock
        self.write = write
        var state = State()
        state.failures = StoreOutcomes(count: stores)
        self.state = Mutex(state)
    }

    /// Takes in what the run tells.
    func show(_ notice: RunNotice) {
        state.withLock { state in
            switch notice {
            case .planned: break
            case .begun(let stores, let bytes):
                state.pace = FleetPace(stores: stores, bytes: bytes, began: clock())
            case .progress(let number, let path, let event):
                if case .jobDone = event { goesOn(&state) }
                take(event, number, path, &state)
            case .ended(let number, let path, let end): take(end, number, path, &state)
            case .paused(let reason):
                state.triesAgain = false
                if state.pause == nil {
                    clear()
                    write("paused: \(reason); it goes on by itself")
                }
                state.pause = reason
            case .resumed: state.triesAgain = true
            }
            if isLive { Console.status(String(line(state).prefix(78))) }
        }
    }

    /// Ends a pause: a try again alone does not, for it may find as little room as the last one.
    private func goesOn(_ state: inout State) {
        guard state.pause != nil, state.triesAgain else { return }
        state.pause = nil
        state.triesAgain = false
        clear()
        write("going on: there is room again")
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
        write("\(entry.name): \(line)")
    }

    private func take(_ end: StoreEnd, _ number: Int, _ path: FilePath, _ state: inout State) {
        state.active[number] = nil
        let size = bytes[path]
        switch end {
        case .done(let result), .deferred(let result):
            goesOn(&state)
            count(size ?? result.sourceBytes, &state)
            if stores == 1 { state.results = [result] }
            if stores > 1, !isLive, state.done % 100 == 0 {
                write("\(grouped(state.done)) of \(counted(total(state), "store")) migrated")
            }
        case .unchanged:
            goesOn(&state)
            count(size ?? 0, &state)
            guard stores == 1 else { return }
            write("\(path) is of the destination's version already; nothing was done")
        case .failed(let error):
            state.failed += 1
            state.pace?.add(bytes: size ?? 0)
            clear()
            state.failures.fail(path, CommandFailure(error))
        }
    }

    private func count(_ bytes: Int64, _ state: inout State) {
        state.done += 1
        let (sum, overflow) = state.doneBytes.addingReportingOverflow(max(0, bytes))
        state.doneBytes = overflow ? .max : sum
        state.pace?.add(bytes: bytes)
    }

    /// Those that this process has to do with: a run that goes on has done others before.
    private func total(_ state: State) -> Int { state.pace?.stores ?? stores }

    private func line(_ state: State) -> String {
        if let pause = state.pause { return "waiting: \(pause)" }
        var parts: [String] = []
        if stores > 1 {
            parts.append("\(grouped(state.done))/\(grouped(total(state))) stores")
            if state.failed > 0 { parts.append("\(grouped(state.failed)) failed") }
            let now = clock()
            if let rate = state.pace?.rate(at: now) {
                parts.append("\(ReportWords.tenths(rate))/s")
            }
            if let left = state.pace?.secondsLeft(at: now) {
                parts.append("\(Seconds.words(left)) left")
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

    /// What this process has migrated.
    var migrated: RunFacts.Share {
        state.withLock { RunFacts.Share(stores: $0.done, bytes: $0.doneBytes) }
    }
}
