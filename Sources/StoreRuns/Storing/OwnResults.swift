package import DurableFiles
import Synchronization

/// What threads of this process found of the small stores that they migrated, until the
/// coordinator of the same process has moved them.
///
/// Worker processes write it beside their results, for a coordinator that may be another machine's.
/// A thread need not: a coordinator that was restarted inspects the result instead.
package final class OwnResults: Sendable {
    /// One validated result.
    package struct Built: Sendable {
        package let outcome: WholeStoreOutcome
        /// The file that was validated; no other one is moved.
        package let building: FileIdentity
    }

    private struct Kept {
        var results: [String: Built] = [:]
        /// Attempts, the oldest first.
        var order: [String] = []
    }

    private let kept = Mutex(Kept())

    /// Attempts whose receipts are never looked at, as they came too late, do not pile up.
    private static let limit = 1024

    package init() {}

    /// Keeps the result of an attempt.
    package func keep(_ result: Built, of attempt: String) {
        kept.withLock { kept in
            if kept.results.updateValue(result, forKey: attempt) == nil {
                kept.order.append(attempt)
            }
            guard kept.order.count > 2 * Self.limit else { return }
            let oldest = kept.order.prefix(Self.limit)
            for attempt in oldest { kept.results[attempt] = nil }
            kept.order.removeFirst(Self.limit)
        }
    }

    /// The result of an attempt; nil where no thread of this process made it.
    package func result(of attempt: String) -> Built? { kept.withLock { $0.results[attempt] } }

    /// Lets go of a result that the coordinator has.
    package func remove(_ attempt: String) {
        kept.withLock { $0.results[attempt] = nil }
    }
}
