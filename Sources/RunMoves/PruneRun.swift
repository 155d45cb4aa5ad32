import CoreDataStore
package import DurableFiles
import Foundation
import Jobs
import ManagedObjectModel
import MigrationPlans
import RunLedger
import SafeSQLite
package import StateFolders
import StoreDiscovery
import StoreLocks
import StoreRuns
import StoreSwap

/// What pruning a run frees.
package struct PruneEstimate: Sendable {
    package let run: String
    /// Backups of stores that can then no longer be rolled back.
    package var backups = 0
    /// The folders that hold them.
    package var folders: Set<FilePath> = []
    /// Bytes that file systems get back.
    package var bytes: Int64 = 0
    /// Folders and files of the run itself.
    package var leftovers: [FilePath] = []
    /// Stores that cannot be pruned, with the reason.
    package var refused: [StoreChange] = []

    fileprivate mutating func count(_ swap: SwapPlan, isThere: Bool) {
        guard isThere else { return }
        backups += 1
        folders.insert(swap.backupFolder)
    }
}

/// Removes the backups and leftovers of a run for good.
package struct PruneRun: Sendable {
    private let selection: RunSelection
    private let environment: RunEnvironment
    /// Whether kept originals go whose stores are gone.
    private let takesLost: Bool

    /// Takes a selection of runs and stores.
    ///
    /// `takesLost`: whether kept originals go, too, whose stores are gone or are no Core Data
    /// stores any more.
    package init(
        _ selection: RunSelection, environment: RunEnvironment, takesLost: Bool = false
    ) {
        self.selection = selection
        self.environment = environment
        self.takesLost = takesLost
    }

    private var files: DurableFileSystem { environment.files }

    /// Looks at what would go, and removes it where asked to.
    ///
    /// - Parameters:
    ///   - removes: whether to remove; otherwise nothing is changed.
    ///   - observe: told how many stores were looked at, after each of them.
    /// - Returns: what goes, or went.
    /// - Throws: `RunError.nothingToDo` for an unfinished run, `.ledger`.
    package func run(
        removes: Bool, observe: (Int) -> Void = { _ in }
    ) throws(RunError) -> PruneEstimate {
        try StateFolder(selection.state, files: files).withLedger("pruning") {
            ledger, state throws(RunError) in
            let selected = try SelectedRun(
                selection, ledger: ledger, state: state, environment: environment,
                wanted: [.done, .failed, .rolledBack, .cancelled])
            guard !selected.run.state.isUnfinished else {
                throw .nothingToDo(
                    "the run \(selected.run.id) is not finished: resume it or cancel it first")
            }
            var estimate = PruneEstimate(run: selected.run.id)
            // Measured before anything is removed.
            let folder = selection.store == nil ? try measuredFolder(selected) : nil
            let ends: Set<StoreState> = [.done, .failed, .rolledBack, .cancelled]
            var stores = 0
            _ = try selected.forEach(in: ends) { store throws(RunError) in
                try prune(store, selected, removes: removes, &estimate)
                stores += 1
                observe(stores)
            }
            // Reports stay as long as a store of theirs is not pruned.
            guard let folder, estimate.refused.isEmpty else { return estimate }
            estimate.leftovers.append(folder.path)
            estimate.bytes = estimate.bytes.addingClamped(folder.bytes)
            if removes { try RunError.translating { try files.removeTree(folder.path) } }
            return estimate
        }
    }

    private func prune(
        _ store: StoreSummary, _ selected: SelectedRun, removes: Bool,
        _ estimate: inout PruneEstimate
    ) throws(RunError) {
        do throws(RunError) {
            if try selected.hasBegunRollback(of: store) {
                throw .nothingToDo(
                    "the rollback of \(store.found.path) was interrupted. Run godwit rollback "
                        + "again to finish it")
            } else if store.state == .done, store.found.output == nil,
                try selected.hasSwap(of: store)
            {
                try pruneBackup(store, selected, removes: removes, &estimate)
            } else if store.state == .failed, try selected.begunSwap(of: store) != nil {
                throw .nothingToDo(
                    "the swap of \(store.found.path) was not recorded to its end: replay it or "
                        + "roll it back first")
            } else if let places = try selected.presentPlaces(of: store) {
                // A publication that was stopped halfway, and results and originals that may be all
                // that is left of their stores.
                if store.state != .done {
                    try selected.takeBackPublication(
                        of: store, takesLost: takesLost, removes: removes)
                }
                // A swap that stopped before it changed the store has left the names of its backup.
                if let left = try selected.discardBackup(of: store, removes: removes) {
                    try pruneUnswapped(left, removes: removes, &estimate)
                }
                try RunError.translating {
                    // The run's folder counts as a whole.
                    let bytes = try places.bytes(countsFolder: selection.store != nil)
                    estimate.bytes = estimate.bytes.addingClamped(bytes)
                    if removes { try places.removeAll(files) }
                }
            }
            if removes { try selected.record([selected.changed(store, .pruned)]) }
        } catch {
            if case .ledger = error { throw error }
            estimate.refused.append(
                StoreChange(path: store.found.path, failure: error, text: "not pruned"))
        }
    }

    private func pruneBackup(
        _ store: StoreSummary, _ selected: SelectedRun, removes: Bool,
        _ estimate: inout PruneEstimate
    ) throws(RunError) {
        guard let swap = try selected.lastSwap(of: store)?.plan else {
            throw .engine(.internalError("a swapped store has no swap in the ledger"))
        }
        let isThere = try hasBackup(swap)
        if !isThere {
            guard try isMounted(swap) else { return }
        }
        if removes { try selected.settleStopped(store) }
        let rollback = try selected.unfinishedRollback(of: store)
        do throws(RunError) {
            let plan = try RunError.translating {
                let lock = try StoreLock(swap.store.path, faults: files.faults)
                defer { lock.release() }
                guard try StoreProbe(files: files).isReadable(swap.store.path) else {
                    throw StoreError.notAStore(
                        path: swap.store.path.description,
                        reason: "it holds no metadata of Core Data")
                }
                let plan = try self.plan(
                    swap, rollback, selected.folders.folder.appending("prune"),
                    RecordedRequest(reading: selected.run.record.request))
                if removes {
                    for kept in try plan.run(files: files, under: lock) {
                        environment.warn(CutOver.words(ofKept: kept))
                    }
                }
                return plan
            }
            estimate.count(swap, isThere: isThere)
            estimate.bytes = estimate.bytes.addingClamped(plan.bytes)
        } catch {
            guard try isLost(swap, error) else { throw error }
            let hasRest = try hasRest(swap)
            guard isThere || hasRest else { return }
            guard takesLost else {
                throw .lostStore(
                    "\(swap.store.path) is missing or is no longer the store of this run. Its kept "
                        + "original in \(swap.backupFolder) may be the only copy. Roll the store "
                        + "back, or prune lost stores to remove that original")
            }
            try removeLost(swap, rollback, removes: removes, &estimate)
        }
    }

    /// Whether a store is gone, or is no Core Data store any more.
    ///
    /// `error`: why its backup cannot be pruned as that of a store that is there.
    private func isLost(_ swap: SwapPlan, _ error: RunError) throws(RunError) -> Bool {
        let path = swap.store.path
        if case .store(.notAStore(path.description, _)) = error { return true }
        return try RunError.translating {
            try FileStatus.ifPresentLink(path)?.isRegularFile != true
        }
    }

    private func hasBackup(_ swap: SwapPlan) throws(RunError) -> Bool {
        try RunError.translating { try FileStatus.ifPresentLink(swap.mainBackup) != nil }
    }

    /// Whether other files of a kept original are there than its main file.
    private func hasRest(_ swap: SwapPlan) throws(RunError) -> Bool {
        let rest = swap.backups.map(\.backup) + [swap.externalData?.backup].compactMap(\.self)
        return try RunError.translating {
            try rest.contains { try FileStatus.ifPresentLink($0) != nil }
        }
    }

    /// Whether the folder of a store is the one of the run, where the kept original is not there.
    ///
    /// An operator may have removed the original by hand, with the store's folder or alone. Or its
    /// file system is not mounted, and whatever is there lies on another one.
    ///
    /// - Returns: false where it may not be and that does not matter.
    /// - Throws: `RunError.nothingToDo` where it matters.
    private func isMounted(_ swap: SwapPlan) throws(RunError) -> Bool {
        let folder = swap.store.path.parent
        let found = try RunError.translating { try FileStatus.ifPresent(folder)?.identity }
        let isMounted = found.map { folder in
            // Plans of older versions do not name the folder.
            swap.parent?.isStill(folder) ?? (folder.device == swap.store.identity.device)
        }
        guard takesLost || isMounted == true else {
            throw .lostStore(
                "the kept original of \(swap.store.path) is not in \(swap.backupFolder), and "
                    + "\(folder) is not the folder of the run; check that its file system is "
                    + "mounted. If you prune lost stores, Godwit treats the original as removed")
        }
        return isMounted == true
    }

    /// Removes what a swap that stopped before it changed the store has left of a store that is
    /// lost, if that is asked for.
    ///
    /// - Throws: `RunError.nothingToDo` where it is not.
    private func pruneUnswapped(
        _ swap: SwapPlan, removes: Bool, _ estimate: inout PruneEstimate
    ) throws(RunError) {
        guard try hasBackup(swap) else {
            _ = try isMounted(swap)
            return
        }
        guard takesLost else {
            throw .lostStore(
                "\(swap.store.path) is gone, or another file has its name, and what its swap left "
                    + "in \(swap.backupFolder) may be all that is left of it: copy it from there, "
                    + "then prune lost stores to remove it")
        }
        try removeLost(swap, nil, removes: removes, &estimate)
    }

    private func removeLost(
        _ swap: SwapPlan, _ rollback: RollbackPlan?, removes: Bool, _ estimate: inout PruneEstimate
    ) throws(RunError) {
        let isThere = try hasBackup(swap)
        let plan = try RunError.translating {
            let plan = try PrunePlan(lost: swap, rollback: rollback)
            if removes { try plan.run(files: files, under: nil) }
            return plan
        }
        estimate.count(swap, isThere: isThere)
        estimate.bytes = estimate.bytes.addingClamped(plan.bytes)
    }

    private func plan(
        _ swap: SwapPlan, _ rollback: RollbackPlan?, _ scratch: FilePath,
        _ request: RecordedRequest
    ) throws -> PrunePlan {
        // A process that was killed leaves its own.
        ScratchRemoval.remove(scratch, files)
        defer { ScratchRemoval.remove(scratch, files) }
        let live = try liveStore(swap, scratch, request)
        // Without the main file nothing tells what it referred to: an earlier prune was stopped.
        guard let external = swap.externalData, let main = swap.backups.first,
            try FileStatus.ifPresent(external.backup) != nil,
            try FileStatus.ifPresent(main.backup) != nil, let live
        else {
            return try PrunePlan(
                swap, backupNames: [], storeNames: [], rollback: rollback, files: files)
        }
        let existing = try files.names(in: external.backup).map(\.description)
        // Another store may refer to the same files.
        guard try !sharesExternalData(swap.store.path) else {
            return try PrunePlan(
                swap, backupNames: [], storeNames: [], rollback: rollback, files: files)
        }
        return try PrunePlan(
            swap,
            backupNames: try ReferencedNames(
                of: main.backup, scratch: scratch.appending("backup"), model: request.sourceModel,
                files: files
            ).names,
            storeNames: live.names,
            existing: Set(existing), rollback: rollback, files: files)
    }

    /// Looks at the store whose original is to go.
    ///
    /// - Returns: what it refers to; nil where it is as it was installed and has no external data.
    /// - Throws: `StoreError.notAStore` where it is damaged, where another store has its name, or
    ///   where only the backup has a file that it refers to, because another file has its name.
    /// - Complexity: reads a store that was written since its swap.
    private func liveStore(
        _ swap: SwapPlan, _ scratch: FilePath, _ request: RecordedRequest
    ) throws -> ReferencedNames? {
        let path = swap.store.path
        let isInstalled = swap.newFile.isSame(try FileStatus(of: path).identity)
        guard swap.externalData != nil || !isInstalled else { return nil }
        let live: ReferencedNames
        do {
            // One that was migrated further since holds its own model.
            live = try ReferencedNames(
                of: path, scratch: scratch.appending("store"),
                model: request.destination?.model ?? request.sourceModel, files: files)
        } catch let error as StoreError {
            // Its pages were checked before its model was looked for.
            guard swap.externalData == nil, case .modelMissing = error else { throw error }
            return nil
        }
        func lost(_ reason: String) -> StoreError {
            .notAStore(path: path.description, reason: reason)
        }
        // A link in the backup's place is refused.
        let tree = try HeldTree(path.parent, store: path, faults: files.faults)
        if try tree.status(of: swap.mainBackup) != nil,
            let kept = SourceLook.identifier(of: swap.mainBackup), kept != live.identifier
        {
            throw lost("another store has its name")
        }
        let replaced = try ExternalDataLook(of: swap, files).replaced(of: swap)
        guard replaced.isDisjoint(with: live.names) else {
            throw lost("other files have the names of its external data")
        }
        return live
    }

    /// Whether a file beside the store has the same folder of external data: one whose name
    /// differs in nothing but the extension.
    private func sharesExternalData(_ store: FilePath) throws -> Bool {
        let support = StoreLocation(store).support
        let companions = StoreLocation(store).companions
        return try files.names(in: store.parent).contains { name in
            let other = store.parent.appending(name)
            guard other != store, other != support, !companions.contains(other) else {
                return false
            }
            return StoreLocation(other).support == support
        }
    }

    /// The run's folder with the bytes of its files; nil where it is gone.
    private func measuredFolder(
        _ selected: SelectedRun
    ) throws(RunError) -> (path: FilePath, bytes: Int64)? {
        let folder = selected.folders.folder
        return try RunError.translating {
            guard try FileStatus.ifPresent(folder) != nil else { return nil }
            let files = try files.tree(at: folder).filter(\.status.isRegularFile)
            return (folder, files.reduce(0) { $0.addingClamped($1.status.size) })
        }
    }
}

/// Removes scratch on a way out that has its own result or error.
enum ScratchRemoval {
    static func remove(_ folder: FilePath, _ files: DurableFileSystem) {
        do throws(DurableFileError) { try files.removeTree(folder) } catch { return }
    }
}
