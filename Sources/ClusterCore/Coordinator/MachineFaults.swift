/// Faults that a simulation plants to prove that its checkers find them; never set otherwise.
package struct MachineFaults: OptionSet, Hashable, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// Accepts results of attempts whose lease was revoked.
    package static let staleEpoch = MachineFaults(rawValue: 1 << 0)
    /// Has messages sent before the records of their turn are durable.
    package static let sendBeforeLedger = MachineFaults(rawValue: 1 << 1)
    /// Swaps without validating.
    package static let swapBeforeValidation = MachineFaults(rawValue: 1 << 2)
    /// Takes a repeated result for a new one.
    package static let duplicateDone = MachineFaults(rawValue: 1 << 3)
    /// Forgets the leases of a worker that comes back, without raising a fence.
    package static let leaseLostOnReconnect = MachineFaults(rawValue: 1 << 4)
    /// Merges the shard of an attempt that was denied.
    package static let mergeDeniedAttempt = MachineFaults(rawValue: 1 << 5)
    /// Runs leases on the wall clock, `CoordinatorMachine.wallClock`.
    package static let wallClockLease = MachineFaults(rawValue: 1 << 6)
}
