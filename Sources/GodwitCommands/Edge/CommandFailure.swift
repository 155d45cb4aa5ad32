package import LocalRun

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
        self.init(CommandStatus(error), error.description)
    }

    /// Runs a body and turns what the layers below throw into failures of commands.
    package static func translating<Result>(
        _ body: () throws -> Result
    ) throws(CommandFailure) -> Result {
        do {
            return try body()
        } catch let failure as CommandFailure {
            throw failure
        } catch let error as any RunErrorConvertible {
            throw CommandFailure(error.runError)
        } catch {
            throw CommandFailure(.bug, "a bug of godwit: \(error)")
        }
    }
}
