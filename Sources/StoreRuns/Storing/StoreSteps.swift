/// Measures the steps of one store's migration.
package final class StoreSteps {
    private let clock: @Sendable () -> Double
    package private(set) var seconds: [RunStep: Double] = [:]

    /// - Parameter clock: seconds that never go back.
    package init(clock: @escaping @Sendable () -> Double) { self.clock = clock }

    /// Adds the time of a step that others took.
    package func add(_ time: Double, to step: RunStep) { seconds[step, default: 0] += time }

    /// Runs and measures one step.
    func step<Result, Failure: Error>(
        _ step: RunStep, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let start = clock()
        defer { seconds[step, default: 0] += clock() - start }
        return try body()
    }
}
