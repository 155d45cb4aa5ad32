import CoreDataStore
package import DurableFiles
import Jobs
import MigrationEngine

/// Migrates one store on this machine, its chunks on slots, the rest on the caller's thread.
package struct LocalMigration {
    private let request: MigrationRequest
    private let files: DurableFileSystem
    private let clock: () -> Double
    private let observe: (RunEvent) -> Void

    /// - Parameters:
    ///   - request: what to do.
    ///   - files: through which durable actions go.
    ///   - clock: seconds that never go back.
    ///   - observe: told of everything that happens, on the caller's thread.
    package init(
        _ request: MigrationRequest, files: DurableFileSystem = DurableFileSystem(),
        clock: @escaping () -> Double, observe: @escaping (RunEvent) -> Void = { _ in }
    ) {
        self.request = request
        self.files = files
        self.clock = clock
        self.observe = observe
    }

    /// Opens and plans the store, and removes what that took from the run's folder.
    ///
    /// - Returns: the plan and what it is about.
    /// - Throws: `RunError` naming what stands in the way.
    package func plan() throws(RunError) -> PlannedStore {
        let folder = try RunFolder(request, files: files)
        do throws(RunError) {
            let planned = try StorePreparation(
                request: request, folder: folder.path, files: files
            ).prepare()
            try folder.end()
            return planned
        } catch {
            folder.abandon()
            throw error
        }
    }

    /// Migrates the store: prepare, copy, merge, link, index, validate, publish.
    ///
    /// - Returns: what was done and proved.
    /// - Throws: `RunError`; the original is as it was and there is no result.
    package func run() throws(RunError) -> MigrationOutcome {
        try refuseExistingOutput()
        // From here on everything below the run's folder is this run's alone.
        let folder = try RunFolder(request, files: files)
        do throws(RunError) {
            let run = RunInProgress(
                request: request, folder: folder, files: files, clock: clock, observe: observe)
            var outcome = try run.run()
            do throws(RunError) {
                try folder.end()
            } catch {
                // The result is there and whole: what could not be removed is said, no more.
                outcome.leftovers.append("\(error)")
            }
            return outcome
        } catch {
            folder.abandon()
            throw error
        }
    }

    private func refuseExistingOutput() throws(RunError) {
        do {
            for path in [
                request.output, request.output.adding(suffix: "-wal"),
                request.output.adding(suffix: "-journal"),
                SupportFolder.folder(ofStore: request.output),
            ] where try FileStatus.ifPresent(path) != nil {
                throw RunError.outputExists(path)
            }
        } catch let error as RunError {
            throw error
        } catch {
            throw .engine(.internalError("\(error)"))
        }
    }
}
