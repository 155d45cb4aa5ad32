/// How fast something grows, over the last seconds.
struct RateMeter: Hashable, Sendable {
    private struct Sample: Hashable, Sendable {
        let at: Int64
        let rows: Int64
        let bytes: Int64
    }

    private var samples: [Sample] = []

    /// Milliseconds that a rate looks back.
    static let window: Int64 = 10_000

    /// Tells the sums as they are now; they never fall.
    mutating func add(rows: Int64, bytes: Int64, at now: Int64) {
        samples.append(Sample(at: now, rows: rows, bytes: bytes))
        while samples.count > 2, now - samples[1].at >= Self.window { samples.removeFirst() }
    }

    /// Rows and bytes a second; nil while there is too little to tell.
    var rates: (rows: Int64, bytes: Int64)? {
        guard let first = samples.first, let last = samples.last, last.at > first.at else {
            return nil
        }
        let time = last.at - first.at
        func rate(_ from: Int64, _ to: Int64) -> Int64 {
            let (difference, isFar) = to.subtractingReportingOverflow(from)
            guard !isFar else { return 0 }
            let (scaled, overflow) = difference.multipliedReportingOverflow(by: 1000)
            return overflow ? difference / max(1, time / 1000) : scaled / time
        }
        return (rate(first.rows, last.rows), rate(first.bytes, last.bytes))
    }

    /// Seconds until so many bytes more; nil where that cannot be told.
    func secondsLeft(_ bytes: Int64) -> Int64? {
        guard let rates, rates.bytes > 0 else { return nil }
        return bytes / rates.bytes
    }
}
