import Synchronization
package import WorkerRules
package import ZeroMQ

/// A worker that runs on a thread of its own.
package final class RunningWorker: Sendable {
    let loop: PollLoop<WorkerLoop>
    private let outcome: Outcome

    private final class Outcome: Sendable {
        let exit = Mutex<WorkerExit?>(nil)
    }

    /// Starts the thread, the slots and, on it, the connection.
    ///
    /// - Parameters:
    ///   - plan: what the worker is made of.
    ///   - context: that of the process.
    ///   - dependencies: clock, randomness and log.
    /// - Throws: `SlotError`, `ZeroMQError` for an endpoint that can never be right,
    ///   `DurableFileError` for folders that are not there, `ThreadError`.
    package init(
        _ plan: WorkerPlan, context: Context, dependencies: WorkerDependencies
    ) throws {
        let outcome = Outcome()
        self.outcome = outcome
        loop = try PollLoop(name: "worker", context: context, clock: dependencies.clock) {
            try WorkerLoop(plan, $0, dependencies) { exit in
                outcome.exit.withLock { $0 = exit }
            }
        }
    }

    /// Asks the worker to end as SIGTERM does; it returns at once.
    package func terminate() { loop.submit { $0.terminate() } }

    /// Ends the worker at once: nothing is given back, as after a crash.
    package func abandon() { loop.end() }

    /// Waits until the worker has ended.
    ///
    /// - Returns: why it ended; nil after `abandon()`.
    /// - Throws: what made going on impossible.
    package func join() throws -> WorkerExit? {
        try loop.join()
        return outcome.exit.withLock { $0 }
    }
}
