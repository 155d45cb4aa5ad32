import DurableFiles
import Foundation
package import StateFolders
import StoreRuns
import Threads

/// What commands hand to runs: the machine's own files, clocks and waiting.
package enum CommandEnvironment {
    /// An environment with the run's clock.
    package static func make(clock: @escaping @Sendable () -> Double) -> RunEnvironment {
        // Nothing is ever sent to it: receiving is waiting.
        let silence = BoundedMailbox<Bool>(capacity: 1)
        return RunEnvironment(
            clock: clock, wallTime: { wallMilliseconds() },
            identifier: { String(UUID().uuidString.lowercased().prefix(13)) },
            wait: { _ = silence.receive(within: .seconds($0)) },
            reportLateClient: { Console.log("warning: \($0.description)") },
            warn: { Console.log("warning: \($0)") })
    }

    /// Milliseconds since 1970, by the machine's clock.
    static func wallMilliseconds() -> Int64 { Int64(Date().timeIntervalSince1970 * 1000) }
}
