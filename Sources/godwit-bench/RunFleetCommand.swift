import ArgumentParser
import CoreDataStore
import DurableFiles
import Foundation
import Glibc
import RunLedger
import RunService
import SafeSQLite
import StoreRuns

/// Migrates a folder of stores in one run, in a process of its own.
struct RunFleetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run-fleet", abstract: "Migrates a folder of stores once.",
        shouldDisplay: false)

    @Argument var stores: String
    @Argument var template: String
    @Argument var output: String
    @Argument(help: "The state folder; what an earlier run left in it is removed.")
    var state: String
    @Option var slots = 2

    func run() throws {
        let manager = FileManager.default
        if manager.fileExists(atPath: state) { try manager.removeItem(atPath: state) }
        let folder = FilePath(state)
        try DurableFileSystem(links: .followed).makeFolders(folder)
        TemporaryFiles.use(folder)
        let opened = try StoreOpener().open(StoreLocation(FilePath(template)), scratch: folder)
        let (stores, output) = (FilePath(stores), FilePath(output))
        let found = try manager.contentsOfDirectory(atPath: stores.description)
            .filter { $0.hasSuffix(".sqlite") }.sorted().enumerated().map { number, name in
                FoundStore(
                    number: number + 1, location: StoreLocation(stores.appending(FilePath(name))),
                    output: StoreLocation(output.appending(FilePath(name))),
                    bytes: try FileStatus(of: stores.appending(FilePath(name))).size)
            }
        let request = RunRequest(
            destination: .model(try DestinationModel(template: opened)), output: output,
            state: folder, inputs: [stores], slots: slots, waitsForRoom: false)
        let seconds = try BenchRun.run(request, over: found, clock: Self.processorSeconds)
        let count = Double(max(1, found.count))
        let steps = RunStep.allCases.compactMap { step in
            seconds[step].map { "\(step.rawValue) \(Rounds.text($0 * 1_000 / count))" }
        }
        print("    processor ms a store: \(steps.joined(separator: ", "))")
    }

    /// What the calling thread has used: steps are told apart however busy the machine is.
    private static func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
