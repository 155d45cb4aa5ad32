internal import CLinux

/// The signals that ask a process to end: SIGHUP, SIGINT, SIGTERM.
package enum EndSignals {
    /// Blocks them in the calling thread and in those that it starts from now on, so that one
    /// thread can wait for them.
    ///
    /// Signals that the process was started to ignore, as `nohup` does, stay ignored.
    ///
    /// - Returns: whether there is one to wait for.
    package static func block() -> Bool { clinux_end_signals_block() > 0 }

    /// Waits for one of the blocked signals.
    ///
    /// - Returns: its number.
    package static func wait() -> Int32 { clinux_end_signals_wait() }

    /// Ends the process as the signal does by default, so that a program that waits for the process
    /// sees why it ended.
    package static func end(by number: Int32) -> Never { clinux_end_by_signal(number) }
}
