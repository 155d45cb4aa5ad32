package import ArgumentParser
import ClusterClient
import CommandSupport
import CoreDataStore
import DurableFiles
import ManagedObjectModel
package import MigrationEngine
import ModelCommands
import RunCommands
import RunReports
import SafeSQLite
import StoreLocks
import Threads

/// The version of godwit: what `godwit --version` says and what the changelog has.
package let godwitVersion = "0.2.0-dev"

/// The root of the command line.
package struct GodwitCommand: ParsableCommand {
    /// Its name, help and subcommands.
    package static let configuration = CommandConfiguration(
        commandName: "godwit",
        abstract: "Migrates Core Data stores on Linux.",
        discussion: """
            Godwit does not touch an original until it swaps in the validated result. It keeps \
            the original afterwards.
            Exit codes: 0 success; 1 differences found; 64 usage error; 65 bad store or
            model; 70 bug in Godwit; 74 I/O error; 75 some stores failed or were skipped.
            """,
        version: "godwit \(godwitVersion)",
        // What is not in a group is hidden.
        subcommands: [SlotCommand.self],
        groupedSubcommands: [
            CommandGroup(
                name: "Run",
                subcommands: [
                    PlanCommand.self, MigrateCommand.self, StatusCommand.self, SwapCommand.self,
                    RollbackCommand.self, ReplayCommand.self, CancelCommand.self,
                    PruneCommand.self, VerifyCommand.self,
                ]),
            CommandGroup(
                name: "Cluster",
                subcommands: [
                    CoordinateCommand.self, WorkCommand.self, SubmitCommand.self,
                    WatchCommand.self, PauseCommand.self, ResumeCommand.self,
                    ThrottleCommand.self, WorkersCommand.self, DrainCommand.self,
                    KeysCommand.self,
                ]),
            CommandGroup(
                name: "Store and model",
                subcommands: [
                    InspectCommand.self, ModelCommand.self, MappingCommand.self,
                    PoliciesCommand.self, ImportCommand.self, DemoCommand.self,
                ]),
        ])

    package init() {}

    /// Runs the command that the process was started with, and ends the process.
    ///
    /// - Parameter policies: that the executable carries.
    package static func main(carrying policies: PolicyLibrary) {
        CarriedPolicies.carry(policies)
        main()
    }

    /// Runs the command that the process was started with, and ends the process.
    package static func main() {
        SQLiteConfinement.begin()
        FileGuardian.enable()
        do {
            try watchSignals()
            try refuseUnknownCommand()
            var command = try parseAsRoot()
            try command.run()
            Interruption.shared.gate()
        } catch let failure as CommandFailure {
            fail(failure)
        } catch let error as ClientError {
            fail(CommandFailure(error))
        } catch {
            Interruption.shared.gate()
            // What the parser throws, help included: it knows its own texts and exit codes.
            if exitCode(for: error) == .success,
                let examples = HelpExamples.after(CommandLine.arguments.dropFirst())
            {
                Console.print(fullMessage(for: error) + "\n" + examples)
                return
            }
            exit(withError: error)
        }
    }

    /// Names the command that was meant: the parser would only count arguments.
    private static func refuseUnknownCommand() throws(CommandFailure) {
        var command: any ParsableCommand.Type = GodwitCommand.self
        var path = "godwit"
        for word in CommandLine.arguments.dropFirst() {
            let commands = command.configuration.subcommands
            guard !commands.isEmpty, !word.hasPrefix("-"), word != "help" else { return }
            let found = commands.first { $0.configuration.commandName == word }
            guard let found else {
                let names = commands.compactMap { $0.configuration.commandName }
                let nearest = NameSuggestion.nearest(to: word, among: names)
                let hint =
                    nearest.isEmpty
                    ? "\(path) --help lists them"
                    : "Did you mean \(nearest.joined(separator: " or "))?"
                throw .usage("there is no command \(path) \(word). \(hint)")
            }
            command = found
            path += " \(word)"
        }
    }

    private static func fail(_ failure: CommandFailure) -> Never {
        Console.log("godwit: \(failure)")
        exit(withError: ExitCode(failure.status.rawValue))
    }

    private static func watchSignals() throws(CommandFailure) {
        do throws(ThreadError) {
            try Interruption.shared.watch()
        } catch {
            throw CommandFailure(.inputOutput, "\(error)")
        }
    }
}
