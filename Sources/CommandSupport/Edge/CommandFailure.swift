import ClusterClient
package import RunReports
package import StateFolders
import StoreRuns
import Threads
import Worker
import ZeroMQ

/// Why a command ended without doing all it was asked for: a text for standard error and the
/// status of the process.
package struct CommandFailure: Error, Sendable, CustomStringConvertible {
    package let status: CommandStatus
    package let description: String

    package init(_ status: CommandStatus, _ description: String) {
        self.status = status
        self.description = description
    }

    /// A failure of the command line itself.
    package static func usage(_ text: String) -> CommandFailure { CommandFailure(.usage, text) }

    package init(_ error: RunError) {
        let options = error.options.map { " (\($0))" } ?? ""
        self.init(CommandStatus(error), error.description + options)
    }

    /// Runs a body and turns what the layers below throw into failures of commands.
    package static func translating<Result>(
        _ body: () throws -> Result
    ) throws(CommandFailure) -> Result {
        do {
            return try body()
        } catch {
            throw CommandFailure(caught: error)
        }
    }

    /// What any layer below has thrown; what none of them throws is a bug.
    package init(caught error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as ClientError: self.init(error)
        case let error as any RunErrorConvertible: self.init(error.runError)
        case let error as ZeroMQError: self.init(CommandStatus(error), "\(error)")
        case let error as ThreadError: self.init(.inputOutput, "\(error)")
        case let error as WorkerError: self.init(.usage, "\(error)")
        case let error as SlotError: self.init(.inputOutput, "\(error)")
        default: self.init(.bug, "a bug in Godwit: \(error)")
        }
    }
}
