/// Decides when a running job has been silent, or has run, for too long.
///
/// Times are milliseconds of one clock that never goes back.
struct SlotWatchdog: Hashable, Sendable {
    private let limits: SlotLimits
    private let began: Int64
    private var last: Int64

    init(_ limits: SlotLimits, now: Int64) {
        self.limits = limits
        began = now
        last = now
    }

    /// Takes note of progress.
    mutating func progressed(at now: Int64) { last = max(last, now) }

    /// When the job is killed unless it progresses.
    var deadline: Int64 {
        let silence = Self.sum(last, limits.silenceMilliseconds)
        guard let job = limits.jobMilliseconds else { return silence }
        return min(silence, Self.sum(began, job))
    }

    /// Why the job is to be killed; nil while it is not.
    func verdict(at now: Int64) -> String? {
        guard now >= deadline else { return nil }
        if now >= Self.sum(last, limits.silenceMilliseconds) {
            return "no row was written and no byte moved for \(limits.silenceMilliseconds) ms"
        }
        return "it ran for \(now - began) ms, longer than the limit for a job"
    }

    private static func sum(_ time: Int64, _ span: Int64) -> Int64 {
        let (sum, overflow) = time.addingReportingOverflow(max(0, span))
        return overflow ? .max : sum
    }
}

/// How long a slot stays down whose process ends again and again without a job done.
struct SlotBackOff: Hashable, Sendable {
    /// The longest pause in milliseconds.
    static let longest: Int64 = 10_000
    private static let first: Int64 = 100

    /// Ends in a row.
    private(set) var ends = 0

    /// Takes note of a job that was answered.
    mutating func succeeded() { ends = 0 }

    /// Takes note of an end; the first in a row is followed by a start at once.
    ///
    /// - Returns: milliseconds until the next start.
    mutating func ended() -> Int64 {
        ends = min(ends + 1, 16)
        return ends == 1 ? 0 : min(Self.first << Int64(ends - 2), Self.longest)
    }
}
