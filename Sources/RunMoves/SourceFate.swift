import CoreDataStore
import DurableFiles
import ManagedObjectModel
import SafeSQLite
import StoreDiscovery
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

    /// Compares a store with what a plan says of it.
    ///
    /// - Throws: `RunError` where a readable store cannot be opened: it may be in use.
    func fate(of store: FilePath, in plan: PublishPlan) throws(RunError) -> SourceFate {
        do throws(DurableFileError) {
            guard let status = try FileStatus.ifPresentLink(store) else { return .lost }
            guard status.isRegularFile else { return .uncertain }
            if try isUpToDate(store, plan) { return .asRead }
            guard try StoreProbe(files: files).isReadable(store) else { return .lost }
        } catch {
            return .uncertain
        }
        // Another store may have got the name.
        if let own = identifier(of: store), let kept = identifier(of: plan.building.path),
            own != kept
        {
            return .uncertain
        }
        if try lacksExternalData(store, plan) { return .lost }
        return plan.source == nil ? .unrecorded : .written
    }

    private func isUpToDate(
        _ store: FilePath, _ plan: PublishPlan
    ) throws(DurableFileError) -> Bool {
        do throws(DurableFileError) {
            return try plan.isUpToDate(store) ?? false
        } catch {
            if case .changedMeanwhile = error { return false }
            throw error
        }
    }

    /// How long one may keep SQLite busy, in milliseconds.
    private static let patience: Int64 = 1000

    /// The `Z_UUID` of a store, which a migration keeps; nil where it cannot be read.
    private func identifier(of store: FilePath) -> String? {
        do throws(StoreError) {
            let connection = try Connection(
                path: store, mode: .immutable, patience: Self.patience)
            let metadata = try StoreMetadata.read(connection)
            try connection.close()
            return metadata.uuid
        } catch {
            // Its content may be in its log.
            return nil
        }
    }

    /// Whether a store refers to external data that are gone since it was read.
    ///
    /// An app removes the files of objects that it deletes: only references count.
    private func lacksExternalData(
        _ store: FilePath, _ plan: PublishPlan
    ) throws(RunError) -> Bool {
        try RunError.translating {
            let folder = SupportFolder.externalData(ofStore: store)
            let there = try names(in: folder)
            guard try plan.heldMore(than: store) || plan.resultNames().isSubset(of: there) == false
            else { return false }
            return try !references(of: store).isSubset(of: there)
        }
    }

    private func names(in folder: FilePath) throws(DurableFileError) -> Set<String> {
        guard try FileStatus.ifPresent(folder) != nil else { return [] }
        return Set(try files.names(in: folder).map(\.description))
    }

    private func references(of store: FilePath) throws -> Set<String> {
        // A process that was killed leaves its own.
        ScratchRemoval.remove(scratch, files)
        defer { ScratchRemoval.remove(scratch, files) }
        return try ReferencedNames.names(in: store, scratch: scratch, model: model, files: files)
    }
}

/// The files of external data that a store refers to.
enum ReferencedNames {
    /// Reads their names.
    ///
    /// - Parameters:
    ///   - store: its path.
    ///   - scratch: a folder for its snapshot.
    ///   - model: for a store that holds none.
    ///   - files: through which it is read.
    /// - Returns: the names, without folders.
    /// - Throws: `StoreError`, `SwapError`, `DurableFileError`.
    static func names(
        in store: FilePath, scratch: FilePath, model: Model?, files: DurableFileSystem
    ) throws -> Set<String> {
        try files.makeFolders(scratch)
        let opener = StoreOpener(files: files)
        let opened: SourceStore
        do throws(StoreError) {
            opened = try opener.open(store, scratch: scratch)
        } catch {
            guard let model else { throw error }
            opened = try opener.open(store, scratch: scratch, given: model)
        }
        return try ExternalNames.referenced(by: opened)
    }
}
