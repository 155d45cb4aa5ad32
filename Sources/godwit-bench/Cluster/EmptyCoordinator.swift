import ArgumentParser
import ClusterProtocol
import ClusterVocabulary
import Coordinator
import DurableFiles
import Foundation
import Jobs
import MigrationEngine
import MigrationPlans
import RunLedger
import RunService
import StateFolders
import StoreRuns
import Threads
import ZeroMQ

/// A real coordinator, with its ledger on a disk, whose jobs touch no file; in a process of its
/// own, so that its processor time and memory can be told.
struct EmptyCoordinatorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "empty-coordinator", abstract: "Coordinates jobs without files.",
        shouldDisplay: false)

    @Argument(help: "The state folder; what an earlier run left in it is removed.")
    var state: String
    @Argument var endpoint: String
    @Option(help: "Chunk jobs of the one store; none begins no run.")
    var jobs = 0
    @Option(help: "Shards that one step takes.")
    var shards = 64
    @Option(help: "Slots of all workers.")
    var slots: Int

    func run() throws {
        let manager = FileManager.default
        if manager.fileExists(atPath: state) { try manager.removeItem(atPath: state) }
        try StateFolder(FilePath(state)).withLedger("a benchmark") {
            ledger, folder throws(RunError) in
            do {
                try EmptyCoordinator(self, ledger, folder).serve()
            } catch {
                throw .nothingToDo("\(error)")
            }
        }
    }
}

/// The coordinator of `empty-coordinator`.
struct EmptyCoordinator {
    private let command: EmptyCoordinatorCommand
    private let ledger: Ledger
    private let state: FilePath

    /// The engine that plan and workers name.
    static let engine = "bench-1"
    static let user = "local"

    init(_ command: EmptyCoordinatorCommand, _ ledger: Ledger, _ state: FilePath) {
        (self.command, self.ledger, self.state) = (command, ledger, state)
    }

    /// Begins the run and serves until the standard input ends.
    func serve() throws {
        let command = command
        let clock = ContinuousClock()
        let start = clock.now
        let coordinator = try RunningCoordinator(
            try plan(), context: Context(ioThreads: 1),
            dependencies: CoordinatorDependencies(
                clock: { Int64((clock.now - start) / .milliseconds(1)) },
                note: { FileHandle.standardError.write(Data("\($0)\n".utf8)) }, tell: { _ in })
        ) { answer in
            try EmptyTasks(jobs: command.jobs, shards: command.shards, answer: answer)
        }
        if command.jobs > 0 {
            let store = state.appending(FilePath("empty.sqlite"))
            try Data().write(to: URL(fileURLWithPath: store.description))
            _ = try coordinator.begin(
                RunRequest(
                    destination: .itself, options: PlanOptions(strategy: .partitioned),
                    output: state.appending(FilePath("results")), state: state, inputs: [store],
                    slots: command.slots),
                over: [
                    FoundStore(
                        number: 1, location: StoreLocation(store),
                        output: StoreLocation(state.appending(FilePath("results/empty.sqlite"))),
                        bytes: Int64(command.jobs) << 20)
                ], waitsForRoom: false)
        }
        while try FileHandle.standardInput.read(upToCount: 1)?.isEmpty == false {}
        coordinator.terminate()
        try coordinator.join()
    }

    private func plan() throws -> CoordinatorPlan {
        var generator = SystemRandomNumberGenerator()
        var settings = CoordinatorSettings(
            coordinator: "bench", protocols: .current,
            jitterSeed: .random(in: 0 ... .max, using: &generator))
        // As the commands set it.
        settings.sharing.tasks = 64
        settings.sharing.largeStores = 2
        settings.sharing.unmergedShards = max(4, command.slots * 2 + 1)
        let user = Self.user
        return CoordinatorPlan(
            endpoint: command.endpoint, security: .plainServer(domain: "bench"),
            access: AccessPolicy(plain: .fromThisMachine(as: user)),
            peer: { $0 == user ? .local : nil }, settings: settings,
            runs: ClusterRun.Dependencies(
                ledger: ledger, state: state,
                roots: try SharedRoots(["local": FilePath("/")]),
                environment: RunEnvironment(
                    clock: { Double(Instants.microseconds()) / 1e6 },
                    // The ledger keeps when each job was ordered; a common clock of both
                    // processes in microseconds tells latencies.
                    wallTime: { Instants.microseconds() }, identifier: { "bench" }),
                limits: .standard, slots: command.slots))
    }
}

/// A clock that all processes of a machine share.
enum Instants {
    /// Microseconds since the machine was started.
    static func microseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}
