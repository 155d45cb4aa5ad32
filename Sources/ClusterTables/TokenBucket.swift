package import ClusterVocabulary

/// Bytes that may be given out, refilled with time; what is given out may run into debt once.
package struct TokenBucket: Hashable, Sendable {
    /// Nil for no bound.
    package private(set) var bytesPerSecond: Int64?
    private var level: Int64 = 0
    private var filledAt = Instant.zero

    package init(bytesPerSecond: Int64?, now: Instant = .zero) {
        self.bytesPerSecond = bytesPerSecond.map { max(1, $0) }
        filledAt = now
        level = self.bytesPerSecond ?? 0
    }

    /// Whether something may be given out now.
    package mutating func isOpen(_ now: Instant) -> Bool {
        guard let rate = bytesPerSecond else { return true }
        fill(rate, now)
        return level > 0
    }

    /// Gives out bytes.
    package mutating func take(_ bytes: Int64) {
        guard bytesPerSecond != nil else { return }
        let (rest, overflows) = level.subtractingReportingOverflow(max(0, bytes))
        level = overflows ? Int64.min / 2 : rest
    }

    /// When something may be given out again, in milliseconds from the last refill on.
    package func opens(after now: Instant) -> Instant {
        guard let rate = bytesPerSecond, level <= 0 else { return now }
        let missing = 1 - level
        let seconds = missing / rate
        let rest = (missing % rate) * 1000 / rate
        let (wait, overflows) = seconds.multipliedReportingOverflow(by: 1000)
        return filledAt.adding(overflows ? Int64.max / 2 : wait + rest + 1)
    }

    private mutating func fill(_ rate: Int64, _ now: Instant) {
        let elapsed = now.since(filledAt)
        guard elapsed > 0 else { return }
        let (product, overflows) = rate.multipliedReportingOverflow(by: elapsed)
        let added = overflows ? rate : product / 1000
        // Too little for one byte: the time is kept for the next look.
        guard added > 0 else { return }
        let (sum, isOver) = level.addingReportingOverflow(added)
        level = min(rate, isOver ? rate : sum)
        filledAt = now
    }
}
