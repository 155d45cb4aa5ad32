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
    /// - Throws: `RunError` naming what stands in the way.
    package func plan() throws(RunError) -> PlannedStore {
        let cleaner = RunFolder(request.state, files: files)
        do throws(RunError) {
            let planned = try StorePreparation(request: request, files: files).prepare()
            try cleaner.clean()
            return planned
        } catch {
            try cleaner.clean()
            throw error
        }
    }

    /// Migrates the store: prepare, copy, merge, link, index, validate, publish.
    ///
    /// - Throws: `RunError`; the original is as it was and there is no result.
    package func run() throws(RunError) -> MigrationOutcome {
        let folder = RunFolder(request.state, files: files)
        let building = Self.buildingPath(of: request.output)
        do throws(RunError) {
            try refuseExistingOutput()
            let run = RunInProgress(
                request: request, building: building, files: files, clock: clock,
                observe: observe)
            let outcome = try run.run()
            try folder.clean()
            return outcome
        } catch {
            try folder.clean()
            try folder.remove(building)
            // It was not there before the run, so all of it is ours.
            if !isRefusal(error) {
                try folder.removeTree(SupportFolder.folder(ofStore: request.output))
            }
            throw error
        }
    }

    private func isRefusal(_ error: RunError) -> Bool {
        if case .outputExists = error { true } else { false }
    }

    /// Where the result is built: beside its place, so that publishing is a rename.
    ///
    /// The name leaves room for SQLite's suffixes below the 255 bytes that a name may have; of
    /// a longer one a digest stands for the rest.
    static func buildingPath(of output: FilePath) -> FilePath {
        let name = output.lastComponent
        let text =
            name.bytes.count <= nameLimit
            ? name.description
            : ContentDigest.hexadecimal(of: name.bytes)
        return output.parent.appending(
            FilePath(DurableFileSystem.temporaryPrefix).adding(suffix: text))
    }

    /// The longest name, in bytes, that stands whole in a temporary one: escaping may make four
    /// bytes of each.
    private static let nameLimit = 50

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

/// The folder of a run and what may stay in it.
struct RunFolder {
    private let path: FilePath
    private let files: DurableFileSystem

    init(_ path: FilePath, files: DurableFileSystem) {
        self.path = path
        self.files = files
    }

    /// Removes snapshot, routes and shards: they hold users' data.
    ///
    /// - Throws: `RunError.file` when something cannot be removed.
    func clean() throws(RunError) {
        do throws(DurableFileError) {
            for name in ["snapshot", "attempts", "merge"] {
                let victim = path.appending(name)
                if try FileStatus.ifPresent(victim) != nil { try files.removeTree(victim) }
            }
            guard try FileStatus.ifPresent(path) != nil else { return }
            for name in try files.names(in: path) {
                let text = name.description
                if text.hasPrefix("snapshot") || text.contains(".route-") {
                    try files.remove(path.appending(name))
                }
            }
        } catch {
            throw .file(error)
        }
    }

    /// Removes a folder with everything in it, if it is there.
    func removeTree(_ folder: FilePath) throws(RunError) {
        do throws(DurableFileError) {
            if try FileStatus.ifPresent(folder) != nil { try files.removeTree(folder) }
        } catch {
            throw .file(error)
        }
    }

    /// Removes a file if it is there, with what SQLite may have left beside it.
    func remove(_ file: FilePath) throws(RunError) {
        do throws(DurableFileError) {
            for suffix in ["", "-wal", "-shm", "-journal"] {
                let victim = file.adding(suffix: suffix)
                if try FileStatus.ifPresent(victim) != nil { try files.remove(victim) }
            }
        } catch {
            throw .file(error)
        }
    }
}
