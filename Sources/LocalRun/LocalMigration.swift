import CoreDataStore
package import DurableFiles
import Jobs
import MigrationEngine
import RunLedger
import Synchronization

/// Migrates one store on this machine, alone in its run.
package struct LocalMigration {
    private let request: MigrationRequest
    private let environment: RunEnvironment
    private let observe: @Sendable (RunEvent) -> Void

    /// - Parameters:
    ///   - request: what to do.
    ///   - files: through which durable actions go.
    ///   - clock: seconds that never go back.
    ///   - observe: told of everything that happens, on the run's threads.
    package init(
        _ request: MigrationRequest, files: DurableFileSystem = DurableFileSystem(),
        clock: @escaping @Sendable () -> Double,
        observe: @escaping @Sendable (RunEvent) -> Void = { _ in }
    ) {
        self.request = request
        environment = RunEnvironment(files: files, clock: clock)
        self.observe = observe
    }

    private var runRequest: RunRequest {
        RunRequest(
            destination: request.destination, sourceModel: request.sourceModel,
            options: request.options, output: request.output.map(\.parent),
            state: request.state, inputs: [request.store], slots: request.slots,
            waitsForRoom: false)
    }

    /// Opens and plans the store in a folder that is removed again.
    ///
    /// - Returns: the plan and what it is about; a snapshot that it names is gone.
    /// - Throws: `RunError` naming what stands in the way.
    package func plan() throws(RunError) -> PlannedStore {
        let files = environment.files
        // What would stand in the way of a swap is said before any work.
        try RunError.translating {
            try StoreAdmission(
                path: files.resolveStore(request.store), output: nil, files: files,
                clients: runRequest.clients
            ).checkFolders()
        }
        let folder = request.state.appending("plan")
        let places = StorePlaces(
            folder: folder, mark: "plan", number: 1, result: folder.appending("result"))
        do throws(DurableFileError) { try places.make(files) } catch { throw .file(error) }
        let result: Swift.Result<PlannedStore, RunError>
        do throws(RunError) {
            result = .success(
                try StorePreparation(
                    store: request.store, request: runRequest, places: places, files: files,
                    cache: request.cache, slots: request.slots
                ).prepare())
        } catch {
            result = .failure(error)
        }
        do throws(DurableFileError) {
            try places.removeAll(files)
        } catch {
            if case .success = result { throw .file(error) }
        }
        var planned = try result.get()
        let clients = try RunError.translating { try ClientVisibility(of: planned.source.path) }
        if case .hidden(let reason) = clients { planned.hiddenClients = reason }
        return planned
    }

    /// Migrates the store: prepare, copy, merge, link, index, validate, publish or swap.
    ///
    /// - Returns: what was done and proved.
    /// - Throws: `RunError`; the original is as it was and there is no result.
    package func run() throws(RunError) -> MigrationOutcome {
        let ended = Ended()
        let observe = observe
        let fleet = FleetRun(runRequest, environment: environment, cache: request.cache) { notice in
            switch notice {
            case .planned(_, _, let plan): ended.plan.withLock { $0 = plan }
            case .progress(_, _, let event): observe(event)
            case .ended(_, _, let outcome): ended.outcome.withLock { $0 = outcome }
            case .begun, .paused, .resumed: break
            }
        }
        let found: FoundStore
        do throws(DurableFileError) {
            found = FoundStore(
                number: 1, path: request.store, output: request.output,
                bytes: try FileStatus(of: request.store).size)
        } catch {
            throw .file(error)
        }
        _ = try fleet.run(over: [found])
        switch ended.outcome.withLock({ $0 }) {
        case .done(let result), .deferred(let result):
            guard let plan = ended.plan.withLock({ $0 }) else {
                throw .nothingToDo("\(request.store) had been migrated already, up to its name")
            }
            return MigrationOutcome(plan: plan, result)
        case .unchanged: throw .alreadyThere(request.store)
        case .failed(let error): throw error
        case nil: throw .engine(.internalError("the run ended without its store"))
        }
    }

    private final class Ended: Sendable {
        let plan = Mutex<MigrationPlan?>(nil)
        let outcome = Mutex<StoreEnd?>(nil)
    }
}
