/// Tells of the steps of one store's migration and measures them.
final class StoreSteps {
    private let clock: @Sendable () -> Double
    let observe: (RunEvent) -> Void
    private(set) var seconds: [RunStep: Double] = [:]

    /// - Parameters:
    ///   - clock: seconds that never go back.
    ///   - observe: told when steps begin and end.
    init(clock: @escaping @Sendable () -> Double, observe: @escaping (RunEvent) -> Void) {
        self.clock = clock
        self.observe = observe
    }

    /// Adds the time of a step that others took.
    func add(_ time: Double, to step: RunStep) { seconds[step, default: 0] += time }

    /// Runs one step, telling when it begins and ends.
    func step<Result, Failure: Error>(
        _ step: RunStep, jobs: Int = 0, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        observe(.began(step, jobs: jobs))
        let start = clock()
        defer {
            seconds[step, default: 0] += clock() - start
            observe(.ended(step))
        }
        return try body()
    }
}
