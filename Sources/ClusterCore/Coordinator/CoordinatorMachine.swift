/// The coordinator as a pure value: events in, effects out; no clock, no randomness, no files.
///
/// Not a word of it is durable by itself: a new start makes a new machine, opens the unfinished
/// runs with `CoordinatorEvent.run` and offers their stores with what the ledger knows.
package struct CoordinatorMachine: Sendable {
    package let settings: CoordinatorSettings
    /// Read by the planted fault `wallClockLease` alone; a simulation sets it before each event.
    package var wallClock = Instant.zero

    package init(settings: CoordinatorSettings) { self.settings = settings }

    /// Takes one event.
    ///
    /// - Parameters:
    ///   - event: what happened.
    ///   - now: when, on the coordinator's monotonic clock; never earlier than before.
    /// - Returns: what to do about it, to be done before the next event's effects.
    package mutating func handle(
        _ event: CoordinatorEvent, now: Instant
    ) -> CoordinatorEffects {
        CoordinatorEffects()
    }

    /// When the machine wants a `.tick`, if nothing happens before; nil for never.
    package var nextWake: Instant? { nil }

    /// How many more stores of each run the machine takes now; runs that want none are left out.
    ///
    /// The loop offers unfinished stores in the order of their numbers, each once, those that a
    /// lookup named excepted.
    package var wantedStores: [String: Int] { [:] }

    /// Whether every run that was opened has ended, was cancelled or stopped, and no task runs.
    package var isIdle: Bool { true }
}
