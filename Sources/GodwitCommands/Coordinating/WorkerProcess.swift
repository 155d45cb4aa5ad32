import DurableFiles
import Foundation
import Glibc
import Synchronization
import Threads

/// A worker that this process starts, and starts again when it dies, until it is let go.
final class WorkerProcess: Sendable {
    /// What is started.
    struct Program: Sendable {
        /// The executable; this process's own without `--worker-command`.
        let path: String
        let arguments: [String]
    }

    /// An end of the process that was not asked for.
    struct Death: Sendable {
        let text: String
        /// Whether it is not started again.
        let isFinal: Bool
    }

    /// The process at hand, shared with the thread that waits for it.
    private final class Life: Sendable {
        let content = Mutex<(pid: Int32?, isEnding: Bool)>((nil, false))
        /// Closed when no process is there any more, nor will be.
        let end = BoundedMailbox<Bool>(capacity: 1)
    }

    let name: String
    private let life: Life
    private let thread: OwnedThread

    /// Deaths in a row after which a worker is not started again: what it is given kills it
    /// before it has done anything.
    private static let mostDeaths = 20
    /// A life of so many seconds shows that starting is not what kills it.
    private static let longLife = 10.0

    /// - Parameters:
    ///   - name: the worker's lasting name.
    ///   - program: what is started.
    ///   - died: told of each end that was not asked for, on a thread of its own.
    /// - Throws: `ThreadError`.
    init(
        name: String, program: Program, died: @escaping @Sendable (Death) -> Void
    ) throws(ThreadError) {
        self.name = name
        let life = Life()
        self.life = life
        thread = try OwnedThread(name: name) {
            Self.supervise(program, life, died)
            life.end.close()
        }
    }

    private static func supervise(
        _ program: Program, _ life: Life, _ died: @Sendable (Death) -> Void
    ) {
        let clock = MonotonicClock.start()
        var deaths = 0
        while !life.content.withLock({ $0.isEnding }) {
            let begun = clock()
            let process = Process()
            process.executableURL = URL(fileURLWithPath: program.path)
            process.arguments = program.arguments
            process.standardInput = FileHandle.nullDevice
            do {
                try process.run()
            } catch {
                died(
                    Death(
                        text: "\(program.path) cannot be started: \(error.localizedDescription)",
                        isFinal: true))
                return
            }
            let isEnding = life.content.withLock { content in
                content.pid = process.processIdentifier
                return content.isEnding
            }
            if isEnding { process.terminate() }
            process.waitUntilExit()
            let wasAsked = life.content.withLock { content in
                content.pid = nil
                return content.isEnding
            }
            if wasAsked { return }
            deaths = clock() - begun > longLife ? 1 : deaths + 1
            let status = process.terminationStatus
            let text =
                process.terminationReason == .uncaughtSignal
                ? "signal \(status)" : "exit status \(status)"
            guard deaths < mostDeaths else {
                died(
                    Death(
                        text: "it ended by \(text) \(deaths) times in a row and is not started "
                            + "again", isFinal: true))
                return
            }
            died(Death(text: "it ended by \(text) and is started again", isFinal: false))
        }
    }

    /// Asks the worker to end and not to come back; it returns at once.
    func terminate() {
        life.content.withLock { content in
            content.isEnding = true
            if let pid = content.pid { kill(pid, SIGTERM) }
        }
    }

    /// Waits until the worker has ended, which was asked to, and kills it where that takes too
    /// long: a slot of it may wait for a disk that does not answer.
    ///
    /// - Parameter patience: the longest wait before that.
    func join(patience: Duration) {
        if case .nothingYet = life.end.receive(within: patience) {
            life.content.withLock { content in
                if let pid = content.pid { kill(pid, SIGKILL) }
            }
        }
        thread.join()
    }

    /// Ends workers: all are asked first and have the same time for it.
    ///
    /// - Parameters:
    ///   - processes: the workers.
    ///   - patience: the longest wait before those that are left are killed.
    static func end(_ processes: [WorkerProcess], patience: Duration = .seconds(10)) {
        for process in processes { process.terminate() }
        let clock = ContinuousClock()
        let deadline = clock.now + patience
        for process in processes { process.join(patience: max(.zero, deadline - clock.now)) }
    }
}
