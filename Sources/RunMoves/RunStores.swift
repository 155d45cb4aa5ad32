import CoreDataStore
package import DurableFiles
import Foundation
package import Jobs
import MigrationEngine
package import RunLedger
package import StateFolders
import StoreLocks
import StoreRuns
import StoreSwap

/// What a later command works on: a run of a state folder, all of its stores or one of them.
package struct RunSelection: Sendable {
    package var state: FilePath
    /// The run's id; nil takes the newest, or the newest that has the store.
    package var run: String?
    /// One store by its path, as the run knows it; nil takes all.
    package var store: FilePath?

    package init(state: FilePath, run: String? = nil, store: FilePath? = nil) {
        self.state = state
        self.run = run
        self.store = store
    }
}

/// What a later command did with one store.
package struct StoreChange: Sendable {
    package let path: FilePath
    /// Nil where it was done; the store is whole either way.
    package let failure: RunError?
    /// Words on what was done.
    package let text: String
}

/// A run that a command was pointed at, with the stores that it may work on.
package struct SelectedRun {
    package let run: RunOverview
    let ledger: Ledger
    let environment: RunEnvironment
    let selection: RunSelection
    let folders: RunFolders
    /// What the run's files beside stores are called by.
    let mark: String

    /// Finds the run.
    ///
    /// - Parameters:
    ///   - selection: what was named.
    ///   - ledger: of the state folder.
    ///   - state: the folder without symbolic links.
    ///   - environment: files and clocks.
    ///   - wanted: what the command works on: of a store that several runs have, the newest run
    ///     is meant in which it is that.
    ///   - swapped: the states of these that count only where the run has a swap of the store.
    /// - Throws: `RunError.nothingToDo` where there is none.
    package init(
        _ selection: RunSelection, ledger: Ledger, state: FilePath, environment: RunEnvironment,
        wanted: Set<StoreState>, swapped: Set<StoreState> = [.done]
    ) throws(RunError) {
        let book = RunRegistry(ledger: ledger, environment: environment)
        if selection.run == nil, let path = selection.store {
            run = try SelectedRun.newest(with: path, in: wanted, swapped, ledger: ledger)
        } else {
            run = try book.find(selection.run, state: state)
        }
        self.ledger = ledger
        self.environment = environment
        self.selection = selection
        folders = RunFolders(state: state, run: run.id)
        mark = try RecordedRequest(reading: run.record.request).mark + "-\(run.id)"
    }

    private static func newest(
        with path: FilePath, in wanted: Set<StoreState>, _ swapped: Set<StoreState>,
        ledger: Ledger
    ) throws(RunError) -> RunOverview {
        var fallback: RunOverview?
        do throws(LedgerError) {
            for run in try ledger.runs() {
                guard let store = try ledger.store(run: run.id, path: path) else { continue }
                // A store that was of the version already was never swapped by that run, nor was
                // one that failed before its swap.
                if wanted.contains(store.state) {
                    let steps = try ledger.swapSteps(run: run.id, store: store.number)
                    let last = steps.last { $0.kind == .swap }
                    let hasSwap = last.map { $0.phase != .void } ?? false
                    if hasSwap || !swapped.contains(store.state) { return run }
                }
                fallback = fallback ?? run
            }
        } catch {
            throw .ledger(error)
        }
        if let fallback { return fallback }
        throw .nothingToDo("no run of this state folder has the store \(path)")
    }

    /// Calls a body for every selected store in one of the states, page by page.
    ///
    /// - Returns: how many there were.
    package func forEach(
        in states: Set<StoreState>, _ body: (StoreSummary) throws(RunError) -> Void
    ) throws(RunError) -> Int {
        var count = 0
        var last: Int?
        while true {
            let page = try read { ledger throws(LedgerError) in
                try ledger.stores(of: run.id, in: states, after: last, limit: 500)
            }
            guard let end = page.last?.number else { return count }
            last = end
            for store in page where selection.store == nil || store.found.path == selection.store {
                count += 1
                try body(store)
            }
        }
    }

    func read<Result>(
        _ body: (Ledger) throws(LedgerError) -> Result
    ) throws(RunError) -> Result {
        try RunError.ledger { () throws(LedgerError) in try body(ledger) }
    }

    func record(_ records: [LedgerRecord]) throws(RunError) {
        try RunError.ledger { () throws(LedgerError) in try ledger.append(records) }
    }

    func changed(
        _ store: StoreSummary, _ state: StoreState, reason: FailureReason? = nil
    ) -> LedgerRecord {
        .storeChanged(
            run: run.id, store: store.number, state, reason: reason, at: environment.wallTime())
    }

    /// Whether a swap of a store stands in the ledger that was not cancelled since.
    ///
    /// - Throws: `RunError` where the ledger cannot be read.
    func hasSwap(of store: StoreSummary) throws(RunError) -> Bool {
        let last = try read { ledger throws(LedgerError) in
            try ledger.swapSteps(run: run.id, store: store.number)
        }.last { $0.kind == .swap }
        return last.map { $0.phase != .void } ?? false
    }

    /// The newest swap of a store, also one that was cancelled, with what was recorded of its
    /// backup since.
    func lastSwap(
        of store: StoreSummary
    ) throws(RunError) -> (plan: SwapPlan, isDone: Bool)? {
        let steps = try read { ledger throws(LedgerError) in
            try ledger.swapSteps(run: run.id, store: store.number)
        }
        let swaps = steps.indices.filter {
            steps[$0].kind == .swap && steps[$0].phase != .void
        }
        guard let last = swaps.last,
            case .swap(let plan) = try CutOverRecord(reading: steps[last].detail).way
        else { return nil }
        // What became of the backup was recorded between the two entries of the swap, or after it.
        let first = swaps.last { !steps[$0].isDone } ?? last
        return (try plan.recorded(in: steps, at: first), steps[last].isDone)
    }

    /// The swap of a store that stands in the ledger and is not recorded as done, where files
    /// have moved already: a process died between the two.
    func begunSwap(of store: StoreSummary) throws(RunError) -> SwapPlan? {
        guard store.found.output == nil, try hasSwap(of: store),
            let (plan, isDone) = try lastSwap(of: store), !isDone
        else { return nil }
        // What a program has put there instead, a link or a folder, is no file of the swap's.
        let isThere = try RunError.translating {
            try FileStatus.ifPresentLink(plan.store.path)?.isRegularFile == true
        }
        return try RunError.translating {
            guard isThere else {
                // The backup may be all that is left of the store.
                return try plan.hasMovedAll() ? plan : nil
            }
            let facts = try RollbackFacts(reading: plan, files: environment.files)
            return try plan.hasMoved(live: facts.live.identity) ? plan : nil
        }
    }

    /// The rollback of a store that stands in the ledger after its newest swap, and is not
    /// recorded as done.
    ///
    /// - Throws: `RunError` where the ledger cannot be read.
    func unfinishedRollback(of store: StoreSummary) throws(RunError) -> RollbackPlan? {
        let steps = try read { ledger throws(LedgerError) in
            try ledger.swapSteps(run: run.id, store: store.number)
        }
        guard let last = steps.last(where: { $0.kind != .backup }), last.kind == .rollback,
            !last.isDone
        else { return nil }
        return try RunError.translating {
            try JSONDecoder().decode(RollbackPlan.self, from: Data(last.detail.utf8))
        }
    }

    /// Whether a rollback that is not recorded as done has given the store's name to another file:
    /// a process died between the two, and the store is not what its state says.
    ///
    /// - Throws: `RunError` where the ledger cannot be read or the store cannot be looked at.
    func hasBegunRollback(of store: StoreSummary) throws(RunError) -> Bool {
        guard store.found.output == nil, let plan = try unfinishedRollback(of: store) else {
            return false
        }
        return try RunError.translating {
            guard let live = try FileStatus.ifPresent(plan.facts.swap.store.path) else {
                return false
            }
            return try Rollback(files: environment.files).hasBegun(plan, live: live.identity)
        }
    }

    /// Gives a log that a stopped rollback had moved aside its name back, where the rollback has
    /// changed nothing else and so is not resumed.
    ///
    /// - Throws: `RunError` where it cannot; the log is in the backup's folder then.
    func settleStopped(_ store: StoreSummary) throws(RunError) {
        guard let plan = try unfinishedRollback(of: store) else { return }
        let swap = plan.facts.swap
        try RunError.translating {
            let rollback = Rollback(files: environment.files)
            guard try rollback.hasAsides(plan),
                try FileStatus.ifPresentLink(swap.store.path)?.isRegularFile == true
            else { return }
            let lock = try StoreLock(swap.store.path, faults: environment.files.faults)
            defer { lock.release() }
            for kept in try rollback.settleAsides(of: plan, under: lock) {
                environment.warn(CutOver.words(ofKept: kept))
            }
        }
    }

    /// Removes the backup of a swap that stopped before it changed the store.
    ///
    /// - Parameters:
    ///   - store: of the run.
    ///   - removes: whether to remove it; otherwise nothing is changed.
    /// - Returns: the swap whose backup stays, because it may be all that is left of the store.
    /// - Throws: `RunError` where the ledger or a file cannot be read, or a file cannot be removed.
    @discardableResult
    func discardBackup(
        of store: StoreSummary, removes: Bool = true
    ) throws(RunError) -> SwapPlan? {
        guard store.found.output == nil, let (plan, isDone) = try lastSwap(of: store), !isDone
        else { return nil }
        return try RunError.translating {
            // Of a store that is gone, the backup may be all that is left.
            // The same where another file has the store's name.
            guard let live = try FileStatus.ifPresent(plan.store.path)?.identity,
                try plan.hasName(live) || !plan.hasMoved(live: live)
            else { return plan }
            // An original that was kept under a name of its own needs its external data.
            let isKept = try FileStatus.ifPresentLink(plan.mainBackup) == nil
            if isKept, !plan.hasName(live), plan.externalData != nil { return nil }
            guard removes else { return nil }
            let lock = try StoreLock(plan.store.path, faults: environment.files.faults)
            defer { lock.release() }
            if plan.store.isFile(live) {
                // What has its name may lack external data that only the backup has.
                for kept in try mover.swapper.abandon(plan, under: lock) {
                    environment.warn(CutOver.words(ofKept: kept))
                }
            }
            let removal = try PrunePlan(
                plan, backupNames: [], storeNames: [], files: environment.files)
            for kept in try removal.run(files: environment.files, under: lock) {
                environment.warn(CutOver.words(ofKept: kept))
            }
            return nil
        }
    }

    /// The files of a store's migration.
    func places(of store: StoreSummary) throws(RunError) -> StorePaths {
        let result: StoreLocation
        if let output = store.found.output {
            result = output
        } else {
            do throws(DurableFileError) {
                result = StoreLocation(try environment.files.resolveStore(store.found.path))
            } catch {
                throw .file(error)
            }
        }
        return StorePaths(
            folder: folders.folder(ofStore: store.number), mark: mark, number: store.number,
            result: result)
    }

    /// The files of a store's migration; nil where the folder that they would be in is gone.
    func presentPlaces(of store: StoreSummary) throws(RunError) -> StorePaths? {
        do throws(RunError) {
            return try places(of: store)
        } catch {
            guard case .file(let cause) = error, cause.isMissing else { throw error }
            return nil
        }
    }

    /// Ends an open run whose stores have all come to their end.
    func endIfFinished() throws(RunError) {
        try RunRegistry(ledger: ledger, environment: environment).endIfFinished(run.id)
    }
}

/// The short name that files of a run beside stores carry.
package enum RunMark {
    /// A name for a run that begins.
    ///
    /// State folders of several machines may have one path, and a folder that was lost begins with
    /// the first run again: what one run keeps beside a store must never be taken for another
    /// one's. Hence the identifier, which no other run has.
    package static func make(state: FilePath, identifier: String) -> String {
        let folder = ContentDigest.hexadecimal(of: state.bytes).prefix(8)
        return identifier.isEmpty ? "\(folder)" : "\(folder)-\(identifier)"
    }
}
