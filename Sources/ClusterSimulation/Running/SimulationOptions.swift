package import ClusterTables

/// How a simulation is run beside its seed.
package struct SimulationOptions: Sendable {
    /// The fault to put in; nil for none.
    package let plant: Plant?
    /// Whether the trace keeps its lines.
    package let keepsTrace: Bool

    package init(plant: Plant? = nil, keepsTrace: Bool = false) {
        self.plant = plant
        self.keepsTrace = keepsTrace
    }
}

/// What a simulation came to.
package struct SimulationResult: Sendable {
    package let seed: UInt64
    package let trace: SimulationTrace
    /// The first rule that was seen broken; nil where all held.
    package let violation: Violation?
    package let statistics: SimulationStatistics
}

/// What simulations did, in numbers: a checker that never had anything to check proves nothing.
package struct SimulationStatistics: Sendable, CustomStringConvertible {
    package var runs = 0
    package var events = 0
    package var virtualMilliseconds: Int64 = 0
    package var storesDone = 0
    package var storesFailed = 0
    package var attempts = 0
    package var accepted = 0
    package var denied = 0
    package var leasesExpired = 0
    package var heldKept = 0
    package var coordinatorStarts = 0
    package var faults = 0
    package var replays = 0
    package var statusChecks = 0
    /// Ends of runs that were told.
    package var endsTold = 0
    /// Changes of states that the coordinators' machines went through.
    package var transitions = StateLogs()

    package init() {}

    /// Adds the numbers of another simulation.
    package mutating func add(_ other: SimulationStatistics) {
        runs += other.runs
        events += other.events
        virtualMilliseconds += other.virtualMilliseconds
        storesDone += other.storesDone
        storesFailed += other.storesFailed
        attempts += other.attempts
        accepted += other.accepted
        denied += other.denied
        leasesExpired += other.leasesExpired
        heldKept += other.heldKept
        coordinatorStarts += other.coordinatorStarts
        faults += other.faults
        replays += other.replays
        statusChecks += other.statusChecks
        endsTold += other.endsTold
        transitions.add(other.transitions)
    }

    package var description: String {
        """
        simulations         \(runs)
        events              \(events)
        virtual time        \(virtualMilliseconds / 1000) s
        faults              \(faults)
        coordinator starts  \(coordinatorStarts)
        stores done         \(storesDone)
        stores failed once  \(storesFailed)
        stores replayed     \(replays)
        attempts            \(attempts)
        accepted            \(accepted)
        denied              \(denied)
        leases expired      \(leasesExpired)
        held and kept       \(heldKept)
        status checks       \(statusChecks)
        ends told           \(endsTold)
        """
    }
}
