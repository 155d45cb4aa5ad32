/// What the coordinator gives out at most, whatever its runs have.
struct OverallThrottle: Sendable {
    /// Jobs at a time; nil for no bound.
    let jobs: Int?
    var bucket: TokenBucket

    init(_ throttle: Throttle, now: Instant = .zero) {
        jobs = throttle.jobs
        bucket = TokenBucket(bytesPerSecond: throttle.bytesPerSecond, now: now)
    }
}
