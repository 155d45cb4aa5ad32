import ArgumentParser
import CoreDataStore
import DurableFiles
import MigrationEngine
import MigrationPlans
import RunLedger
import RunService
import SafeSQLite
import StoreRuns

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
        let opened = try StoreOpener().open(StoreLocation(FilePath(template)), scratch: folder)
        let request = RunRequest(
            destination: .model(try DestinationModel(template: opened)),
            options: PlanOptions(), output: FilePath(output).parent,
            state: folder, inputs: [FilePath(store)], slots: slots, waitsForRoom: false)
        let found = FoundStore(
            number: 1, location: StoreLocation(FilePath(store)),
            output: StoreLocation(FilePath(output)),
            bytes: try FileStatus(of: FilePath(store)).size)
        let clock = ContinuousClock()
        let start = clock.now
        let seconds = try BenchRun.run(request, over: [found]) {
            let parts = (clock.now - start).components
            return Double(parts.seconds) + Double(parts.attoseconds) / 1e18
        }
        let steps = RunStep.allCases.compactMap { step in
            seconds[step].map { "\(step.rawValue) \(Rounds.text($0))" }
        }
        print("    \(steps.joined(separator: ", "))")
    }
}
