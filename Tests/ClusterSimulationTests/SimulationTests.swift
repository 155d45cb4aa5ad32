import ClusterSimulation
import Foundation
import Testing

/// The cluster's state machines in simulated worlds.
struct SimulationTests {
    /// Seeds of a usual test run, and of a long one; an optimised build takes far more at night.
    static let seeds: UInt64 =
        ProcessInfo.processInfo.environment["GODWIT_LONG_TESTS"] == "1" ? 2_500 : 500

    @Test("No seed breaks a rule, and everything that is checked happens in some")
    func seeds() {
        var total = SimulationStatistics()
        for seed in 1...Self.seeds {
            let result = Simulation.run(seed: seed)
            total.add(result.statistics)
            if let violation = result.violation {
                Issue.record("\(violation); godwit-sim --seed \(seed) --runs 1 --trace")
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
        // Rare changes of states are those of directed tests; the most happen here, too.
        #expect(total.transitions.missingText.count < 24)
    }

    /// The rules by which each planted fault shows itself.
    static let expected: [Plant: Set<Violation.Rule>] = [
        .staleEpoch: [.ledgerForward],
        .sendBeforeLedger: [.ledgerFirst],
        .swapBeforeValidation: [.validatedSwap],
        .duplicateDone: [.oneAccepted, .acceptedFilesOnly],
        .leaseLostOnReconnect: [.leaseKept],
        .mergeDeniedAttempt: [.acceptedFilesOnly],
        .wallClockLease: [.leaseKept],
    ]

    @Test("Every planted fault is found by the rule that it breaks", arguments: Plant.allCases)
    func plants(plant: Plant) {
        let options = SimulationOptions(plant: plant)
        let rules = Self.expected[plant] ?? []
        let found = (1...2_000 as ClosedRange<UInt64>).first { seed in
            guard let violation = Simulation.run(seed: seed, options: options).violation else {
                return false
            }
            return rules.contains(violation.rule)
        }
        #expect(found != nil, "\(plant.rawValue) was not found in 2,000 seeds")
    }

    @Test("The same seed is the same trace, whether its lines are kept or not")
    func repeats() {
        for seed in 1...20 as ClosedRange<UInt64> {
            let first = Simulation.run(seed: seed)
            let second = Simulation.run(seed: seed, options: SimulationOptions(keepsTrace: true))
            #expect(first.trace.hash == second.trace.hash)
            #expect(second.trace.lines.count == second.trace.count)
            #expect(first.statistics.events == second.statistics.events)
        }
        #expect(Simulation.run(seed: 1).trace.hash != Simulation.run(seed: 2).trace.hash)
    }
}
