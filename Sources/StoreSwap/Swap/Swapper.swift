import CoreDataStore
package import DurableFiles
import SafeSQLite
package import StoreLocks

/// What a swap did.
package struct SwapReceipt: Sendable {
    /// What of the original's owner and attributes could not be carried over, where this call
    /// did that step.
    package var lost: [LostAttribute] = []
    /// Files that lost the store's name: keep them until no program can come that looked the name
    /// up before, and act on those that do (`BackupSeparation`).
    package var replaced: [ReplacedFile] = []
    /// Files of other programs that now lie beside the store under names of their own: those
    /// programs put them in its place while the swap was stopped, and others wrote to what had the
    /// name then.
    package var kept: [FilePath] = []
}

/// Carries out swap plans.
///
/// Synchronous, and the only place where a store's name changes hands. It begins only when no
/// program has the store open. A program that opens it meanwhile waits in open(2) and gets the
/// original, before anything has changed, or the result.
package struct Swapper {
    let files: DurableFileSystem
    let clients: ClientPolicy
    let reportKept: (FilePath) -> Void

    /// - Parameters:
    ///   - files: through which files are changed.
    ///   - clients: how long to wait for programs that have the store open.
    ///   - reportKept: told, where a call throws, of each file that lies beside the store under a
    ///     name of its own since.
    package init(
        files: DurableFileSystem, clients: ClientPolicy = ClientPolicy(),
        reportKept: @escaping (FilePath) -> Void = { _ in }
    ) {
        self.files = files
        self.clients = clients
        self.reportKept = reportKept
    }

    /// Carries out a plan, or what is left of it after a crash.
    ///
    /// The store's own state has the last word on where to resume: steps that are seen to be done
    /// are not done again, whatever `first` says.
    ///
    /// - Parameters:
    ///   - plan: as it was recorded.
    ///   - first: the first step that is not known to be done, 0 … `plan.steps.count`.
    ///   - lock: of the plan's store; covers the new file and the snapshot afterwards.
    ///   - journal: called for each step before and after, by its place in `plan.steps`; what it
    ///     throws ends the swap between two steps.
    ///   - recording: called with files of the backup that became copies, before anything else
    ///     moves; what it throws ends the swap there.
    /// - Returns: what was done.
    /// - Throws: what the journal throws, or `SwapError`: `.storeBusy` where a program has the
    ///   store open; `.clientsHidden` where that cannot be seen; `.sourceChanged`
    ///   where a program wrote it, which leaves it as it is; `.swapOutcomeUnknown` where the files
    ///   contradict the journal; `.file`. The store is whole after each. After a failed sync
    ///   (`isFailedSync`) the new file must not be used any more: make it again.
    package func run(
        _ plan: SwapPlan, from first: Int = 0, under lock: StoreLock,
        journal: (Int, StepMoment) throws -> Void = { _, _ in },
        recording: ([BackupRecord.Entry]) throws -> Void = { _ in }
    ) throws -> SwapReceipt {
        let moves = try StoreMoves(
            store: plan.store.path, files: files, lock: lock, clients: clients)
        var receipt = SwapReceipt()
        do {
            receipt.replaced = try SwapError.passing {
                try replace(plan, from: first, moves, &receipt, journal, recording)
            }
            receipt.kept = moves.moved.kept
        } catch {
            moves.moved.kept.forEach(reportKept)
            // Who looks into the backup meanwhile would use the store beside another log.
            if (error as? SwapError)?.refusesSwap == true {
                try SwapError.translating { try moves.giveUpBackup(of: plan) }
            }
            throw error
        }
        return receipt
    }

    private func replace(
        _ plan: SwapPlan, from first: Int, _ moves: StoreMoves, _ receipt: inout SwapReceipt,
        _ journal: (Int, StepMoment) throws -> Void,
        _ recording: ([BackupRecord.Entry]) throws -> Void
    ) throws -> [ReplacedFile] {
        var steady: [PlannedFile] = []
        return try moves.whileClientsAreOut { letIn in
            try moves.cover(plan.store.path)
            try coverBackup(of: plan, moves)
            try coverNewFiles(of: plan, moves)
            try moves.settleAsides(of: plan, known: plan.known)
            let start = try resume(plan, from: first, moves)
            try checkSteady(plan, moves, &steady)
            for (index, step) in plan.steps.enumerated().dropFirst(start) {
                if step.isFirstChange(of: plan) { try letIn() }
                try journal(index, .begun)
                let copies = try SwapError.translating {
                    try perform(step, plan, moves, &receipt)
                }
                if !copies.isEmpty { try recording(copies) }
                try journal(index, .done)
            }
        }
    }

    /// Keeps clients out of what is to get the store's name, before the original loses it.
    private func coverNewFiles(of plan: SwapPlan, _ moves: StoreMoves) throws {
        for file in [plan.snapshot, plan.newFile].compactMap({ $0 }) {
            guard let status = try moves.tree.status(of: file.path), file.isFile(status.identity)
            else { continue }
            try moves.cover(file.path)
        }
    }

    /// A program that waited for a new file was let in before this begins again, and may have
    /// written it: who made the file can still reach it, and can set every time back but the one
    /// that changes then.
    private func checkSteady(
        _ plan: SwapPlan, _ moves: StoreMoves, _ steady: inout [PlannedFile]
    ) throws {
        let first = steady.isEmpty
        for file in [plan.snapshot, plan.newFile].compactMap({ $0 }) {
            guard let status = try moves.tree.status(of: file.path) else { continue }
            let now = PlannedFile(path: file.path, identity: status.identity)
            if first {
                steady.append(now)
            } else if !steady.contains(now) {
                throw gone(file, moves)
            }
        }
    }

    /// Keeps clients out of an original that has lost its name already, in a swap that a killed
    /// process began: what it held back may have the file open now.
    private func coverBackup(of plan: SwapPlan, _ moves: StoreMoves) throws {
        let live = try moves.live()
        guard !plan.store.isFile(live), let backup = try moves.tree.status(of: plan.mainBackup),
            plan.store.isFile(backup.identity)
        else { return }
        do throws(SwapError) {
            try moves.cover(plan.mainBackup)
        } catch {
            // The result has its name: the old file can no longer be kept from them, but the
            // backup can.
            guard plan.newFile.isFile(live), case .storeBusy = error else { throw error }
        }
    }

    /// Looks whether a plan can be carried out, or resumed; nothing is changed.
    ///
    /// - Parameters:
    ///   - plan: as it was recorded.
    ///   - lock: of the plan's store.
    /// - Throws: what `run` would throw before its first step.
    package func check(_ plan: SwapPlan, under lock: StoreLock) throws(SwapError) {
        let moves = try StoreMoves(
            store: plan.store.path, files: files, lock: lock, clients: clients)
        defer { lock.admitClients() }
        try moves.cover(plan.store.path)
        _ = try SwapError.translating { try resume(plan, from: 0, moves) }
    }

    func restoreExternalData(of plan: SwapPlan, _ moves: StoreMoves) throws {
        guard let folder = plan.externalData else { return }
        try moves.restoreExternalData(folder, plan.record, others: .stay)
    }

    /// - Returns: files of the backup that became copies.
    private func perform(
        _ step: SwapStep, _ plan: SwapPlan, _ moves: StoreMoves, _ receipt: inout SwapReceipt
    ) throws -> [BackupRecord.Entry] {
        switch step {
        case .carryAttributes(_, let targets):
            receipt.lost += try moves.carryAttributes(of: plan, to: targets)
        case .backUp: return try moves.backUp(plan)
        case .addExternalData(let added, let folders): try add(added, folders, moves)
        case .settle(let snapshot):
            try moves.replaceStore(with: snapshot, insteadOf: plan.known) {
                try moves.putBack(plan, insteadOf: snapshot.path)
            }
        case .removeCompanions(let paths):
            try moves.removeCompanions(paths, of: plan, known: plan.known)
        case .install(let file):
            // The result refers to them.
            try restoreExternalData(of: plan, moves)
            if !file.isFile(try moves.live()) { try clearWay(plan, moves) }
            try moves.replaceStore(with: file, insteadOf: plan.known) {
                try moves.putBack(plan, insteadOf: file.path)
            }
        }
        return []
    }

    /// What a reader left beside the store since the step before must not meet the new file.
    private func clearWay(_ plan: SwapPlan, _ moves: StoreMoves) throws {
        guard try moves.companionsWithContent().isEmpty else {
            throw SwapError.changed(plan.store.path)
        }
        let left = try StoreLocation(plan.store.path).companions.filter {
            try moves.tree.status(of: $0) != nil
        }
        if !left.isEmpty { try moves.removeCompanions(left, of: plan, known: plan.known) }
    }

    private func add(
        _ added: [AddedFile], _ folders: [FilePath], _ moves: StoreMoves
    ) throws {
        for folder in folders { try moves.tree.makeFolder(folder) }
        for addition in added {
            if let present = try moves.tree.status(of: addition.target),
                addition.file.isFile(present.identity)
            {
                continue
            }
            try moves.tree.rename(addition.file.path, to: addition.target, existing: .refuse)
            guard let named = try moves.tree.status(of: addition.target),
                addition.file.isFile(named.identity)
            else { throw moves.refusal("\(addition.target) is not the file that was planned") }
        }
        let targets = Set(added.map(\.target.parent))
        for folder in targets.sorted() { try moves.tree.syncFolder(folder) }
        for folder in Set(added.map(\.file.path.parent)).subtracting(targets).sorted() {
            try moves.syncSource(folder)
        }
    }

    /// Where to begin: what has the store's name tells which steps are done for certain.
    private func resume(_ plan: SwapPlan, from first: Int, _ moves: StoreMoves) throws -> Int {
        let live = try moves.live()
        let install = plan.steps.count - 1
        let settle = plan.steps.firstIndex { if case .settle = $0 { true } else { false } }
        if plan.newFile.isFile(live) { return max(first, install) }
        let position: (earliest: Int, latest: Int)
        if plan.store.isSame(live) {
            position = (0, settle ?? install)
        } else if let settle, let snapshot = plan.snapshot, snapshot.isSame(live) {
            position = (settle, install)
        } else {
            throw SwapError.changed(plan.store.path)
        }
        guard first <= position.latest else {
            throw SwapError.swapOutcomeUnknown(
                store: plan.store.path.description,
                reason: "step \(first) of its swap is next, but the file that has its name "
                    + "belongs to step \(position.latest) or an earlier one")
        }
        let isSettled = !plan.store.isSame(live)
        if !isSettled { try refuseHardLinks(plan, moves) }
        try checkExternalData(plan, moves)
        try checkCompanions(plan, isSettled: isSettled, moves)
        try checkUnchanged(plan.newFile, moves)
        if !isSettled, let snapshot = plan.snapshot { try checkUnchanged(snapshot, moves) }
        // As long as no step was begun, not even a name or a right has changed: who writes a file
        // can set every time back but this one.
        if !isSettled, try moves.tree.status(of: plan.mainBackup) == nil {
            for file in [plan.newFile, plan.snapshot].compactMap({ $0 }) {
                guard let now = try moves.tree.status(of: file.path),
                    now.identity == file.identity
                else { throw gone(file, moves) }
            }
        }
        return max(first, position.earliest)
    }

    /// No file of external data that is in place, or can be put back, has changed.
    private func checkExternalData(_ plan: SwapPlan, _ moves: StoreMoves) throws {
        guard let folder = plan.externalData else { return }
        for entry in plan.record?.entries ?? [] where entry.path.parent == folder.backup {
            let original = folder.original.appending(entry.path.lastComponent)
            switch try ExternalDataLook(moves.tree).state(of: entry, named: original) {
            case .inPlace, .isGone: continue
            case .isReplaced, .lost: throw SwapError.changed(plan.store.path)
            }
        }
    }

    /// A name that the store got since the plan was made would stay with the original.
    private func refuseHardLinks(_ plan: SwapPlan, _ moves: StoreMoves) throws {
        guard let status = try moves.tree.status(of: plan.store.path), status.links > 1 else {
            return
        }
        let own = try SwapFacts.backups(of: plan.store, moves.files)
        guard status.links > own + 1 else { return }
        throw SwapError.severalHardLinks(
            store: plan.store.path.description, links: status.links - own)
    }

    /// Each companion is the one of the plan, or it is gone and was not needed.
    private func checkCompanions(
        _ plan: SwapPlan, isSettled: Bool, _ moves: StoreMoves
    ) throws {
        let path = plan.store.path
        for kind in StoreCompanion.withContent {
            let known = plan.backups.first { $0.kind == kind }
            let isSame: Bool
            if let present = try moves.tree.status(of: StoreLocation(path).companion(kind)) {
                isSame =
                    try known?.original.isSame(present.identity) == true
                    || kind.content(of: path, files: moves.files) == .none
                        && known?.hasContent != true
            } else {
                isSame = known?.hasContent != true || isSettled
            }
            guard isSame else { throw SwapError.changed(path) }
        }
    }

    private func checkUnchanged(_ file: PlannedFile, _ moves: StoreMoves) throws {
        guard let status = try moves.tree.status(of: file.path), file.isSame(status.identity)
        else { throw gone(file, moves) }
    }

    private func gone(_ file: PlannedFile, _ moves: StoreMoves) -> SwapError {
        moves.refusal(
            "\(file.path), which was to take its place, is gone or changed; run the same "
                + "command again")
    }
}

extension SwapError {
    /// Whether a swap ended before any name of its store had changed, because of the store.
    fileprivate var refusesSwap: Bool {
        switch self {
        case .sourceChanged, .storeBusy, .clientsHidden, .severalHardLinks, .swapRefused: true
        case .store, .file, .storeChangedSinceSwap, .swapOutcomeUnknown, .internalError: false
        }
    }
}

extension SwapStep {
    /// Whether the step is the first of a plan after which a program that opened the store before
    /// would do harm.
    fileprivate func isFirstChange(of plan: SwapPlan) -> Bool {
        plan.steps.first { step in
            switch step {
            // The result stays as it was validated until then.
            case .carryAttributes, .settle, .removeCompanions, .install: true
            case .backUp, .addExternalData: false
            }
        } == self
    }
}
