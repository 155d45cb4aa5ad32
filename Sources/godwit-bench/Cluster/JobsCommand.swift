import ArgumentParser
import Synchronization

/// What a job costs a coordinator from end to end: protobuf, state machine, durable ledger.
struct JobsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs",
        abstract: "Jobs that do nothing, through a coordinator with a durable ledger.",
        discussion: """
            A coordinator process with its ledger in the folder hands chunk jobs of one store to \
            scripted workers, which answer at once with receipts without files. The latency of a \
            job lasts from the moment at which the coordinator made its order until the worker has \
            heard that its receipt is in the ledger.
            """)

    @Option(help: "Jobs of a round.")
    var jobs = 50_000

    @Option(help: "Workers, each with a connection of its own.")
    var workers = 100

    @Option(help: "Slots of each.")
    var slots = 1

    @Option(help: "Shards that one step of the coordinator takes.")
    var shards = 64

    @Option(help: "Rounds.")
    var rounds = 5

    @Option(help: "A folder on the disk that the ledger is to lie on.")
    var folder = "godwit-bench-data"

    /// Jobs a second that are asked for.
    private static let bar = 5000.0

    func run() throws {
        let place = try BenchFolder(folder)
        var rates: [Double] = []
        for round in 1...max(1, rounds) {
            let cluster = try ScriptedCluster(
                place,
                ScriptedWorkers.Setup(endpoint: "", workers: workers, slots: slots, jobs: jobs),
                jobs: jobs, shards: shards)
            let before = try cluster.coordinator.figures()
            try cluster.waitForEnd(seconds: 600)
            let after = try cluster.coordinator.figures()
            try cluster.end()
            let ledger = try cluster.ledger()
            guard ledger.accepted == jobs else {
                throw BenchError("the ledger has \(ledger.accepted) accepted jobs, not \(jobs)")
            }
            let figures = cluster.results.figures.withLock { $0 }
            let seconds = Double((figures.committed.last?.at ?? 0) - figures.firstOrder) / 1e6
            let times = Percentiles(
                figures.committed.compactMap { attempt, at in
                    ledger.begun[attempt].map { Double(at - $0) / 1000 }
                })
            rates.append(Double(jobs) / seconds)
            let used = after.processorSeconds - before.processorSeconds
            print(
                "round \(round): \(Int(Double(jobs) / seconds)) jobs/s, order to COMMITTED p50 "
                    + "\(Rounds.text(times[0.5])) ms, p99 \(Rounds.text(times[0.99])) ms, longest "
                    + "\(Rounds.text(times.highest)) ms; coordinator "
                    + "\(Rounds.text(used / Double(jobs) * 1e6)) µs of processor a job, "
                    + "RSS \(after.peakKibibytes >> 10) MiB")
        }
        print(
            "jobs/s  median \(Int(Rounds.median(rates))) (\(Int(rates.min() ?? 0)) to "
                + "\(Int(rates.max() ?? 0)), bar \(Int(Self.bar))), \(workers) workers with "
                + "\(slots) slots each, \(jobs) jobs a round")
        guard Rounds.median(rates) >= Self.bar else { throw ExitCode(1) }
    }
}
