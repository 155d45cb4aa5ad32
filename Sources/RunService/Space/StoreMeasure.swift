package import DurableFiles
package import MigrationPlans
package import RunLedger
import SafeSQLite
package import StateFolders
import StoreRuns

/// Looks at the files of stores for the room that their migration takes: a few system calls a
/// store, and nothing is opened unless free pages are asked for.
package struct StoreMeasure {
    private let options: PlanOptions
    private let files: DurableFileSystem
    private let setting: SpacePlan.Setting
    /// A folder on each file system that was met.
    package private(set) var folders: [UInt64: FilePath]
    /// Whether free pages are counted out, which takes a look into every file.
    ///
    /// No store may be open in this process then: closing a file drops the locks that SQLite
    /// holds on it.
    package var countsFreePages = false

    /// - Parameters:
    ///   - options: how stores are migrated.
    ///   - slots: jobs at a time.
    ///   - state: the state folder, which need not exist yet.
    ///   - files: through which files are read.
    /// - Throws: `DurableFileError` where the state folder cannot be looked at.
    package init(
        options: PlanOptions, slots: Int, state: FilePath, files: DurableFileSystem
    ) throws(DurableFileError) {
        self.options = options
        self.files = files
        let folder = try Self.existing(state)
        let device = try FileStatus(of: folder).identity.device
        folders = [device: folder]
        let interleaves =
            switch options.partition {
            case .auto, .key: false
            case .entity, .uuid: true
            }
        setting = SpacePlan.Setting(
            slots: slots, chunkBytes: options.chunkBytes, interleaves: interleaves,
            stateDevice: device)
    }

    /// A plan without stores.
    package var plan: SpacePlan { SpacePlan(setting) }

    /// What a run over these stores takes at most, by a folder on each file system.
    package mutating func needs(of stores: [FoundStore]) -> [FilePath: SpaceNeed] {
        var plan = plan
        for store in stores {
            if let size = size(of: store) { plan.add(size) }
        }
        var needs: [FilePath: SpaceNeed] = [:]
        for (device, need) in plan.needs {
            if let folder = folders[device] { needs[folder] = need }
        }
        return needs
    }

    /// Whether a store is to be cut into chunks: what lies in its log or journal counts, too.
    ///
    /// - Throws: `DurableFileError` where the files beside it cannot be looked at.
    static func isLarge(
        _ found: FoundStore, _ options: PlanOptions
    ) throws(DurableFileError) -> Bool {
        // SQLite's files lie beside the file that a symbolic link names.
        var path = found.path
        if try FileStatus(ofLink: path).isSymbolicLink {
            path = try DurableFileSystem().resolve(path)
        }
        return try isLarge(found.bytes.addingClamped(log(beside: path)), options)
    }

    /// How a store of that size is migrated.
    private static func isLarge(_ bytes: Int64, _ options: PlanOptions) -> Bool {
        switch options.strategy {
        case .partitioned: true
        case .whole: false
        case nil: bytes > PlanOptions.wholeLimit
        }
    }

    /// Looks at one store.
    ///
    /// - Parameters:
    ///   - found: the store.
    ///   - made: files that an earlier process may have left for it.
    /// - Returns: its size; nil where it cannot be read, which its own migration will tell.
    mutating func size(of found: FoundStore, made: StorePaths? = nil) -> StoreSize? {
        do throws(DurableFileError) {
            var path = found.path
            var status = try FileStatus(ofLink: path)
            if status.isSymbolicLink {
                path = try files.with(.followed).resolve(path)
                status = try FileStatus(of: path)
            }
            let log = try Self.log(beside: path)
            // Holes hold nothing that a result could hold, and anybody can make a file of terabytes
            // with them.
            var size = StoreSize(
                database: min(status.size, status.allocatedBytes), log: log,
                isLarge: Self.isLarge(found.bytes.addingClamped(log), options),
                device: status.identity.device)
            if countsFreePages { size.database -= try freeBytes(of: path, size: size.database) }
            if let output = found.output {
                let folder = try Self.existing(output.database.parent)
                size.device = try FileStatus(of: folder).identity.device
                folders[size.device] = folders[size.device] ?? folder
                size.external = try external(beside: path)
            } else {
                folders[size.device] = folders[size.device] ?? path.parent
            }
            if let made { size.made = SpaceNeed(bytes: try made.bytes(countsFolder: true)) }
            return size
        } catch {
            return nil
        }
    }

    /// Bytes that a snapshot would have to apply; the header of a log alone is none.
    private static func log(beside path: FilePath) throws(DurableFileError) -> Int64 {
        for kind in StoreCompanion.withContent {
            let status = try FileStatus.ifPresent(StoreLocation(path).companion(kind))
            if let status, status.size > logHeaderBytes {
                return min(status.size, status.allocatedBytes)
            }
        }
        return 0
    }

    /// SQLite file format §4.1.
    private static let logHeaderBytes: Int64 = 32

    private func external(beside path: FilePath) throws(DurableFileError) -> SpaceNeed {
        let folder = StoreLocation(path).externalData
        guard try FileStatus.ifPresent(folder) != nil else { return SpaceNeed() }
        var need = SpaceNeed(inodes: 2)
        for file in try files.tree(at: folder) where file.status.isRegularFile {
            let isLinked = options.linksExternalData
            let bytes = min(file.status.size, file.status.allocatedBytes)
            need += SpaceNeed(bytes: isLinked ? 0 : bytes, inodes: isLinked ? 0 : 1)
        }
        return need
    }

    /// The deepest folder of a path that exists.
    private static func existing(_ path: FilePath) throws(DurableFileError) -> FilePath {
        var folder = path
        while try FileStatus.ifPresent(folder) == nil, folder != folder.parent {
            folder = folder.parent
        }
        return folder
    }

    /// Bytes of pages on the free list (SQLite file format §1.3.9), at most the file's.
    private func freeBytes(of path: FilePath, size: Int64) throws(DurableFileError) -> Int64 {
        let header = try files.openForReading(path).read(count: 100, at: 0)
        guard case .success(let known) = DatabaseHeader.read(header) else { return 0 }
        let pages = header[36..<40].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return min(size, pages * Int64(known.pageSize))
    }
}
