/// The time that commands hand to what they run.
package enum MonotonicClock {
    /// A clock that tells the seconds since this call; it never goes back.
    package static func start() -> @Sendable () -> Double {
        let clock = ContinuousClock()
        let beginning = clock.now
        return { (clock.now - beginning) / .seconds(1) }
    }
}
