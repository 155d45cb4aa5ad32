import Synchronization
import Threads

/// Looks at the memory of a process ten times a second.
final class MemorySampler: Sendable {
    private final class Phases: Sendable {
        let all = Mutex<[(name: String, most: Int)]>([])
    }

    private let phases = Phases()
    private let silence = BoundedMailbox<Bool>(capacity: 1)
    private let thread: OwnedThread

    /// - Throws: `ThreadError`.
    init(_ process: Int32) throws(ThreadError) {
        let (phases, silence) = (phases, silence)
        thread = try OwnedThread(name: "memory") {
            while !silence.isClosed {
                let figures: ProcessFigures
                // It ends with the process.
                do { figures = try ProcessFigures(of: process) } catch { return }
                phases.all.withLock { all in
                    guard !all.isEmpty else { return }
                    all[all.count - 1].most = max(
                        all[all.count - 1].most, figures.residentKibibytes)
                }
                _ = silence.receive(within: .milliseconds(100))
            }
        }
    }

    /// What follows counts apart.
    func begin(_ phase: String) { phases.all.withLock { $0.append((phase, 0)) } }

    /// Ends it; the most resident KiB of each phase.
    func end() -> [(name: String, most: Int)] {
        silence.close()
        thread.join()
        return phases.all.withLock { $0 }
    }
}
