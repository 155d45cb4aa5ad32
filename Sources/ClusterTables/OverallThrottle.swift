package import ClusterVocabulary

/// What the coordinator gives out at most, whatever its runs have.
package struct OverallThrottle: Sendable {
    /// Jobs at a time; nil for no bound.
    package let jobs: Int?
    package var bucket: TokenBucket

    package init(_ throttle: Throttle, now: Instant = .zero) {
        jobs = throttle.jobs
        bucket = TokenBucket(bytesPerSecond: throttle.bytesPerSecond, now: now)
    }
}
