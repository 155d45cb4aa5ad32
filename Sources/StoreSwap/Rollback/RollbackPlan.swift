import CoreDataStore
package import DurableFiles

/// One step of a rollback; each can be done again after a crash.
package enum RollbackStep: Hashable, Sendable, Codable {
    /// Files of external data that are gone come back from the backup.
    case restoreExternalData(BackedUpFolder)
    /// A file that is the whole of what the store holds by then takes its name.
    case replaceStore(PlannedFile)
    /// What lies beside the live store goes: its main file is the whole of it.
    case removeCompanions([FilePath])
    /// The original's companions come back beside a file that reads the same with them.
    case restoreCompanions([BackedUpFile])
    /// The original's main file takes the store's name.
    case restoreMain(BackedUpFile, link: FilePath)
    /// What the swap brought in goes.
    case removeAdded([AddedFile], folders: [FilePath])
    /// The backup's names go; the files themselves have their own names again.
    case removeBackup(folder: FilePath, files: [FilePath], trees: [FilePath])
}

/// What a rollback does, in order.
///
/// A value, made once and recorded before it is carried out.
///
/// Between any two system calls of it the store reads as the whole original or the whole of what
/// the swap, and perhaps a program since, made of it.
package struct RollbackPlan: Hashable, Sendable, Codable {
    package let facts: RollbackFacts
    /// The live store in one file, where a program's changes lie in its `-wal` or journal.
    package let settled: PlannedFile?
    /// The original in one file, where it has a `-wal` or journal with content.
    package let whole: PlannedFile?
    /// Whether changes since the swap may be lost; nil in plans of versions that did not record it.
    let discardsChanges: Bool?
    package let steps: [RollbackStep]

    /// What may have had the store's name before a file of this plan, and lain beside it.
    var known: [PlannedFile] {
        [facts.live] + facts.swap.known + copies + facts.companions.map(\.file)
    }

    /// The files that were made for it.
    var copies: [PlannedFile] { [settled, whole].compactMap(\.self) }

    /// A copy that must be made before a plan can be.
    package struct Copy: Hashable, Sendable {
        /// The companion that is to be applied to it.
        package let kind: StoreCompanion
        package let path: FilePath
    }

    /// The copies that a rollback needs; nil for those that it does not.
    package struct Copies: Hashable, Sendable {
        /// Of the live store.
        package let settled: Copy?
        /// Of the original.
        package let whole: Copy?
    }

    /// Decides which copies a rollback needs, or why it must not be done.
    ///
    /// - Throws: `SwapError.storeChangedSinceSwap` unless changes are to be discarded,
    ///   `.swapRefused` where the backup is gone, `.swapOutcomeUnknown` where it is not what the
    ///   swap put there.
    package static func copies(
        _ facts: RollbackFacts, discardsChanges: Bool
    ) throws(SwapError) -> Copies {
        let store = facts.swap.store.path.description
        guard facts.position != .changed || discardsChanges || facts.isEmpty else {
            throw .storeChangedSinceSwap(store: store)
        }
        if facts.position != .original {
            guard facts.backups.contains(where: { $0.found != nil }) else {
                throw .swapRefused(
                    store: store,
                    reason: "its backup \(facts.swap.backupFolder) is gone, or was pruned")
            }
            if let broken = facts.backups.first(where: { !$0.isWhole }) {
                throw .swapOutcomeUnknown(
                    store: store,
                    reason: "the backup \(broken.file.backup) is gone, was written since the swap, "
                        + "or is another file"
                )
            }
        }
        // Beside an empty file nothing can be read from a log or a journal.
        let isLost = discardsChanges && facts.live.identity.size == 0
        let contents = isLost ? [] : facts.companions.filter { $0.content != .none }
        if let foreign = contents.first(where: { $0.content != .pages }) {
            throw .swapRefused(
                store: store, reason: "\(foreign.file.path) does not belong to it")
        }
        guard contents.count <= 1 else {
            throw .swapRefused(store: store, reason: "it has both a -wal and a journal")
        }
        let needed = facts.swap.backups.compactMap { $0.hasContent ? $0.kind : nil }.first
        let needsWhole = facts.position == .result || facts.position == .changed
        func copy(_ kind: StoreCompanion?, _ purpose: String) -> Copy? {
            kind.map { Copy(kind: $0, path: scratch(purpose, facts.swap)) }
        }
        return Copies(
            settled: facts.position == .changed ? copy(contents.first?.kind, "live") : nil,
            whole: needsWhole ? copy(needed, "whole") : nil)
    }

    /// A name of our own in the backup's folder, different for each store there.
    static func scratch(_ purpose: String, _ swap: SwapPlan) -> FilePath {
        let digest = ContentDigest.hexadecimal(of: swap.store.path.lastComponent.bytes)
        return swap.backupFolder.appending(".godwit-\(purpose)-\(digest.prefix(16))")
    }

    /// Decides what to do.
    ///
    /// - Parameters:
    ///   - facts: as they were read for the copies.
    ///   - settled: the copy of the live store, where one was asked for.
    ///   - whole: the copy of the original, where one was asked for.
    ///   - discardsChanges: whether changes since the swap may be lost.
    package init(
        _ facts: RollbackFacts, settled: PlannedFile?, whole: PlannedFile?,
        discardsChanges: Bool = false
    ) {
        self.facts = facts
        self.discardsChanges = discardsChanges
        self.settled = settled
        self.whole = whole
        let swap = facts.swap
        let path = swap.store.path
        var steps: [RollbackStep] = []
        if let external = swap.externalData { steps.append(.restoreExternalData(external)) }
        let companions = swap.backups.filter { $0.kind != nil }
        let (needed, empty) = (
            companions.filter(\.hasContent), companions.filter { !$0.hasContent }
        )
        if facts.position == .result || facts.position == .changed {
            if let settled { steps.append(.replaceStore(settled)) }
            steps.append(.removeCompanions(StoreLocation(path).companions))
            if let whole { steps.append(.replaceStore(whole)) }
        }
        // The snapshot of a stopped swap is the whole original, too.
        if facts.position != .original, let main = swap.backups.first {
            if !needed.isEmpty { steps.append(.restoreCompanions(needed)) }
            steps.append(.restoreMain(main, link: RollbackPlan.scratch("link", swap)))
        }
        if !empty.isEmpty { steps.append(.restoreCompanions(empty)) }
        if !swap.added.isEmpty {
            steps.append(.removeAdded(swap.added, folders: swap.addedFolders.reversed()))
        }
        self.steps =
            steps + [
                .removeBackup(
                    folder: swap.backupFolder, files: swap.backups.map(\.backup),
                    trees: swap.scratch)
            ]
    }
}
