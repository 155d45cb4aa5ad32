import CoreDataStore
import DurableFiles
import Jobs
import ManagedObjectModel
import SafeSQLite
import StateFolders
import StoreRuns
import StoreSwap

/// What has become of a store whose result waits for its publication.
enum SourceFate: Hashable, Sendable {
    /// It still is as it was read.
    case asRead
    /// It was written since: a result of it can be built again.
    case written
    /// It is gone or damaged, or lacks external data or its log: its result may be all that is left
    /// of it.
    case lost
    /// Something else has its name, or it cannot be looked at.
    case uncertain
    /// It is there, and the plan does not say how it was read.
    case unrecorded
}

/// Finds out what has become of a store.
struct SourceLook {
    let files: DurableFileSystem
    /// A folder for a snapshot of a store that is not at rest; made and removed where needed.
    let scratch: FilePath
    /// The model that the run was given, for stores that hold none.
    let model: Model?
    /// Whether the run takes stores that lack external data.
    let allowsMissingExternalData: Bool

    /// Compares a store with what was recorded of it when its result was built.
    ///
    /// - Throws: `RunError` where a store that was written cannot be opened now: it may be in use.
    /// - Complexity: reads a store that was written as its migration does.
    func fate(of store: FilePath, for way: CutOverRecord.Way) throws(RunError) -> SourceFate {
        try fate(of: store, builtAt: way.built.path) { () throws(DurableFileError) in
            if try isUpToDate(store, way) { return .asRead }
            return try hasLostLog(store, way) ? .lost : nil
        } compared: { opened in
            try fate(of: opened, store, way)
        }
    }

    /// Finds out whether a store can be migrated again whose result was accepted, and whose move
    /// was not recorded.
    ///
    /// - Parameters:
    ///   - store: its path.
    ///   - result: where its result is.
    /// - Returns: `.written`, `.lost` or `.uncertain`.
    /// - Throws: `RunError` where it cannot be opened now: it may be in use.
    /// - Complexity: reads the store as its migration does.
    func fate(of store: FilePath, acceptedAt result: FilePath) throws(RunError) -> SourceFate {
        try fate(of: store, builtAt: result) { () throws(DurableFileError) in
            try hasLostLog(store, snapshot: StorePaths(attempt: result.parent).snapshot)
                ? .lost : nil
        } compared: { opened in
            let folder = StoreLocation(store).externalData
            let missing = opened.names.subtracting(try names(in: folder))
            let places = StorePaths(attempt: result.parent)
            let built = places.buildingSupport.appending(StoreLocation.externalDataName)
            let held = try names(in: built)
            guard missing.isEmpty || allowsMissingExternalData && missing.isDisjoint(with: held)
            else { return .lost }
            for name in opened.names.intersection(held)
            where try !isEqual(folder.appending(name), built.appending(name)) {
                return .uncertain
            }
            return .written
        }
    }

    private func fate(
        of store: FilePath, builtAt result: FilePath,
        known: () throws(DurableFileError) -> SourceFate?,
        compared: (ReferencedNames) throws -> SourceFate
    ) throws(RunError) -> SourceFate {
        do throws(DurableFileError) {
            guard let status = try FileStatus.ifPresentLink(store) else { return .lost }
            guard status.isRegularFile else { return .uncertain }
            if let fate = try known() { return fate }
        } catch {
            return .uncertain
        }
        // A process that was killed leaves its own.
        ScratchRemoval.remove(scratch, files)
        defer { ScratchRemoval.remove(scratch, files) }
        let opened: ReferencedNames
        do throws(RunError) {
            opened = try RunError.translating {
                try ReferencedNames(of: store, scratch: scratch, model: model, files: files)
            }
        } catch {
            switch error.cause {
            case .damaged, .externalDataMissing: return .lost
            case .modelMissing, .unsupported, .dataRefused: return .uncertain
            default: throw error
            }
        }
        // Another store may have got the name.
        if let kept = Self.identifier(of: result), opened.identifier != kept { return .uncertain }
        return try RunError.translating { try compared(opened) }
    }

    /// Whether a store's log or journal is gone with what it held: its main file is as it was, so
    /// no program has moved the log's pages into it.
    private func hasLostLog(
        _ store: FilePath, _ way: CutOverRecord.Way
    ) throws(DurableFileError) -> Bool {
        switch way {
        case .publish(let plan):
            guard let source = plan.source, source.hasWriteAheadLogContent else { return false }
            let now = try StoreFingerprint(of: store)
            return !now.hasWriteAheadLogContent && now.main.isSame(source.main)
        case .swap(let plan):
            guard plan.store.isSame(try FileStatus(of: store).identity) else { return false }
            let logs = plan.backups.filter { $0.kind != nil && $0.hasContent }
            var isLost = false
            for log in logs where try !continues(log, plan) {
                // A swap that was stopped may have moved it aside.
                if try FileStatus.ifPresentLink(plan.aside(log.original.path)) == nil {
                    isLost = true
                }
            }
            guard isLost, let snapshot = plan.snapshot else { return isLost }
            // A program may have closed a store whose log had no page that the main file lacked.
            return try !hasSamePages(store, snapshot.path)
        }
    }

    /// Whether a log or journal still has what it had, perhaps with more behind it.
    private func continues(
        _ log: BackedUpFile, _ plan: SwapPlan
    ) throws(DurableFileError) -> Bool {
        let path = log.original.path
        guard let now = try FileStatus.ifPresentLink(path)?.identity, log.original.isFile(now),
            now.size >= log.original.identity.size
        else { return false }
        // Of a short file the record has the digest of all bytes.
        guard let known = plan.record?.entry(log.backup), known.identity.size > 4096 else {
            return true
        }
        let tree = try HeldTree(path.parent, store: plan.store.path, faults: files.faults)
        return try tree.entry(at: path, as: log.backup, isCopy: known.isCopy).header == known.header
    }

    /// Whether a store's log or journal is gone with what it held: its main file was not written
    /// since a snapshot of it was made, whose pages are others.
    func hasLostLog(
        _ store: FilePath, snapshot: FilePath
    ) throws(DurableFileError) -> Bool {
        // Programs are locked out while the copy is made, so its birth is the moment that counts.
        // Its last write is later: the log is applied after they are let in again. Without birth
        // times that later moment must do.
        guard let made = try FileStatus.ifPresentLink(snapshot)?.identity,
            try FileStatus(of: store).identity.modified < made.birth ?? made.modified
        else { return false }
        for kind in StoreCompanion.withContent
        where try FileStatus.ifPresentLink(StoreLocation(store).companion(kind))?.size ?? 0 > 0 {
            return false
        }
        return try !hasSamePages(store, snapshot)
    }

    /// Whether two databases of one format version have the same bytes behind their headers.
    private func hasSamePages(_ left: FilePath, _ right: FilePath) throws(DurableFileError) -> Bool
    {
        guard let size = try FileStatus.ifPresentLink(right)?.size,
            try FileStatus(of: left).size == size
        else { return false }
        let header = Int64(StoreFingerprint.headerBytes)
        return try files.openForReading(left).hasSameContents(
            as: files.openForReading(right), from: header)
    }

    private func isUpToDate(
        _ store: FilePath, _ way: CutOverRecord.Way
    ) throws(DurableFileError) -> Bool {
        switch way {
        case .publish(let plan):
            do throws(DurableFileError) {
                return try plan.isUpToDate(store) ?? false
            } catch {
                if case .changedMeanwhile = error { return false }
                throw error
            }
        case .swap(let plan):
            // External data are not part of the result: only the store's own folder has them.
            guard plan.externalData == nil, plan.store.isSame(try FileStatus(of: store).identity)
            else { return false }
            return plan.backups.allSatisfy { !$0.hasContent || $0.kind == nil }
        }
    }

    /// How long one may keep SQLite busy, in milliseconds.
    private static let patience: Int64 = 1000

    /// The `Z_UUID` of a database, which a migration keeps; nil where it cannot be read.
    static func identifier(of result: FilePath) -> String? {
        do throws(StoreError) {
            let connection = try Connection(
                path: result, mode: .immutable, patience: patience)
            let metadata = try StoreMetadata.read(connection)
            try connection.close()
            return metadata.uuid
        } catch {
            return nil
        }
    }

    /// Compares the external data of a store that can be read with those of its result.
    ///
    /// An app removes the files of objects that it deletes, and gives new contents new names: a
    /// file that is referred to and is gone, or holds something else, is damage.
    private func fate(
        of opened: ReferencedNames, _ store: FilePath, _ way: CutOverRecord.Way
    ) throws -> SourceFate {
        let folder = StoreLocation(store).externalData
        let there = try names(in: folder)
        let missing = opened.names.subtracting(there)
        guard case .publish(let plan) = way else {
            guard case .swap(let plan) = way else { return .written }
            let held = try plan.externalData.map { try names(in: $0.backup) } ?? []
            guard missing.isEmpty || allowsMissingExternalData && missing.isDisjoint(with: held)
            else { return .lost }
            // The backup has the last name of one that another file has replaced.
            let replaced = try ExternalDataLook(of: plan, files).replaced(of: plan)
            return replaced.isDisjoint(with: opened.names) ? .written : .uncertain
        }
        let result = try plan.resultFolder()
        let inResult = try result.map { try names(in: $0) } ?? []
        if !missing.isDisjoint(with: inResult) { return .lost }
        if inResult.isEmpty, !missing.isEmpty, !allowsMissingExternalData,
            try plan.heldMore(than: store)
        {
            return .lost
        }
        if let result {
            for name in opened.names.intersection(inResult)
            where try !isEqual(folder.appending(name), result.appending(name)) {
                return .uncertain
            }
        }
        return plan.source == nil ? .unrecorded : .written
    }

    private func names(in folder: FilePath) throws(DurableFileError) -> Set<String> {
        guard try FileStatus.ifPresent(folder) != nil else { return [] }
        return Set(try files.names(in: folder).map(\.description))
    }

    private func isEqual(
        _ left: FilePath, _ right: FilePath
    ) throws(DurableFileError) -> Bool {
        guard try FileStatus(of: left).size == FileStatus(of: right).size else { return false }
        return try files.openForReading(left).hasSameContents(as: files.openForReading(right))
    }
}

/// What a store says of itself and of its external data.
struct ReferencedNames {
    /// `Z_UUID`.
    let identifier: String
    /// The names of the files of external data that it refers to, without folders.
    let names: Set<String>

    /// Reads a store, page check included.
    ///
    /// - Parameters:
    ///   - store: its path.
    ///   - scratch: a folder for its snapshot.
    ///   - model: for a store that holds none.
    ///   - checksPages: whether to read all of its pages.
    ///   - files: through which it is read.
    /// - Throws: `StoreError`, `SwapError`, `DurableFileError`.
    init(
        of store: FilePath, scratch: FilePath, model: Model?, checksPages: Bool = true,
        files: DurableFileSystem
    ) throws {
        try files.makeFolders(scratch)
        let opener = StoreOpener(files: files)
        let opened: SourceStore
        do throws(StoreError) {
            opened = try opener.open(
                StoreLocation(store), scratch: scratch, checksPages: checksPages)
        } catch {
            guard let model, case .modelMissing = error else { throw error }
            opened = try opener.open(
                StoreLocation(store), scratch: scratch, given: model, checksPages: checksPages)
        }
        identifier = opened.metadata.uuid
        names = try ExternalNames.referenced(by: opened)
    }
}

extension CutOverRecord.Way {
    /// The result where it was built.
    var built: PlannedFile {
        switch self {
        case .publish(let plan): plan.building
        case .swap(let plan): plan.newFile
        }
    }
}
