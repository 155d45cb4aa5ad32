import ClusterCore
import ClusterProtocol
import Coordinator
import DurableFiles
import Foundation
import Jobs
import LocalRun
import MigrationEngine
import RunLedger
import Threads
import ZeroMQ

/// What a coordinator of a command is made of, beside its endpoint and keys.
enum CoordinatorMaking {
    /// The settings of the machine.
    static func settings(slots: Int) -> CoordinatorSettings {
        var generator = SystemRandomNumberGenerator()
        var settings = CoordinatorSettings(
            coordinator: RandomText.hexadecimal(bytes: 8), protocols: .current,
            jitterSeed: .random(in: 0 ... .max, using: &generator))
        // Deliveries are checked and moved many at a time, so that they share syncs.
        settings.sharing.tasks = 64
        settings.sharing.largeStores = 2
        settings.sharing.unmergedShards = max(4, slots * 2 + 1)
        return settings
    }

    /// What all runs of a coordinator share.
    ///
    /// - Parameters:
    ///   - ledger: that the process owns.
    ///   - state: its folder, symbolic links resolved.
    ///   - roots: folders that workers see.
    ///   - limits: what jobs keep to.
    ///   - slots: jobs at a time that plans are cut for.
    /// - Returns: the surroundings of its runs.
    /// - Throws: `RunError` for a root that is not there.
    static func runs(
        ledger: Ledger, state: FilePath, roots: [String: FilePath], limits: JobLimits, slots: Int
    ) throws(RunError) -> SharedRun.Surroundings {
        SharedRun.Surroundings(
            ledger: ledger, state: state, roots: try SharedRoots(roots),
            environment: CommandEnvironment.make(clock: MonotonicClock.start()), limits: limits,
            slots: slots)
    }
}

extension StateFolder {
    /// Opens the ledger for the time of a body that may fail in any way.
    ///
    /// - Parameters:
    ///   - purpose: what others are told who want it meanwhile.
    ///   - body: gets the ledger and the folder without symbolic links.
    /// - Returns: what the body returns.
    /// - Throws: `CommandFailure` with the status that goes with the error.
    func serving<Result>(
        _ purpose: String, _ body: (Ledger, FilePath) throws -> Result
    ) throws(CommandFailure) -> Result {
        var failure: CommandFailure?
        do throws(RunError) {
            return try withLedger(purpose) { ledger, state throws(RunError) in
                do {
                    return try body(ledger, state)
                } catch {
                    failure = CommandFailure(caught: error)
                    throw .stopped
                }
            }
        } catch {
            throw failure ?? CommandFailure(error)
        }
    }
}

/// Clocks of the parts that count in milliseconds.
enum MillisecondClock {
    /// A clock that tells the milliseconds since this call; it never goes back.
    static func start() -> @Sendable () -> Int64 {
        let clock = ContinuousClock()
        let beginning = clock.now
        return { Int64((clock.now - beginning) / .milliseconds(1)) }
    }
}

/// Names that nobody else has.
enum RandomText {
    /// Random bytes in hexadecimal digits.
    static func hexadecimal(bytes count: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in
            let digits = String(UInt8.random(in: 0 ... .max, using: &generator), radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
