import Coordinator
import DurableFiles
import Jobs
import LocalCluster
import RunLedger
import StateFolders
import StoreRuns

/// A run on threads of this process, with the times of its steps.
enum BenchRun {
    /// Migrates stores of one run.
    ///
    /// - Parameters:
    ///   - request: what to do.
    ///   - stores: of the run.
    ///   - clock: seconds of steps.
    /// - Returns: the seconds of each step, of all stores together.
    /// - Throws: `BenchError` where a store failed, and `RunError`.
    static func run(
        _ request: RunRequest, over stores: [FoundStore], clock: @escaping @Sendable () -> Double
    ) throws -> [RunStep: Double] {
        let milliseconds = ContinuousClock()
        let beginning = milliseconds.now
        let cluster = LocalCluster(
            slots: LocalSlots(.threads, count: request.slots), waitsForSpace: false,
            environment: RunEnvironment(clock: clock),
            place: LocalPlace(
                sockets: FilePath("/tmp"),
                milliseconds: { Int64((milliseconds.now - beginning) / .milliseconds(1)) },
                number: {
                    var generator = SystemRandomNumberGenerator()
                    return .random(in: 0 ... .max, using: &generator)
                }))
        let (run, _) = try cluster.run(state: request.state, purpose: "measuring") {
            coordinator throws(RunError) in
            try coordinator.begin(request, over: stores, waitsForRoom: false).id
        }
        var seconds: [RunStep: Double] = [:]
        let records = try RunRecords(state: request.state)
        try records.forEachStore(of: run) { store, record in
            if case .result(let result)? = record {
                seconds.merge(result.seconds, uniquingKeysWith: +)
            } else if store.state != .done {
                throw BenchError("\(store.found.path): \(store.reason?.text ?? "not migrated")")
            }
        }
        try records.close()
        return seconds
    }
}
