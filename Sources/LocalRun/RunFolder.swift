import DurableFiles
import MigrationEngine

/// The folder of one run, locked for as long as the run lasts, and the files that the run builds
/// beside its result.
///
/// Everything in it is the run's own and holds users' data. What a killed run left is removed by
/// the next one, which holds the lock by then.
final class RunFolder {
    /// Snapshot, plan, routes and shards.
    let path: FilePath
    /// The result's file until it is published: beside its place, so that publishing is a rename.
    let building: FilePath
    /// The result's external data until they are published.
    let buildingSupport: FilePath
    private let lock: OwnerLock
    private let files: DurableFileSystem

    /// Locks the folder of a store's runs and makes the run's own folder in it.
    ///
    /// - Throws: `RunError.file` where another run holds the lock, naming its owner, or where
    ///   the folder cannot be made.
    init(_ request: MigrationRequest, files: DurableFileSystem) throws(RunError) {
        self.files = files
        do throws(DurableFileError) {
            try files.makeFolders(request.state)
            let state = try files.resolve(request.state)
            lock = try OwnerLock(
                state.appending("godwit.lock"),
                holder: .thisProcess(doing: "migrating \(request.store)"))
            path = state.appending("godwit-run")
            // Named after the locked folder: runs of other folders build under other names.
            let name = ContentDigest.hexadecimal(of: state.bytes).prefix(12)
            building = request.output.parent.appending(
                DurableFileSystem.temporaryPrefix + "\(name)")
            buildingSupport = building.adding(suffix: "_SUPPORT")
        } catch {
            throw .file(error)
        }
        do throws(RunError) {
            try removeAll()
            try make()
        } catch {
            release()
            throw error
        }
    }

    private func make() throws(RunError) {
        do throws(DurableFileError) { try files.makeFolders(path) } catch { throw .file(error) }
    }

    /// Removes the run's files and gives the lock back.
    ///
    /// - Throws: `RunError.file` for what could not be removed.
    func end() throws(RunError) {
        defer { release() }
        try removeAll()
    }

    /// The same on the way out of a failure, whose own reason is what counts.
    func abandon() {
        do throws(RunError) { try end() } catch { return }
    }

    private func release() {
        // The descriptor goes with the lock's owner, whatever this says.
        do throws(DurableFileError) { try lock.release() } catch { return }
    }

    private func removeAll() throws(RunError) {
        var first: DurableFileError?
        for victim in ["", "-wal", "-shm", "-journal"].map({ building.adding(suffix: $0) }) + [
            buildingSupport, path,
        ] {
            do throws(DurableFileError) {
                if try FileStatus.ifPresent(victim) != nil { try files.removeTree(victim) }
            } catch {
                first = first ?? error
            }
        }
        if let first { throw .file(first) }
    }
}
