import ClusterCore
import ClusterProtocol
import Jobs
import Synchronization
import Threads
import Worker

/// How the work on a run ended.
package enum LocalEnd: Hashable, Sendable {
    /// Every store has come to its end, or waits for its swap.
    case ended
    /// The failure limit was reached, or a bug was met.
    case stopped(reason: String)
    /// A disk is full, and the run does not wait for space.
    case noSpace(String)
    /// A signal asked for the end.
    case interrupted
    /// No slot can be started; the text says why.
    case withoutSlots(String)
}

/// Where the end of a run arrives.
final class EndMailbox: Sendable {
    private let ends = BoundedMailbox<(run: String?, end: LocalEnd)>(capacity: 64)

    func send(_ end: LocalEnd) { _ = ends.sendIfRoom((nil, end)) }

    /// Looks whether an event is an end.
    func take(_ event: WatchEvent, waitsForSpace: Bool) {
        switch event {
        case .ended(let run, _): _ = ends.sendIfRoom((run, .ended))
        case .note(.run(let run, .stopped(let reason))):
            _ = ends.sendIfRoom((run, .stopped(reason: reason)))
        case .note(.run(let run, .paused(.space(let shortage)))) where !waitsForSpace:
            _ = ends.sendIfRoom((run, .noSpace(PauseReason.space(shortage).text)))
        case .note, .status: return
        }
    }

    /// Waits for the end of a run.
    func wait(for run: String) -> LocalEnd {
        while let (ended, end) = ends.receive() {
            if ended == nil || ended == run { return end }
        }
        return .interrupted
    }
}

/// Counts slots that end before they have begun.
final class SlotStarts: Sendable {
    private let failed = Mutex(0)
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Takes a note in; true where so many slots in a row have ended before they waited for a job
    /// that starting more is of no use.
    func isHopeless(after note: WorkerNote) -> Bool {
        failed.withLock { failed in
            switch note {
            case .slotBegan: failed = 0
            case .slotEnded: failed += 1
            default: break
            }
            return failed >= limit
        }
    }
}
