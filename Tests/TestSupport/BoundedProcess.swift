import Foundation
import Glibc

extension Process {
    /// Starts the program, and kills it where it still runs after five minutes.
    ///
    /// A test that waits for a program's end, or for what it prints, fails then; without it, all
    /// tests would wait with it.
    package func runBounded() throws {
        try run()
        DispatchQueue.global().asyncAfter(deadline: .now() + 300) { [weak self] in
            guard let self, isRunning else { return }
            kill(processIdentifier, SIGKILL)
        }
    }
}

/// Looks again and again until there is a value.
///
/// - Parameters:
///   - limit: after which no more is looked for.
///   - body: gives the value, or nil; may wait itself.
/// - Returns: the value; nil after the limit.
package func awaited<Value>(
    within limit: Duration = .seconds(120), _ body: () throws -> Value?
) rethrows -> Value? {
    let end = ContinuousClock.now.advanced(by: limit)
    while ContinuousClock.now < end {
        if let value = try body() { return value }
    }
    return nil
}
