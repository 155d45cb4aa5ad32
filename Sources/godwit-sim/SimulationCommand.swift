import ArgumentParser
import ClusterSimulation

/// Runs the cluster's state machines under virtual time, from seeds.
struct SimulationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "godwit-sim",
        abstract: "Simulates coordinator and workers in virtual time, with faults.",
        discussion: """
            Prints one hash of all events; equal seeds give equal hashes. Exits with 70 if a rule \
            is broken, and with 1 if it finds a planted fault. In both cases, standard error \
            names the seed and the command that replays it.
            """)

    @Option(help: "The first seed.")
    var seed: UInt64 = 1

    @Option(help: "How many seeds to run, one after the other.")
    var runs: Int = 1

    @Option(help: ArgumentHelp("A fault to plant.", valueName: "name"))
    var plant: Plant?

    @Flag(help: "Print each event on a line, before the hash.")
    var trace = false

    @Flag(help: "Print statistics of the runs to standard error.")
    var statistics = false

    @Flag(help: "Continue after a broken rule and name every seed that breaks one.")
    var all = false

    func validate() throws {
        guard runs >= 1 else { throw ValidationError("--runs must be at least 1") }
        guard seed.addingReportingOverflow(UInt64(runs)).overflow == false else {
            throw ValidationError("--seed is too large for so many runs")
        }
    }

    func run() throws {
        var hash = SimulationTrace(keepsLines: false)
        var total = SimulationStatistics()
        var broken = 0
        for seed in seed..<seed + UInt64(runs) {
            let options = SimulationOptions(plant: plant, keepsTrace: trace)
            let result = Simulation.run(seed: seed, options: options)
            result.trace.lines.forEach { print($0) }
            hash.fold(result.trace.hash)
            total.add(result.statistics)
            guard let violation = result.violation else { continue }
            broken += 1
            StandardError.write(
                """
                godwit-sim: seed \(seed): \(violation)
                godwit-sim: replay: \(replay(seed))
                """)
            if !all { break }
        }
        print(StandardError.hexadecimal(hash.hash))
        if statistics {
            StandardError.write("\(total)")
            for line in total.transitions.missingText {
                StandardError.write("never taken         \(line)")
            }
        }
        guard broken == 0 else { throw ExitCode(plant == nil ? 70 : 1) }
        if let plant {
            StandardError.write("godwit-sim: \(plant.rawValue): not found in \(runs) runs")
        }
    }

    /// The command that runs one seed again.
    private func replay(_ seed: UInt64) -> String {
        let planted = plant.map { " --plant \($0.rawValue)" } ?? ""
        return "godwit-sim --seed \(seed) --runs 1\(planted) --trace"
    }
}

extension Plant: ExpressibleByArgument {}
