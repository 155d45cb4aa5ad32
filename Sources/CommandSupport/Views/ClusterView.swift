package import ClusterProtocol
import Synchronization

/// Shows the runs and workers of a coordinator on standard error.
///
/// On a terminal a picture that is drawn again with each report, and above it what happened;
/// elsewhere a line where something changed. Fit for any thread.
package final class ClusterView: Sendable {
    private struct State {
        var picture = ClusterPicture()
        /// Lines of the terminal that the picture takes.
        var drawn = 0
        var milestones: [String: ClusterPicture.Milestone] = [:]
        var hasToldWorkers = false
    }

    private let isLive: Bool
    private let tellsWorkers: Bool
    private let clock: @Sendable () -> Double
    private let size: @Sendable () -> TerminalSize
    private let state = Mutex(State())

    /// - Parameters:
    ///   - isLive: whether standard error is a terminal.
    ///   - tellsWorkers: whether lines tell who works; false where that is this command.
    ///   - clock: seconds since the beginning.
    ///   - size: of the terminal, asked for each picture.
    package init(
        isLive: Bool, tellsWorkers: Bool = true, clock: @escaping @Sendable () -> Double,
        size: @escaping @Sendable () -> TerminalSize = { TerminalSize.current }
    ) {
        self.isLive = isLive
        self.tellsWorkers = tellsWorkers
        self.clock = clock
        self.size = size
    }

    /// Shows where everything stands.
    ///
    /// - Parameters:
    ///   - report: of all runs, or one.
    ///   - watched: the run whose end the caller reports at last; nil where there is none.
    package func show(_ report: StatusReport, endingWith watched: String? = nil) {
        state.withLock { state in
            state.picture.take(report)
            if isLive { return draw(&state) }
            if tellsWorkers, !state.hasToldWorkers, !report.workers.isEmpty {
                state.hasToldWorkers = true
                Console.log(WorkerTable.summary(report.workers))
            }
            for run in report.runs {
                let milestone = ClusterPicture.Milestone(run)
                guard state.milestones.updateValue(milestone, forKey: run.run) != milestone else {
                    continue
                }
                if run.run == watched, !run.isUnfinished || run.awaitsSwap { continue }
                Console.log(ClusterPicture.line(of: run))
            }
        }
    }

    /// Shows what happened, where it is worth a line.
    package func show(_ note: Note) {
        state.withLock { state in
            guard let line = state.picture.take(note) else { return }
            log(line, &state)
        }
    }

    /// Writes a line that stays.
    package func log(_ text: String) { state.withLock { log(text, &$0) } }

    private func log(_ text: String, _ state: inout State) {
        clear(&state)
        Console.log(text)
        if isLive { draw(&state) }
    }

    private func draw(_ state: inout State) {
        let lines = state.picture.lines(in: size(), seconds: clock())
        Console.redraw(lines, over: state.drawn)
        state.drawn = lines.count
    }

    private func clear(_ state: inout State) {
        guard isLive, state.drawn > 0 else { return }
        Console.redraw([], over: state.drawn)
        state.drawn = 0
    }

    /// Leaves the place of the picture empty.
    package func end() { state.withLock { clear(&$0) } }
}
