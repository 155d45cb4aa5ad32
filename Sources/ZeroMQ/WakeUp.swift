internal import CLinux
internal import Glibc
internal import Synchronization

/// What other threads wake the poll loop with: an event descriptor, written once until it is
/// seen.
final class WakeUp: Sendable {
    let descriptor: Int32
    private let isSignalled = Atomic(false)

    init() throws(ZeroMQError) {
        descriptor = clinux_event_create()
        try ZeroMQError.check(descriptor, .makeWakeUp)
    }

    deinit { close(descriptor) }

    /// Wakes the loop, now or when it next waits.
    func signal() {
        guard !isSignalled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        _ = clinux_event_signal(descriptor)
    }

    /// Forgets the signal; a thread that looks after this sees what was sent before it.
    func reset() {
        _ = clinux_event_drain(descriptor)
        isSignalled.store(false, ordering: .sequentiallyConsistent)
    }
}
