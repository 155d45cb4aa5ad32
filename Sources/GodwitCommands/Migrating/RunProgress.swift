import DurableFiles
import LocalRun

/// What a run has done so far, from its events: a value that knows no clock and no terminal.
struct RunProgress: Hashable, Sendable {
    /// The step that is under way, if any.
    struct Step: Hashable, Sendable {
        let step: RunStep
        /// Jobs in all, 0 where that has no meaning.
        let jobs: Int
        let began: Double
        var done = 0
        var rows: Int64 = 0
        var bytes: Int64 = 0
    }

    private(set) var current: Step?

    /// Takes in an event.
    ///
    /// - Parameters:
    ///   - event: in the order in which events happen.
    ///   - now: seconds of the run's clock.
    /// - Returns: the line for a log, where a step has ended.
    mutating func take(_ event: RunEvent, at now: Double) -> String? {
        switch event {
        case .began(let step, let jobs):
            current = Step(step: step, jobs: jobs, began: now)
            return nil
        case .jobDone(let step, let rows, let bytes):
            guard var active = current, active.step == step else { return nil }
            active.done += 1
            // Counts come from files of strangers: their sum may be anything.
            active.rows = active.rows.addingClamped(rows)
            active.bytes = active.bytes.addingClamped(bytes)
            current = active
            return nil
        case .ended(let step):
            guard let ended = current, ended.step == step else { return nil }
            current = nil
            return RunProgress.summary(of: ended, at: now)
        }
    }

    /// One line on the step under way: jobs, rates, and the time that it may still take.
    func status(at now: Double) -> String {
        guard let current else { return "" }
        var parts = [current.step.rawValue]
        let elapsed = now - current.began
        if current.jobs > 0 { parts.append("\(current.done)/\(current.jobs) jobs") }
        parts += RunProgress.rates(of: current, seconds: elapsed)
        if current.jobs > current.done, current.done > 0 {
            let left = elapsed / Double(current.done) * Double(current.jobs - current.done)
            parts.append("\(Seconds.words(left)) left")
        }
        return parts.joined(separator: "  ")
    }

    private static func summary(of step: Step, at now: Double) -> String {
        let elapsed = now - step.began
        var parts = ["\(step.step.rawValue): \(Seconds.words(elapsed))"]
        if step.jobs > 0 { parts.append(counted(step.jobs, "job")) }
        if step.rows > 0 { parts.append(counted(step.rows, "row")) }
        return (parts + rates(of: step, seconds: elapsed)).joined(separator: ", ")
    }

    private static func rates(of step: Step, seconds: Double) -> [String] {
        guard seconds > 0 else { return [] }
        var parts: [String] = []
        if step.rows > 0 {
            parts.append("\(grouped(Int64(clamping: Double(step.rows) / seconds))) rows/s")
        }
        if step.bytes > 0 {
            let tenths = Int64(clamping: (Double(step.bytes) / seconds / 100_000).rounded())
            parts.append("\(grouped(tenths / 10)).\(tenths % 10) MB/s")
        }
        return parts
    }
}

/// Durations for people.
enum Seconds {
    /// `0.25 s`, `12.3 s`, `4 min 05 s`, `2 h 07 min`.
    static func words(_ seconds: Double) -> String {
        let bounded = seconds.isFinite ? min(max(seconds, 0), 1e9) : 0
        if bounded < 9.995 { return decimal(bounded, scale: 100, digits: 2) }
        if bounded < 59.95 { return decimal(bounded, scale: 10, digits: 1) }
        let whole = Int64(bounded.rounded())
        if whole < 3600 { return "\(whole / 60) min \(padded(whole % 60)) s" }
        return "\(whole / 3600) h \(padded(whole % 3600 / 60)) min"
    }

    private static func decimal(_ seconds: Double, scale: Int64, digits: Int) -> String {
        let scaled = Int64((seconds * Double(scale)).rounded())
        let fraction = String(scaled % scale)
        let zeros = String(repeating: "0", count: digits - fraction.count)
        return "\(scaled / scale).\(zeros)\(fraction) s"
    }

    private static func padded(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}

extension Int64 {
    /// The nearest integer that there is; 0 for what is no number.
    fileprivate init(clamping number: Double) {
        guard !number.isNaN else {
            self = 0
            return
        }
        self = Int64(Swift.min(Swift.max(number, -9e18), 9e18))
    }
}
