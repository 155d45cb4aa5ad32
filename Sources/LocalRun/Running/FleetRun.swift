import CoreDataStore
import DurableFiles
import Foundation
import Jobs
package import MigrationEngine
package import RunLedger
import Threads

/// How a run ended, or where it stands.
package struct RunEnding: Sendable {
    package let id: String
    /// Stores of the run by their state.
    package let counts: [StoreState: Int]
    /// Whether the run went on with what an earlier process had begun.
    package let isResumed: Bool
    /// Why the run stopped before its stores were done, such as at its failure limit; nil where
    /// it did not.
    package let stopReason: String?

    package init(
        id: String, counts: [StoreState: Int], isResumed: Bool, stopReason: String? = nil
    ) {
        self.id = id
        self.counts = counts
        self.isResumed = isResumed
        self.stopReason = stopReason
    }
}

/// Migrates the stores of one run on this machine.
///
/// Small stores travel in batches, one batch a slot; large ones are cut into chunks that take
/// turns with the batches. One store's failure stops no other.
package struct FleetRun: Sendable {
    private let request: RunRequest
    private let environment: RunEnvironment
    private let cache: PlanningCache
    private let observe: @Sendable (RunNotice) -> Void

    /// - Parameters:
    ///   - request: what to do.
    ///   - environment: files, clocks, waiting.
    ///   - cache: what is known of stores of the same app.
    ///   - observe: told of everything that happens, on the run's threads.
    package init(
        _ request: RunRequest, environment: RunEnvironment,
        cache: PlanningCache = PlanningCache(),
        observe: @escaping @Sendable (RunNotice) -> Void = { _ in }
    ) {
        self.request = request
        self.cache = cache
        self.environment = environment
        self.observe = observe
    }

    /// Begins a run over these stores, or goes on with the same request's unfinished run, whose
    /// stores are those that it began with.
    ///
    /// - Parameter stores: paths and results, in the order in which they are numbered.
    /// - Returns: how it ended.
    /// - Throws: `RunError` where no run could be begun, and where the ledger or the disk ended
    ///   it; failures of stores stand in the ledger.
    package func run(over stores: [FoundStore]) throws(RunError) -> RunEnding {
        try withLedger("migrating \(stores.count) stores") { ledger, state throws(RunError) in
            let recorded = RecordedRequest(
                request, mark: RunMark.make(state: state, identifier: environment.identifier()))
            let (text, digest) = (try recorded.text(), try recorded.digest())
            let runs = RunBook(ledger: ledger, environment: environment)
            if let open = try runs.unfinished(digest) {
                try finishRollbacks(of: open.id, ledger, state)
            }
            let (id, isResumed) = try runs.begin(
                stores, request: text, digest: digest, engine: Planner.engineVersion)
            do throws(RunError) {
                return try work(on: id, isResumed: isResumed, ledger, state)
            } catch {
                // Nothing was begun: the stores are free for another request.
                if case .noRoom = error, !isResumed {
                    try runs.change(id, .cancelled, "\(error)")
                }
                throw error
            }
        }
    }

    /// Runs again what failed in a run, and nothing else.
    ///
    /// - Parameters:
    ///   - selection: the run, or one of its stores.
    ///   - slots: jobs at a time.
    ///   - waitsForRoom: whether a full disk is waited for.
    ///   - environment: files, clocks, waiting.
    ///   - observe: told of everything that happens, on the run's threads.
    /// - Returns: how it ended, how many stores were run again, and what the run was asked for.
    /// - Throws: `RunError`.
    package static func replay(
        _ selection: RunSelection, slots: Int, waitsForRoom: Bool, environment: RunEnvironment,
        observe: @escaping @Sendable (RunNotice) -> Void = { _ in }
    ) throws(RunError) -> (ending: RunEnding, replayed: Int, request: RunRequest) {
        try StateFolder(selection.state, files: environment.files).withLedger("replaying") {
            ledger, state throws(RunError) in
            let selected = try SelectedRun(
                selection, ledger: ledger, state: state, environment: environment,
                wanted: [.failed])
            let request = try RecordedRequest(reading: selected.run.record.request).request(
                state: selection.state, slots: slots, waitsForRoom: waitsForRoom)
            let fleet = FleetRun(request, environment: environment, observe: observe)
            try fleet.finishRollbacks(of: selected.run.id, ledger, state)
            let book = RunBook(ledger: ledger, environment: environment)
            let numbers = try book.reopen(
                try book.find(selected.run.id, state: state), select: selection.store)
            let ending = try fleet.work(
                on: selected.run.id, isResumed: true, ledger, state, only: numbers)
            return (ending, numbers.count, request)
        }
    }

    private func withLedger<Result>(
        _ purpose: String, _ body: (Ledger, FilePath) throws(RunError) -> Result
    ) throws(RunError) -> Result {
        let folder = StateFolder(request.state, files: environment.files)
        var isWaiting = false
        while true {
            do throws(RunError) {
                return try folder.withLedger(purpose) { ledger, state throws(RunError) in
                    if isWaiting { observe(.resumed) }
                    isWaiting = false
                    return try body(ledger, state)
                }
            } catch {
                // Where not even the ledger has room, nobody but the observer can be told.
                guard request.waitsForRoom, error.isOutOfSpace, !error.isFailedSync else {
                    throw error
                }
                if !isWaiting { observe(.paused("no room: \(error.shortage)")) }
                isWaiting = true
                environment.wait(RoomWatch.interval)
            }
        }
    }

    /// Ends what was begun of a run's rollbacks, before the run resumes: a store that has its
    /// original again must not be told to be done.
    private func finishRollbacks(
        of run: String, _ ledger: Ledger, _ state: FilePath
    ) throws(RunError) {
        let selection = RunSelection(state: request.state, run: run)
        let selected = try SelectedRun(
            selection, ledger: ledger, state: state, environment: environment, wanted: [])
        do throws(RunError) {
            try RollbackRun(
                selection, discardsChanges: false, clients: request.clients,
                environment: environment
            ).finishStopped(in: selected)
        } catch {
            environment.replaced.finish()
            throw error
        }
    }

    private func work(
        on id: String, isResumed: Bool, _ ledger: Ledger, _ state: FilePath,
        only numbers: Set<Int>? = nil
    ) throws(RunError) -> RunEnding {
        // While the ledger is open: a backup that becomes a copy is recorded.
        defer { environment.replaced.finish() }
        let lanes: SlotLanes
        do throws(ThreadError) {
            lanes = try SlotLanes(
                count: request.slots, lanes: RunContext.Lane.allCases.count,
                capacity: request.slots * 2 + 1)
        } catch {
            throw .engine(.internalError("threads cannot be started: \(error)"))
        }
        let run = try RunBook(ledger: ledger, environment: environment).find(id, state: state)
        let mark = try RecordedRequest(reading: run.record.request).mark + "-\(id)"
        let context = RunContext(
            id: id, mark: mark, request: request, ledger: ledger, environment: environment,
            state: state, slots: lanes, cancellation: lanes.cancellation, cache: cache,
            observe: observe)
        let feeder = RunFeeder(context, only: numbers)
        let result: Swift.Result<Void, RunError>
        do throws(RunError) {
            result = .success(try feeder.feed())
        } catch {
            result = .failure(error)
        }
        lanes.finish()
        try result.get()
        return try feeder.end(isResumed: isResumed)
    }
}
