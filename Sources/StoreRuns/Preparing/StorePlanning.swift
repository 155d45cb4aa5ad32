import CoreDataStore
package import DurableFiles
import Jobs
import ManagedObjectModel
import MigrationEngine
package import StateFolders
import StoreLocks

/// Plans one store without beginning a run.
package struct StorePlanning: Sendable {
    private let request: MigrationRequest
    private let files: DurableFileSystem

    /// - Parameters:
    ///   - request: what would be done.
    ///   - files: through which durable actions go.
    package init(_ request: MigrationRequest, files: DurableFileSystem = DurableFileSystem()) {
        self.request = request
        self.files = files
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
    /// - Returns: the plan and what it is about; snapshots and stores on the way are gone.
    /// - Throws: `RunError` naming what stands in the way.
    package func plan() throws(RunError) -> PlannedStore {
        // What would stand in the way of a swap is reported before any work.
        let admission = try RunError.translating {
            StoreAdmission(
                store: StoreLocation(try files.resolveStore(request.store)), output: nil,
                files: files, clients: runRequest.clients)
        }
        try admission.checkFolders()
        let folder = request.state.appending("plan")
        let places = StorePaths(
            folder: folder, mark: "plan", number: 1,
            result: StoreLocation(folder.appending("result")))
        do throws(DurableFileError) { try places.make(files) } catch { throw .file(error) }
        let result: Swift.Result<PlannedStore, RunError>
        do throws(RunError) {
            var preparation = StorePreparation(
                store: request.store, request: runRequest, places: places, files: files,
                cache: request.cache, slots: request.slots, steps: .writtenOrLeft)
            preparation.countsLosses = true
            result = .success(try preparation.prepare())
        } catch {
            result = .failure(error)
        }
        do throws(DurableFileError) {
            try places.removeAll(files)
        } catch {
            if case .success = result { throw .file(error) }
        }
        var planned = try result.get()
        planned.isRebuilt = planned.canBeRebuilt(request.options, files)
        if case .model(let model) = request.destination {
            planned.isUnchanged = planned.original.metadata.versionHashes == model.hashes.entities
        }
        switch try RunError.translating({ try ClientVisibility(of: planned.source.path) }) {
        case .hidden(let reason): planned.hiddenClients = reason
        case .open: planned.isOpen = true
        case .visible: break
        }
        do throws(RunError) { try admission.refuseHardLinks() } catch {
            planned.swapObstacle = error.description
        }
        return planned
    }
}
