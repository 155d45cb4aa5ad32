import ArgumentParser
import CoreDataStore
import DurableFiles
import LocalRun
import MigrationEngine

/// One migration in a process of its own, so that its memory can be measured.
struct OneRunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Migrates one store once.", shouldDisplay: false)

    @Argument var store: String
    @Argument var template: String
    @Argument var output: String
    @Argument var state: String
    @Option var slots = 2

    func run() throws {
        let folder = FilePath(state)
        TemporaryFiles.use(folder)
        try DurableFileSystem(links: .followed).makeFolders(folder)
        let opened = try StoreOpener().open(FilePath(template), scratch: folder)
        let request = MigrationRequest(
            store: FilePath(store), output: FilePath(output), state: folder,
            destination: .model(try DestinationModel(template: opened)),
            options: PlanOptions(strategy: .partitioned), slots: slots)
        let clock = ContinuousClock()
        let start = clock.now
        let outcome = try LocalMigration(
            request,
            clock: {
                let parts = (clock.now - start).components
                return Double(parts.seconds) + Double(parts.attoseconds) / 1e18
            }
        ).run()
        let steps = RunStep.allCases.compactMap { step in
            outcome.seconds[step].map { "\(step.rawValue) \(Rounds.text($0))" }
        }
        print("    \(steps.joined(separator: ", "))")
    }
}
