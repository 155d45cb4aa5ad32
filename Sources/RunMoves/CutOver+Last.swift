import DurableFiles
import Jobs
import MigrationPlans
package import RunLedger
package import StateFolders
import StoreRuns
import StoreSwap

// MARK: - Results that may be all that is left of a store

extension CutOver {
    /// What has become of the store of a publication.
    ///
    /// - Throws: `RunError` where it is in use, or the ledger cannot be read.
    func fate(of recorded: Recorded) throws(RunError) -> SourceFate {
        try look(at: recorded.found).fate(of: recorded.result.store, for: recorded.way)
    }

    private func look(at found: FoundStore) throws(RunError) -> SourceLook {
        let overview = try RunError.ledger { () throws(LedgerError) in try ledger.run(run) }
        let request = try overview.map { overview throws(RunError) in
            try RecordedRequest(reading: overview.record.request)
        }
        return SourceLook(
            files: files, scratch: folders.folder.appending("look-\(found.number)"),
            model: request?.sourceModel,
            allowsMissingExternalData: request?.options.allowsMissingExternalData ?? false)
    }

    /// Whether a result that waits for its name, or the backup of a swap that was stopped, may be
    /// all that is left of its store.
    ///
    /// - Throws: `RunError` where the files cannot be looked at.
    func keepsLast(_ recorded: Recorded) throws(RunError) -> Bool {
        guard try holds(recorded) else { return false }
        switch try fate(of: recorded) {
        case .lost, .uncertain: return true
        case .asRead, .written, .unrecorded: return false
        }
    }

    /// Whether the original of a swap that is discarded must get a name of its own: its backup is
    /// as it was, and the store that has its name is damaged or another one.
    ///
    /// - Throws: `RunError.lostStore` where no backup can be kept so, and the result may be all
    ///   that is left of the store.
    func keepsOriginal(_ recorded: Recorded) throws(RunError) -> Bool {
        guard try keepsLast(recorded) else { return false }
        guard case .swap(let plan) = recorded.way,
            try RunError.translating({ try hasIntactBackup(plan) })
        else { throw try lastCopy(recorded) }
        return true
    }

    private func hasIntactBackup(_ plan: SwapPlan) throws(DurableFileError) -> Bool {
        guard let live = try FileStatus.ifPresentLink(plan.store.path), live.isRegularFile,
            !plan.hasName(live.identity)
        else { return false }
        for file in plan.backups where file.hasContent {
            guard let backup = try FileStatus.ifPresentLink(file.backup)?.identity,
                file.original.isSame(backup)
                    || plan.record?.entry(file.backup)?.isSame(backup) == true
            else { return false }
        }
        return true
    }

    /// Whether a result is still where it was built.
    ///
    /// - Throws: `RunError` where the files cannot be looked at.
    func waits(_ recorded: Recorded) throws(RunError) -> Bool {
        let built = recorded.way.built
        return try RunError.translating {
            try FileStatus.ifPresentLink(built.path).map { built.isFile($0.identity) } ?? false
        }
    }

    /// Whether a result is where it was built, or a swap has a backup.
    private func holds(_ recorded: Recorded) throws(RunError) -> Bool {
        if try waits(recorded) { return true }
        guard case .swap(let plan) = recorded.way else { return false }
        return try hasBackup(plan)
    }

    private func hasBackup(_ plan: SwapPlan) throws(RunError) -> Bool {
        try RunError.translating { try FileStatus.ifPresentLink(plan.mainBackup) != nil }
    }

    /// The accepted result of a store whose move was not recorded, where that may be all that is
    /// left of the store.
    ///
    /// - Throws: `RunError` where the files cannot be looked at.
    func lastAccepted(_ found: FoundStore) throws(RunError) -> FilePath? {
        let result: StoreLocation
        do throws(DurableFileError) {
            if let output = found.output {
                result = output
            } else {
                result = StoreLocation(try files.resolveStore(found.path))
            }
        } catch {
            // Where its folder is gone, so is what lay in it.
            guard error.isMissing else { throw .file(error) }
            return nil
        }
        let places = StorePaths(
            folder: folders.folder(ofStore: found.number), mark: mark, number: found.number,
            result: result)
        let accepted = try RunError.translating { try places.acceptedResults() }
        guard let first = accepted.first else { return nil }
        switch try look(at: found).fate(of: found.path, acceptedAt: first) {
        case .lost, .uncertain: return first
        case .asRead, .written, .unrecorded: return nil
        }
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
        case .swap(let plan):
            let kept = try hasBackup(plan) ? "\(plan.mainBackup), its original" : nil
            let built = try waits(recorded) ? "\(plan.newFile.path), its result" : nil
            place = [kept, built].compactMap(\.self).joined(separator: "; ")
        case .publish(let plan):
            place = "\(plan.building.path)"
            if let support = plan.support, let folder = try RunError.translating({ try plan.twin })
            {
                let name = plan.output.database.lastComponent
                place +=
                    " with its external data \(folder), which belong beside it as "
                    + "\(support.to.lastComponent) if it is named \(name)"
            }
        }
        return Self.lastCopy(of: recorded.result.store, at: place)
    }

    private static func lastCopy(of store: FilePath, at place: String) -> RunError {
        .lostStore(
            "\(store) is gone, is damaged, or is no longer the store that Godwit read. What Godwit "
                + "has of it may be all that is left: \(place). Put the store back, or copy what "
                + "is left, then prune lost stores to remove it")
    }

    /// Expects the folder of a result to be the one of the run: files of a publication that was
    /// stopped may be in it.
    ///
    /// - Throws: `RunError.lostStore` where another folder has its name, or none.
    func expectFolder(of recorded: Recorded) throws(RunError) {
        guard case .publish(let plan) = recorded.way,
            try RunError.translating({ try !plan.hasFolder(files) })
        else { return }
        let output = plan.output.database
        throw .lostStore(
            "\(output.parent) is not the output folder that the run had, and files of the "
                + "stopped publication of \(output.lastComponent) may be in that one. Check "
                + "that its file system is mounted. If you prune lost stores, Godwit treats them "
                + "as removed")
    }

    /// Expects a result that waits for its name not to be all that is left of its store.
    ///
    /// - Throws: `RunError.lostStore` where it may be.
    package func expectOriginal(of found: FoundStore) throws(RunError) {
        guard let recorded = try unfinished(found) else {
            guard let place = try lastAccepted(found) else { return }
            throw Self.lastCopy(of: found.path, at: "\(place)")
        }
        if try keepsLast(recorded) { throw try lastCopy(recorded) }
    }

    /// Takes half of a publication back for good, or looks whether that can be done.
    ///
    /// - Parameters:
    ///   - found: its store.
    ///   - wasCancelled: whether its cancellation kept what a swap left, if anything is there.
    ///   - takesLost: takes back also what may be all that is left of the store.
    ///   - removes: whether to take it back; otherwise nothing is changed.
    /// - Throws: `RunError`, `.halfPublished` and `.lostStore` as for a move.
    func endHalf(
        of found: FoundStore, wasCancelled: Bool, takesLost: Bool, removes: Bool
    ) throws(RunError) {
        let recorded = try unfinished(found)
        if let recorded, try hasBegun(recorded) { return }
        if removes { try settleAsides(of: found) }
        if !takesLost {
            if let recorded { try expectFolder(of: recorded) }
            // A program may have written to what is left of the store since.
            if wasCancelled, let recorded, case .swap = recorded.way, try holds(recorded) {
                throw try lastCopy(recorded)
            }
            try expectOriginal(of: found)
        }
        guard let recorded else { return }
        guard case .publish(let plan) = recorded.way else { return }
        let stays = try RunError.translating { try plan.takeBack(files, moves: removes) }
        if let stays, let support = plan.support {
            throw .halfPublished(inTheWay: stays, externalData: support.to)
        }
    }
}
