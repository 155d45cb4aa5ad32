import ArgumentParser
import Foundation
import Synchronization

/// What workers cost a coordinator: connected ones that have nothing to do, and ones that answer
/// at a fixed rate.
struct CoordinatorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "coordinator",
        abstract: "Processor time and memory of a coordinator with many workers.")

    @Option(help: "Workers, once for each number.")
    var workers = [1, 100, 1000]

    @Option(help: "Seconds of each measurement.")
    var seconds = 30

    @Option(help: "Jobs a second where workers have something to do.")
    var rate = 500

    @Option(help: "A folder on the disk that the ledger is to lie on.")
    var folder = "godwit-bench-data"

    func run() throws {
        let place = try BenchFolder(folder)
        for count in workers {
            try measure("idle", place, ScriptedWorkers.Setup(endpoint: "", workers: count), 0)
            var setup = ScriptedWorkers.Setup(endpoint: "", workers: count)
            setup.rate = rate
            // So many that answers can be given at the rate.
            setup.slots = max(1, 100 / count)
            try measure("\(rate) jobs/s", place, setup, rate * (seconds + 60))
        }
    }

    private func measure(
        _ name: String, _ place: BenchFolder, _ setup: ScriptedWorkers.Setup, _ jobs: Int
    ) throws {
        let cluster = try ScriptedCluster(place, setup, jobs: jobs, shards: 64)
        // What coming in costs is not what is asked for.
        Pause.take(seconds: 2)
        let before = try cluster.coordinator.figures()
        let done = cluster.results.figures.withLock { $0.committed.count }
        let start = Instants.microseconds()
        Pause.take(seconds: Double(seconds))
        let after = try cluster.coordinator.figures()
        let elapsed = Double(Instants.microseconds() - start) / 1e6
        let answered = cluster.results.figures.withLock { $0.committed.count } - done
        try cluster.end()
        let used = after.processorSeconds - before.processorSeconds
        print(
            "\(setup.workers) workers, \(name): "
                + "\(Rounds.text(100 * used / elapsed)) % of a processor, RSS "
                + "\(Rounds.text(Double(after.residentKibibytes) / 1024)) MiB (most "
                + "\(Rounds.text(Double(after.peakKibibytes) / 1024)))"
                + (answered > 0
                    ? ", \(Int(Double(answered) / elapsed)) jobs/s committed" : ""))
    }
}
