import CoreDataStore
import DurableFiles
import Jobs
import MigrationEngine
import RunLedger

// MARK: - Moves that no longer fit

extension StoreMover {
    /// The move that an earlier process wrote down, where it can still be made.
    ///
    /// Where the store was written since, or the result is gone, the move is void: the store
    /// is to be migrated again.
    ///
    /// - Parameters:
    ///   - found: the store.
    ///   - held: the store's lock, where the caller has it already.
    ///   - acceptsTrusted: whether the result may be one that its worker alone validated; such a
    ///     move is void otherwise, unless it has begun.
    /// - Returns: the move; nil where there is none, or it is void.
    /// - Throws: `RunError` where the store cannot be looked at, is in use, or was left between
    ///   two steps of its swap by a process that died and has been written since.
    func resumable(
        _ found: FoundStore, under held: StoreLock? = nil, acceptsTrusted: Bool = false
    ) throws(RunError) -> Recorded? {
        guard let recorded = try unfinished(found) else { return nil }
        if recorded.isTrusted, !acceptsTrusted, try withdraw(recorded) { return nil }
        switch recorded.way {
        case .publish(let plan):
            let isThere = try RunError.translating {
                try [plan.building.path, plan.output].contains { path in
                    try FileStatus.ifPresent(path).map { plan.building.isFile($0.identity) }
                        ?? false
                }
            }
            if isThere { return recorded }
            try giveUp(recorded)
            return nil
        case .swap(let plan):
            let lock: StoreLock
            do throws(DurableFileError) {
                if let held {
                    lock = held
                } else {
                    lock = try StoreLock(plan.store.path, faults: files.faults)
                }
            } catch {
                throw .file(error)
            }
            do throws(EngineError) {
                try swapper.check(plan, under: lock)
            } catch {
                guard try isVoid(plan, after: error) else { throw .engine(error) }
                let kept = try RunError.translating {
                    let kept = try swapper.abandon(plan, under: lock)
                    // A store that a program has replaced is not what the backup is of.
                    guard plan.hasName(try FileStatus(of: plan.store.path).identity) else {
                        return kept
                    }
                    // What has the store's name holds all that the backup holds.
                    let rest = try PrunePlan(
                        plan, backupNames: [], storeNames: [], isGivenUp: true, files: files)
                    try rest.run(files: files, under: lock)
                    return kept
                }
                try giveUp(recorded)
                guard kept.isEmpty else {
                    let words = kept.map(Self.words(ofKept:)).joined(separator: "; ")
                    throw .engine(
                        .swapRefused(
                            store: plan.store.path.description,
                            reason: words + ". Run the same command again"))
                }
                return nil
            }
            return Recorded(
                found: found, places: recorded.places, way: recorded.way,
                result: recorded.result, lock: lock, isTrusted: recorded.isTrusted)
        }
    }

    /// Withdraws a recorded move; false, and it stands, where it has begun: it is carried out
    /// then, because only that leaves the store whole.
    ///
    /// - Throws: `RunError` where the ledger or the files cannot be read or changed, and where
    ///   another run has the store.
    private func withdraw(_ recorded: Recorded) throws(RunError) -> Bool {
        if try hasBegun(recorded) { return false }
        switch recorded.way {
        case .publish: if try mayHaveBegun(recorded) { return false }
        case .swap(let plan):
            try RunError.translating {
                try abandon(plan, under: try StoreLock(plan.store.path, faults: files.faults))
            }
        }
        try giveUp(recorded)
        return true
    }

    /// Removes what a swap made before it changed the store.
    private func abandon(_ plan: SwapPlan, under lock: StoreLock) throws {
        for file in try swapper.abandon(plan, under: lock) {
            environment.warn(Self.words(ofKept: file))
        }
    }

    private func isVoid(_ plan: SwapPlan, after error: EngineError) throws(RunError) -> Bool {
        switch error {
        case .sourceChanged, .swapRefused: break
        default: return false
        }
        return try RunError.translating {
            // Otherwise it is the original, or its snapshot, which a program may have written
            // since, or what a program or another run put in its place.
            return !plan.newFile.isFile(try FileStatus(of: plan.store.path).identity)
        }
    }

    /// Records that a move will not be made that met an error before it began: what was built is of
    /// no use for a store that changed, or one that no swap fits, and is built again.
    ///
    /// Where the files cannot be looked at, the next look at the store decides.
    ///
    /// - Throws: `RunError.ledger`.
    func voidUnlessBegun(_ recorded: Recorded, after error: RunError) throws(RunError) {
        switch error.code.decision {
        case .planAgain, .quarantineChunk: break
        case .retry, .quarantineWorker, .pause, .stopRun, .nothing: return
        }
        do {
            guard try !hasBegun(recorded) else { return }
            if case .swap(let plan) = recorded.way {
                let lock = try recorded.lock ?? StoreLock(plan.store.path, faults: files.faults)
                // The error is of the store; this would be lost with it.
                try abandon(plan, under: lock)
            }
        } catch {
            return
        }
        let record = void(recorded.found)
        try RunError.ledger { () throws(LedgerError) in try ledger.append([record]) }
    }

    private func giveUp(_ recorded: Recorded) throws(RunError) {
        let number = recorded.found.number
        try RunError.ledger { () throws(LedgerError) in
            var records = [void(recorded.found)]
            if try ledger.store(run: run, number)?.state == .validated {
                records.append(changed(recorded.found, .running))
            }
            try ledger.append(records)
        }
    }
}
