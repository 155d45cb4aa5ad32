package import DurableFiles
import MigrationEngine

/// The files that the migration of one store makes, all of them its run's own.
///
/// Everything that is to get the store's name, or the result's, lies beside it: that must be a
/// rename. The rest lies in the run's folder.
package struct StorePaths: Sendable {
    /// Plan, routes and shards.
    package let folder: FilePath
    /// The result's file until it is published.
    package let building: FilePath
    /// The result's external data until they are published.
    package let buildingSupport: FilePath
    /// The original with its `-wal` or journal applied, where it needs one.
    package let snapshot: FilePath

    /// - Parameters:
    ///   - folder: of the store in its run.
    ///   - mark: of the run.
    ///   - number: of the store in the run.
    ///   - result: where the result will lie, which is the store's own place for a swap.
    package init(folder: FilePath, mark: String, number: Int, result: StoreLocation) {
        self.init(folder: folder, beside: Self.building(mark, number, result))
    }

    /// The places of a store that workers migrate who do not share the run's folder: plan, routes
    /// and shards lie beside the result, too.
    package init(mark: String, number: Int, besideResult result: StoreLocation) {
        let building = Self.building(mark, number, result)
        self.init(folder: Self.work(building), beside: building)
    }

    private static func building(_ mark: String, _ number: Int, _ result: StoreLocation) -> FilePath
    {
        let name = DurableFileSystem.temporaryPrefix + "\(mark)-\(number)"
        return result.database.parent.appending(FilePath(name))
    }

    private static func work(_ building: FilePath) -> FilePath { building.adding(suffix: "_WORK") }

    private init(folder: FilePath, beside building: FilePath) {
        self.folder = folder
        self.building = building
        buildingSupport = building.adding(suffix: "_SUPPORT")
        snapshot = building.adding(suffix: "_snapshot")
    }

    /// The places of an attempt at a whole store, all of them in its own folder.
    ///
    /// - Parameter attempt: the folder, on the file system of the result: that must be a rename.
    package init(attempt: FilePath) {
        folder = attempt
        building = attempt.appending("store.sqlite")
        buildingSupport = building.adding(suffix: "_SUPPORT")
        snapshot = building.adding(suffix: "_snapshot")
    }

    package var plan: FilePath { folder.appending("plan.json") }
    /// A snapshot that is being made for the second time.
    package var newSnapshot: FilePath { snapshot.adding(suffix: "-new") }
    package var attempts: FilePath { folder.appending("attempts") }

    /// The places of a store that is written on the way to the result: its file lies beside that.
    ///
    /// - Parameter leg: that gives it, from 1.
    /// - Returns: the places.
    package func written(_ leg: Int) -> StorePaths {
        // Beside a store, one is read while the next is written: two names are enough.
        let number = isAttempt ? leg : 1 + leg % 2
        return StorePaths(folder: folder, beside: building.adding(suffix: "_step-\(number)"))
    }

    /// The store that a leg gave, changed by programs of the user.
    func edited(_ leg: Int) -> FilePath { written(leg).building.adding(suffix: "_edited") }

    /// The most stores that are written on the way to a result.
    package static let legLimit = 64

    /// Whether everything lies in a folder of its own.
    var isAttempt: Bool { building.parent == folder }

    /// What was found of the stores that were written on the way.
    var steps: FilePath { folder.appending("steps.json") }

    /// Removes the last store that was written on the way, and what was found of them.
    ///
    /// - Parameters:
    ///   - leg: that gave it; 0 where there is none.
    ///   - files: through which durable actions go.
    /// - Throws: `DurableFileError`.
    package func removeSteps(_ leg: Int, _ files: DurableFileSystem) throws(DurableFileError) {
        guard leg > 0 else { return }
        try removeWritten(leg, files)
        if try FileStatus.ifPresentLink(steps) != nil { try files.unlink(steps) }
    }

    /// Removes a store that was written on the way, if it is there.
    ///
    /// - Parameters:
    ///   - leg: that gave it, from 1.
    ///   - files: through which durable actions go.
    /// - Throws: `DurableFileError`.
    func removeWritten(_ leg: Int, _ files: DurableFileSystem) throws(DurableFileError) {
        for file in StoreLocation(written(leg).building).files {
            if try FileStatus.ifPresentLink(file) != nil { try files.unlink(file) }
        }
    }

    /// Everything that there may be, with what SQLite makes beside databases.
    private var all: [FilePath] {
        // Those of an attempt lie in its folder.
        if isAttempt { return [folder] }
        let written = [1, 2].map { self.written($0).building }
        return ([building, snapshot, newSnapshot] + written).flatMap { file in
            StoreLocation(file).files
        } + [buildingSupport, Self.work(building), folder]
    }

    /// What the folders of accepted attempts begin with.
    package static let acceptedPrefix = "accepted-"

    /// The accepted results of a store that is migrated as a whole.
    ///
    /// - Throws: `DurableFileError`.
    package func acceptedResults() throws(DurableFileError) -> [FilePath] {
        guard try FileStatus.ifPresentLink(building)?.isFolder == true else { return [] }
        var results: [FilePath] = []
        for name in try DurableFileSystem().names(in: building)
        where name.bytes.starts(with: Self.acceptedPrefix.utf8) {
            let result = StorePaths(attempt: building.appending(name)).building
            if try FileStatus.ifPresentLink(result) != nil { results.append(result) }
        }
        return results
    }

    /// Removes everything.
    ///
    /// - Throws: the first failure; the rest is removed all the same.
    package func removeAll(_ files: DurableFileSystem) throws(DurableFileError) {
        try files.removeTrees(all)
    }

    /// Removes everything of several stores.
    ///
    /// - Throws: the first failure; the rest is removed all the same.
    package static func removeAll(
        _ stores: [StorePaths], _ files: DurableFileSystem
    ) throws(DurableFileError) {
        try files.removeTrees(stores.flatMap(\.all))
    }

    /// Removes what a process left that died while it made the snapshot again.
    func removeNewSnapshot(_ files: DurableFileSystem) throws(DurableFileError) {
        for file in StoreLocation(newSnapshot).files { try files.remove(file) }
    }

    /// Bytes that the file systems get back when everything is removed.
    ///
    /// - Parameter countsFolder: whether the folder in the run's own folder counts, too.
    /// - Returns: the bytes of files that have no other name.
    /// - Throws: `DurableFileError` where they cannot be looked at.
    package func bytes(countsFolder: Bool) throws(DurableFileError) -> Int64 {
        var sum: Int64 = 0
        for place in all where try FileStatus.ifPresent(place) != nil {
            guard countsFolder || place != folder else { continue }
            for found in try DurableFileSystem().tree(at: place)
            where found.status.isRegularFile && found.status.links == 1 {
                sum = sum.addingClamped(found.status.size)
            }
        }
        return sum
    }

    /// Makes the folder.
    func make(_ files: DurableFileSystem) throws(DurableFileError) {
        try files.makeFolders(folder)
    }

    /// Makes the folder for an attempt that begins again after a crash of the machine.
    func makeScratch(_ files: DurableFileSystem) throws(DurableFileError) {
        try files.makeScratchFolders(folder)
    }
}
