import DurableFiles
import Jobs
import MigrationPlanning
import RunLedger
import StoreRuns
import StoreSwap

// MARK: - Results that may be all that is left of a store

extension CutOver {
    /// What has become of the store of a publication.
    ///
    /// - Throws: `RunError` where it is in use, or the ledger cannot be read.
    func fate(of recorded: Recorded) throws(RunError) -> SourceFate {
        let overview = try RunError.ledger { () throws(LedgerError) in try ledger.run(run) }
        let request = try overview.map { overview throws(RunError) in
            try RecordedRequest(reading: overview.record.request)
        }
        let look = SourceLook(
            files: files, scratch: folders.folder.appending("look-\(recorded.found.number)"),
            model: request?.sourceModel,
            allowsMissingExternalData: request?.options.allowsMissingExternalData ?? false)
        return try look.fate(of: recorded.result.store, for: recorded.way)
    }

    /// Whether a result that waits for its name may be all that is left of its store.
    ///
    /// - Throws: `RunError` where the files cannot be looked at.
    func keepsLast(_ recorded: Recorded) throws(RunError) -> Bool {
        guard try waits(recorded) else { return false }
        switch try fate(of: recorded) {
        case .lost, .uncertain: return true
        case .asRead, .written, .unrecorded: return false
        }
    }

    /// Whether a result is still where it was built, and no backup has the original.
    ///
    /// - Throws: `RunError` where the files cannot be looked at.
    func waits(_ recorded: Recorded) throws(RunError) -> Bool {
        let built = recorded.way.built
        let isBuilt = try RunError.translating {
            try FileStatus.ifPresentLink(built.path).map { built.isFile($0.identity) } ?? false
        }
        guard isBuilt, case .swap(let plan) = recorded.way else { return isBuilt }
        // The backup of a swap that has begun is the original.
        return try RunError.translating { try FileStatus.ifPresentLink(plan.mainBackup) == nil }
    }

    /// What is said where the result of a lost store gets its name.
    static func words(ofLost store: FilePath) -> String {
        "\(store) cannot be found or is damaged since Godwit read it: its result is published as "
            + "it was built"
    }

    /// Why such a result is not discarded, with every place that it is in.
    func lastCopy(_ recorded: Recorded) throws(RunError) -> RunError {
        var place: String
        switch recorded.way {
        case .swap(let plan): place = "\(plan.newFile.path)"
        case .publish(let plan):
            place = "\(plan.building.path)"
            if let support = plan.support, let folder = try RunError.translating({ try plan.twin })
            {
                place +=
                    " with its external data \(folder), which belong beside it as "
                    + "\(support.to.lastComponent) if it is named \(plan.output.lastComponent)"
            }
        }
        return .lostStore(
            "\(recorded.result.store) is gone, is damaged, or is no longer the store that Godwit "
                + "read. Its result may be all that is left of it: \(place). Put the store back, "
                + "or copy the result, then prune lost stores to remove it")
    }

    /// Expects the folder of a result to be the one of the run: files of a publication that was
    /// stopped may be in it.
    ///
    /// - Throws: `RunError.lostStore` where another folder has its name, or none.
    func expectFolder(of recorded: Recorded) throws(RunError) {
        guard case .publish(let plan) = recorded.way,
            try RunError.translating({ try !plan.hasFolder(files) })
        else { return }
        throw .lostStore(
            "\(plan.output.parent) is not the output folder that the run had, and files of the "
                + "stopped publication of \(plan.output.lastComponent) may be in that one. Check "
                + "that its file system is mounted. If you prune lost stores, Godwit treats them "
                + "as removed")
    }

    /// Expects a result that waits for its name not to be all that is left of its store.
    ///
    /// - Throws: `RunError.lostStore` where it may be.
    func expectOriginal(of found: FoundStore) throws(RunError) {
        guard let recorded = try unfinished(found), try keepsLast(recorded) else { return }
        throw try lastCopy(recorded)
    }

    /// Takes half of a publication back for good, or looks whether that can be done.
    ///
    /// - Parameters:
    ///   - found: its store.
    ///   - takesLost: takes back also what may be all that is left of the store.
    ///   - removes: whether to take it back; otherwise nothing is changed.
    /// - Throws: `RunError`, `.halfPublished` and `.lostStore` as for a move.
    func endHalf(of found: FoundStore, takesLost: Bool, removes: Bool) throws(RunError) {
        guard let recorded = try unfinished(found), try !hasBegun(recorded) else { return }
        if !takesLost {
            try expectFolder(of: recorded)
            if try keepsLast(recorded) { throw try lastCopy(recorded) }
        }
        guard case .publish(let plan) = recorded.way else { return }
        let stays = try RunError.translating { try plan.takeBack(files, moves: removes) }
        if let stays, let support = plan.support {
            throw .halfPublished(inTheWay: stays, externalData: support.to)
        }
    }
}
