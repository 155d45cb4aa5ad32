import Threads

/// Lets time pass while other processes are measured.
enum Pause {
    /// Returns after so many seconds.
    static func take(seconds: Double) {
        // Nothing is ever sent to it: receiving is waiting.
        let silence = BoundedMailbox<Bool>(capacity: 1)
        _ = silence.receive(within: .seconds(seconds))
    }
}
