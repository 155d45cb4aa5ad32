/// Runs simulated worlds.
package enum Simulation {
    /// Runs one world to its end, or to the first broken rule.
    ///
    /// - Parameters:
    ///   - seed: what everything in it follows from.
    ///   - options: the planted fault and what is kept.
    /// - Returns: the trace and what was found.
    package static func run(
        seed: UInt64, options: SimulationOptions = SimulationOptions()
    ) -> SimulationResult {
        let world = World(seed: seed, options: options)
        world.run()
        return SimulationResult(
            seed: seed, trace: world.trace, violation: world.violation,
            statistics: world.statistics)
    }
}
