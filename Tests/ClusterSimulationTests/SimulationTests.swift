import ClusterSimulation
import Foundation
import Testing

/// The cluster's state machines in simulated worlds.
struct SimulationTests {
    /// Seeds of a usual test run, and of a long one.
    static let seeds: UInt64 =
        ProcessInfo.processInfo.environment["GODWIT_LONG_TESTS"] == "1"
        ? 20_000 : 500

    @Test("No seed breaks a rule, and everything that is checked happens in some")
    func seeds() {
        var total = SimulationStatistics()
        for seed in 1...Self.seeds {
            let result = Simulation.run(seed: seed)
            total.add(result.statistics)
            if let violation = result.violation {
                Issue.record("seed \(seed): \(violation); \(replay(seed, nil))")
                return
            }
        }
        #expect(total.storesDone > 0)
        #expect(total.storesFailed > 0)
        #expect(total.replays > 0)
        #expect(total.accepted > 0)
        #expect(total.denied > 0)
        #expect(total.leasesExpired > 0)
        #expect(total.heldKept > 0)
        #expect(total.coordinatorStarts > Int(Self.seeds))
    }

    @Test("Every planted fault is found", arguments: Plant.allCases)
    func plants(plant: Plant) {
        let options = SimulationOptions(plant: plant)
        let found = (1...2_000 as ClosedRange<UInt64>).first {
            Simulation.run(seed: $0, options: options).violation != nil
        }
        #expect(found != nil, "\(plant.rawValue) was not found in 2,000 seeds")
    }

    @Test("The same seed is the same trace, whether its lines are kept or not")
    func repeats() {
        for seed in 1...20 as ClosedRange<UInt64> {
            let first = Simulation.run(seed: seed)
            let second = Simulation.run(
                seed: seed, options: SimulationOptions(keepsTrace: true))
            #expect(first.trace.hash == second.trace.hash)
            #expect(second.trace.lines.count == second.trace.count)
            #expect(first.statistics.events == second.statistics.events)
        }
        #expect(Simulation.run(seed: 1).trace.hash != Simulation.run(seed: 2).trace.hash)
    }

    private func replay(_ seed: UInt64, _ plant: Plant?) -> String {
        let planted = plant.map { " --plant \($0.rawValue)" } ?? ""
        return "godwit-sim --seed \(seed) --runs 1\(planted) --trace"
    }
}
