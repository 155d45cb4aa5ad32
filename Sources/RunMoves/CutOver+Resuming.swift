import CoreDataStore
import DurableFiles
import Jobs
import MigrationEngine
package import RunLedger
package import StateFolders
package import StoreLocks
import StoreRuns
import StoreSwap

// MARK: - Moves that no longer fit

extension CutOver {
    /// The move that an earlier process wrote down, where it can still be made.
    ///
    /// Where the store was written since, or the result is gone, the move is void: the store
    /// is to be migrated again.
    ///
    /// - Parameters:
    ///   - found: the store.
    ///   - held: the store's lock, where the caller has it already.
    /// - Returns: the move; nil where there is none, or it is void.
    /// - Throws: `RunError` where the store cannot be looked at, is in use, or was left between
    ///   two steps of its swap by a process that died and has been written since;
    ///   `.outdatedOutput` where a result has its name and its store was written since.
    package func resumable(
        _ found: FoundStore, under held: StoreLock? = nil
    ) throws(RunError) -> Recorded? {
        guard let recorded = try unfinished(found) else { return nil }
        return try resumable(recorded, under: held)
    }

    /// A move that an earlier process wrote down, where it can still be made.
    ///
    /// - Throws: `RunError`, as for a store.
    package func resumable(
        _ recorded: Recorded, under held: StoreLock? = nil
    ) throws(RunError) -> Recorded? {
        switch recorded.way {
        case .publish(let plan):
            let isThere = try RunError.translating {
                try [plan.building.path, plan.output.database].contains { path in
                    try FileStatus.ifPresent(path).map { plan.building.isFile($0.identity) }
                        ?? false
                }
            }
            if isThere {
                let waits = try waits(recorded)
                switch (try fate(of: recorded), hasBegun: try hasBegun(recorded)) {
                case (.asRead, _), (.uncertain, true), (.unrecorded, true): return recorded
                case (.lost, _):
                    environment.warn(Self.words(ofLost: recorded.result.store))
                    return recorded
                case (.written, true):
                    throw .outdatedOutput(plan.output.database, store: recorded.result.store)
                case (.uncertain, false) where waits: throw try lastCopy(recorded)
                case (.written, false), (.uncertain, false), (.unrecorded, false): break
                }
            }
            // What has become of the store was looked at.
            try discardParts(of: recorded, evenIfLast: true)
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
            try settleAsides(of: plan, under: lock)
            do throws(SwapError) {
                try swapper.check(plan, under: lock)
            } catch {
                guard try isVoid(plan, after: error) else { throw .swap(error) }
                let keeps = try keepsOriginal(recorded)
                let kept = try RunError.translating {
                    try discard(plan, keepsOriginal: keeps, under: lock)
                }
                try giveUp(recorded)
                guard kept.isEmpty else {
                    let words = kept.map(Self.words(ofKept:)).joined(separator: "; ")
                    throw .swap(
                        .swapRefused(
                            store: plan.store.path.description,
                            reason: words + ". Run the same command again"))
                }
                return nil
            }
            return Recorded(
                found: recorded.found, places: recorded.places, way: recorded.way,
                result: recorded.result, lock: lock, isTrusted: recorded.isTrusted)
        }
    }

    /// Whether a recorded move is of a result that its worker alone validated, and can still be
    /// made otherwise.
    ///
    /// One that has begun is carried out, because only that leaves the store whole; and so is the
    /// publication of a result whose external data have their place already.
    ///
    /// - Throws: `RunError` where the files cannot be looked at.
    package func awaitsInspection(_ recorded: Recorded) throws(RunError) -> Bool {
        guard recorded.isTrusted, try !hasBegun(recorded) else { return false }
        switch recorded.way {
        case .publish: return try !mayHaveBegun(recorded)
        case .swap: return true
        }
    }

    /// Removes what a move made before it changed the store: another plan of the run would find
    /// parts of a backup that are older than its own.
    ///
    /// - Parameters:
    ///   - recorded: the move.
    ///   - evenIfLast: discards also a result that may be all that is left of its store.
    /// - Throws: `RunError` where another run has the store, or a file cannot be removed, and
    ///   `.halfPublished` where external data stay that another program may use, and `.lostStore`
    ///   where the result may be all that is left of its store.
    package func discardParts(
        of recorded: Recorded, evenIfLast: Bool = false
    ) throws(RunError) {
        let keeps = evenIfLast ? false : try keepsOriginal(recorded)
        let plan: SwapPlan
        switch recorded.way {
        case .publish(let plan):
            let stays = try RunError.translating { try plan.takeBack(files) }
            if let stays, let support = plan.support {
                throw .halfPublished(inTheWay: stays, externalData: support.to)
            }
            return
        case .swap(let swap): plan = swap
        }
        try RunError.translating {
            let lock = try recorded.lock ?? StoreLock(plan.store.path, faults: files.faults)
            // The error that led here may be lost with a thrown one.
            for file in try discard(plan, keepsOriginal: keeps, under: lock) {
                environment.warn(Self.words(ofKept: file))
            }
        }
    }

    /// Gives logs that a stopped swap of a store had moved aside their names back: without its log
    /// a store cannot be judged.
    ///
    /// - Throws: `RunError` where another run has the store, or a file cannot be moved.
    func settleAsides(of found: FoundStore) throws(RunError) {
        guard found.output == nil, let recorded = try unfinished(found),
            case .swap(let plan) = recorded.way
        else { return }
        try RunError.translating {
            let path = plan.store.path
            let asides = StoreCompanion.allCases.map {
                plan.aside(StoreLocation(path).companion($0))
            }
            guard try FileStatus.ifPresentLink(path)?.isRegularFile == true,
                try asides.contains(where: { try FileStatus.ifPresentLink($0) != nil })
            else { return }
            let lock = try StoreLock(path, faults: files.faults)
            defer { lock.release() }
            try settleAsides(of: plan, under: lock)
        }
    }

    private func settleAsides(of plan: SwapPlan, under lock: StoreLock) throws(RunError) {
        do throws(SwapError) {
            for file in try swapper.settleAsides(of: plan, under: lock) {
                environment.warn(Self.words(ofKept: file))
            }
        } catch {
            throw .swap(error)
        }
    }

    /// Takes half of a publication back that was stopped between its renames, and expects that
    /// nothing that the run has of the store may be all that is left of it.
    ///
    /// - Throws: `RunError`, `.halfPublished` and `.lostStore` as for a move.
    package func takeBackHalf(of found: FoundStore) throws(RunError) {
        try settleAsides(of: found)
        guard let recorded = try unfinished(found), try !hasBegun(recorded) else {
            return try expectOriginal(of: found)
        }
        if case .swap = recorded.way, try !keepsLast(recorded) { return }
        try discardParts(of: recorded)
    }

    /// - Returns: the files that now lie beside the store under names of their own.
    private func discard(
        _ plan: SwapPlan, keepsOriginal: Bool, under lock: StoreLock
    ) throws -> [FilePath] {
        let kept = try swapper.abandon(plan, keepsOriginal: keepsOriginal, under: lock)
        if keepsOriginal {
            // It can be built again from the original; after an exchange, its name has that.
            if let left = try FileStatus.ifPresentLink(plan.newFile.path)?.identity,
                plan.newFile.isFile(left) || plan.store.isFile(left)
            {
                try files.remove(plan.newFile.path)
            }
        }
        // A store that a program has replaced is not what the backup is of.
        guard plan.hasName(try FileStatus(of: plan.store.path).identity) else { return kept }
        // What has the store's name holds all that the backup holds.
        let rest = try PrunePlan(
            plan, backupNames: [], storeNames: [], isGivenUp: true, files: files)
        try rest.run(files: files, under: lock)
        return kept
    }

    private func isVoid(_ plan: SwapPlan, after error: SwapError) throws(RunError) -> Bool {
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
    package func voidUnlessBegun(_ recorded: Recorded, after error: RunError) throws(RunError) {
        switch error.cause.decision {
        case .planAgain, .quarantineChunk: break
        case .retry, .quarantineWorker, .pause, .stopRun, .nothing: return
        }
        do {
            guard try !hasBegun(recorded) else { return }
            try discardParts(of: recorded)
        } catch {
            return
        }
        let record = void(recorded.found)
        try RunError.ledger { () throws(LedgerError) in try ledger.append([record]) }
    }

    /// Records that a move will not be made, and that its store is worked on again.
    ///
    /// - Throws: `RunError.ledger`.
    package func giveUp(_ recorded: Recorded) throws(RunError) {
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
