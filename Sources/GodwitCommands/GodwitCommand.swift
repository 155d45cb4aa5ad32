package import ArgumentParser

/// The root of the command line.
package struct GodwitCommand: ParsableCommand {
    /// Its name, help and subcommands.
    package static let configuration = CommandConfiguration(
        commandName: "godwit",
        abstract: "Migrates Core Data stores on Linux.",
        discussion: """
            The original store is never changed: results are written into another folder.
            Exit codes: 0; 1 verify found differences; 64 usage; 65 bad store or model;
            70 a bug; 74 input or output; 75 some stores failed and can be run again.
            """,
        subcommands: [
            InspectCommand.self, PlanCommand.self, MigrateCommand.self, VerifyCommand.self,
            ModelCommand.self, DemoCommand.self,
        ])

    package init() {}

    /// Runs the command that the process was started with, and ends the process.
    package static func main() {
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch let failure as CommandFailure {
            Console.log("godwit: \(failure)")
            exit(withError: ExitCode(failure.status.rawValue))
        } catch {
            // What the parser throws, help included: it knows its own texts and exit codes.
            exit(withError: error)
        }
    }
}
