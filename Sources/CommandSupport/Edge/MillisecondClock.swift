/// Clocks of the parts that count in milliseconds.
package enum MillisecondClock {
    /// A clock that tells the milliseconds since this call; it never goes back.
    package static func start() -> @Sendable () -> Int64 {
        let clock = ContinuousClock()
        let beginning = clock.now
        return { Int64((clock.now - beginning) / .milliseconds(1)) }
    }
}
