import ArgumentParser
import ClusterProtocol
import Foundation
import Jobs

/// A fleet of 100,000 stores at one coordinator: its memory, and how soon it answers.
struct ScaleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scale",
        abstract: "Submits a fleet of 100,000 tiny stores and asks for its status.",
        discussion: """
            godwit beside this program coordinates, submits and works. Memory is looked at ten \
            times a second while the fleet is submitted, while it waits, and while two workers are \
            at it; status is asked for all the time.
            """)

    @Option(help: "Stores of the fleet.")
    var stores = 100_000

    @Option(help: "Questions for the status once the fleet is there, and again while workers work.")
    var questions = 100

    @Option(help: "A folder with room for three times the fleet.")
    var folder = "godwit-bench-data"

    /// What is asked for.
    private static let mebibytes = 128
    private static let milliseconds = 100.0

    func run() throws {
        let place = try BenchFolder(folder)
        let fleet = try TinyFleet(place: place, stores: stores).make()
        for name in ["scale-state", "scale-results"] {
            let path = place.file(name)
            if FileManager.default.fileExists(atPath: path) {
                try FileManager.default.removeItem(atPath: path)
            }
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true)
        }
        let endpoint = "ipc:///tmp/godwit-scale-\(ProcessInfo.processInfo.processIdentifier)"
        let roots = ["--root", "data=\(place.path)"]
        let coordinator = try CompanionProcess(
            WorkersComparison.program,
            ["coordinate", "--listen", endpoint, "--state", place.file("scale-state")] + roots,
            log: place.file("scale-coordinator.log"))
        defer { coordinator.terminate() }
        let sampler = try MemorySampler(coordinator.identifier)
        sampler.begin("start")
        let client = try StatusClient(endpoint)
        // The first answer waits for the coordinator's start.
        print("started in \(Rounds.text(try client.ask().milliseconds)) ms")
        var times: [(phase: String, times: Percentiles)] = []
        let begin = Instants.microseconds()
        sampler.begin("submit")
        times.append(("submit", try submit(fleet, place, endpoint, roots, client)))
        print("submitted in \(Rounds.text(Double(Instants.microseconds() - begin) / 1e6)) s")
        sampler.begin("wait")
        times.append(("wait", try ask(client)))
        sampler.begin("work")
        let worker = try CompanionProcess(
            WorkersComparison.program,
            ["work", "--connect", endpoint, "--slots", "2", "--grace", "0"] + roots,
            log: place.file("scale-worker.log"))
        defer { worker.terminate() }
        times.append(("work", try ask(client)))
        let states = try client.ask().report.runs.first?.stores ?? [:]
        let peak = try coordinator.figures().peakKibibytes
        try client.end()
        try report(sampler.end(), times, peak, states)
    }

    /// Submits the fleet and asks for the status until that is done.
    private func submit(
        _ fleet: (folder: String, template: String), _ place: BenchFolder, _ endpoint: String,
        _ roots: [String], _ client: StatusClient
    ) throws -> Percentiles {
        let submit = try CompanionProcess(
            WorkersComparison.program,
            [
                "submit", fleet.folder, "--to", fleet.template, "--connect", endpoint,
                "--output", place.file("scale-results"),
            ] + roots, log: place.file("scale-submit.log"))
        var times: [Double] = []
        while submit.isRunning {
            times.append(try client.ask().milliseconds)
            Pause.take(seconds: 0.05)
        }
        try submit.closeInput()
        return Percentiles(times)
    }

    private func ask(_ client: StatusClient) throws -> Percentiles {
        var times: [Double] = []
        for _ in 0..<max(1, questions) {
            times.append(try client.ask().milliseconds)
            Pause.take(seconds: 0.1)
        }
        return Percentiles(times)
    }

    private func report(
        _ memory: [(name: String, most: Int)], _ times: [(phase: String, times: Percentiles)],
        _ peak: Int, _ states: [StoreState: Int]
    ) throws {
        for phase in memory {
            print("\(phase.name): RSS at most \(Rounds.text(Double(phase.most) / 1024)) MiB")
        }
        print("the most that was ever resident: \(Rounds.text(Double(peak) / 1024)) MiB")
        for (phase, times) in times {
            print(
                "\(phase): status p50 \(Rounds.text(times[0.5])) ms, p99 "
                    + "\(Rounds.text(times[0.99])) ms, longest \(Rounds.text(times.highest)) ms of "
                    + "\(times.count)")
        }
        let all = states.values.reduce(0, +)
        print("stores: \(states.map { "\($0.value) \($0.key)" }.sorted())")
        let isSmall = peak >> 10 < Self.mebibytes
        let isFast = times.allSatisfy { $0.times.highest <= Self.milliseconds }
        guard isSmall, isFast, all == stores else { throw ExitCode(1) }
    }
}
