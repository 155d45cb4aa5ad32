import CoreDataStore
import DurableFiles
import Jobs
import ManagedObjectModel
import SafeSQLite
import StoreRuns
import StoreSwap

/// What has become of a store whose result waits for its publication.
enum SourceFate: Hashable, Sendable {
    /// It still is as it was read.
    case asRead
    /// It was written since: a result of it can be built again.
    case written
    /// It is gone or damaged, or lacks external data: its result may be all that is left of it.
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
        do throws(DurableFileError) {
            guard let status = try FileStatus.ifPresentLink(store) else { return .lost }
            guard status.isRegularFile else { return .uncertain }
            if try isUpToDate(store, way) { return .asRead }
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
            switch error.code {
            case .badSource, .externalDataMissing: return .lost
            case .modelMissing, .unsupported, .dataRefused: return .uncertain
            default: throw error
            }
        }
        // Another store may have got the name.
        if let kept = identifier(of: way.built.path), opened.identifier != kept {
            return .uncertain
        }
        return try RunError.translating { try fate(of: opened, store, way) }
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

    /// The `Z_UUID` of a result, which a migration keeps; nil where it cannot be read.
    private func identifier(of result: FilePath) -> String? {
        do throws(StoreError) {
            let connection = try Connection(
                path: result, mode: .immutable, patience: Self.patience)
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
        let folder = SupportFolder.externalData(ofStore: store)
        let there = try names(in: folder)
        let missing = opened.names.subtracting(there)
        guard case .publish(let plan) = way else {
            return missing.isEmpty || allowsMissingExternalData ? .written : .lost
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
            opened = try opener.open(store, scratch: scratch, checksPages: checksPages)
        } catch {
            guard let model, case .modelMissing = error else { throw error }
            opened = try opener.open(
                store, scratch: scratch, given: model, checksPages: checksPages)
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
