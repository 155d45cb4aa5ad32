import CoreDataStore
package import DurableFiles
import Jobs
import MigrationEngine
import MigrationPlans
package import RunLedger
package import StateFolders
import StoreLocks
package import StoreRuns
import StoreSwap

/// Gives validated results their names: the ledger first, then the files, then the ledger.
///
/// Several small stores share the ledger's commits.
package struct CutOver: Sendable {
    package let run: String
    package let mark: String
    let folders: RunFolders
    package let ledger: Ledger
    package let environment: RunEnvironment
    /// How programs that have a store open are treated.
    let clients: ClientPolicy

    var files: DurableFileSystem { environment.files }
    var swapper: Swapper {
        Swapper(
            files: files, clients: clients,
            reportKept: { [environment] in environment.warn(Self.words(ofKept: $0)) })
    }

    /// A result whose move stands in the ledger.
    package struct Recorded {
        package let found: FoundStore
        let places: StorePaths
        package let way: CutOverRecord.Way
        let result: StoreResult
        let lock: StoreLock?
        /// Whether its worker alone validated the result.
        var isTrusted = false
        /// The JSON of way and result; nil where an earlier process recorded them.
        var texts: MoveTexts?
    }

    /// Makes results durable and writes down how they will move.
    ///
    /// - Parameters:
    ///   - stores: that were built.
    ///   - keeps: whether the results wait for their swap.
    /// - Returns: each result with its move, or why it cannot have one.
    /// - Throws: `RunError.ledger`.
    package func record(
        _ stores: [BuiltStore], keeps: Bool
    ) throws(RunError) -> [(found: FoundStore, move: Result<Recorded, RunError>)] {
        var moves: [(found: FoundStore, move: Result<Recorded, RunError>)] = []
        var records: [LedgerRecord] = []
        try makeDurable(stores)
        for store in stores {
            do throws(RunError) {
                let way = try way(of: store)
                let texts = try MoveTexts(way, store.result)
                records.append(
                    entry(
                        store.found,
                        CutOverRecord.text(
                            way: texts.way, result: try texts.result(store.result),
                            isTrusted: store.isTrusted)))
                if keeps {
                    records.append(
                        StoreRecord.record(
                            result: try texts.result(store.result), run: run,
                            store: store.found.number))
                }
                moves.append(
                    (
                        store.found,
                        .success(
                            Recorded(
                                found: store.found, places: store.places, way: way,
                                result: store.result, lock: store.lock,
                                isTrusted: store.isTrusted, texts: texts))
                    ))
            } catch {
                moves.append((store.found, .failure(error)))
            }
        }
        guard !records.isEmpty else { return moves }
        try RunError.ledger { () throws(LedgerError) in try ledger.append(records) }
        return moves
    }

    /// Results of a batch of at least so many stores are synced with their file system: one call
    /// for all costs less than one for each.
    private static let batchOfOneSync = 4

    /// Syncs what is not yet on the disk.
    ///
    /// - Throws: `RunError.file`; no result of the batch is to be trusted then.
    private func makeDurable(_ stores: [BuiltStore]) throws(RunError) {
        var pending: [FilePath] = []
        for store in stores {
            if !store.isDurable { pending.append(store.places.building) }
            if store.found.output == nil, let snapshot = store.snapshot {
                pending.append(snapshot)
            }
        }
        try RunError.translating {
            guard pending.count >= Self.batchOfOneSync else {
                for file in pending { try files.syncFile(file) }
                return
            }
            var synced: Set<UInt64> = []
            for file in pending
            where synced.insert(try FileStatus(of: file).identity.device).inserted {
                try files.syncFileSystem(at: file.parent)
            }
            // The data are on their way by now; only this tells of each file whether they arrived,
            // for the file system tells of a lost write once, and perhaps to another slot.
            for file in pending { try files.syncFile(file) }
        }
    }

    /// Makes the names of published results durable.
    ///
    /// - Returns: by folder, why its names are not.
    package func syncNames(of moved: [Recorded]) -> [FilePath: RunError] {
        var folders: Set<FilePath> = []
        for store in moved {
            if case .publish(let plan) = store.way { folders.insert(plan.output.database.parent) }
        }
        var failures: [FilePath: RunError] = [:]
        for folder in folders.sorted() {
            do throws(DurableFileError) {
                try files.syncFolder(folder)
            } catch {
                failures[folder] = .file(error)
            }
        }
        return failures
    }

    private func way(of store: BuiltStore) throws(RunError) -> CutOverRecord.Way {
        try RunError.translating {
            let building = try PlannedFile(at: store.places.building)
            guard building.identity == store.building else {
                // Its folder may be another user's, who can put other files there.
                throw EngineError.wrongPlan(
                    "\(store.places.building) is not the file that was validated")
            }
            guard store.found.output == nil else {
                let now = try StoreFingerprint(of: store.result.store)
                guard now.differences(from: store.fingerprint).subtracting([.changed]).isEmpty
                else { throw EngineError.changed(store.result.store) }
                return .publish(
                    try PublishPlan(
                        store.places, output: StoreLocation(store.result.output),
                        validated: store.building,
                        source: now, of: store.result.store, files))
            }
            let request = SwapRequest(
                store: StoreLocation(store.result.store), run: mark, expected: store.fingerprint,
                newFile: store.places.building, snapshot: store.snapshot,
                validated: store.building)
            let facts = try SwapFacts(reading: request, files: files)
            do throws(SwapError) {
                return .swap(try SwapPlan(facts))
            } catch {
                guard case .sourceChanged = error else { throw error }
                throw SwapError.changed(facts.store.path)
            }
        }
    }

    /// The record that a move which stands in the ledger will not be made.
    func void(_ found: FoundStore) -> LedgerRecord {
        .swapStep(
            run: run, store: found.number,
            SwapEntry(.swap, .void))
    }

    /// Whether files have moved already.
    ///
    /// - Throws: `RunError` where they cannot be looked at.
    func hasBegun(_ recorded: Recorded) throws(RunError) -> Bool {
        switch recorded.way {
        case .publish(let plan):
            return try RunError.translating {
                guard let there = try FileStatus.ifPresent(plan.output.database) else {
                    return false
                }
                return plan.building.isFile(there.identity)
            }
        case .swap(let plan):
            return try RunError.translating {
                // A store that a person removed, or a program replaced, is not between two names.
                guard let live = try FileStatus.ifPresent(plan.store.path) else { return false }
                return plan.hasName(live.identity) && !plan.store.isFile(live.identity)
            }
        }
    }

    /// Whether any step of a move may have been taken: then only going on with it is safe.
    ///
    /// - Throws: `RunError` where the files cannot be looked at.
    package func mayHaveBegun(_ recorded: Recorded) throws(RunError) -> Bool {
        if try hasBegun(recorded) { return true }
        return try RunError.translating {
            switch recorded.way {
            case .publish(let plan):
                guard let support = plan.support else { return false }
                return try FileStatus.ifPresent(support.to)?.identity.inode == support.inode
            case .swap(let plan):
                let made = plan.backups.map(\.backup) + plan.added.map(\.target)
                return try made.contains { try FileStatus.ifPresent($0) != nil }
            }
        }
    }

    /// Whether what was built must stay: a publication was stopped after its external data had
    /// their name, and before the database had its own, or the store is lost.
    ///
    /// - Throws: `RunError` where the ledger cannot be read or the files cannot be looked at.
    package func keepsResult(_ found: FoundStore) throws(RunError) -> Bool {
        guard let recorded = try unfinished(found) else { return try lastAccepted(found) != nil }
        guard try !hasBegun(recorded) else { return false }
        if found.output != nil, try mayHaveBegun(recorded) { return true }
        return try keepsLast(recorded)
    }

    /// Whether a move that stands in the ledger unfinished has moved files of the store.
    ///
    /// - Throws: `RunError` where the ledger cannot be read or the files cannot be looked at.
    package func hasBegunMove(_ found: FoundStore) throws(RunError) -> Bool {
        guard let recorded = try unfinished(found) else { return false }
        return try hasBegun(recorded)
    }

    private func entry(
        _ found: FoundStore, _ detail: String, isDone: Bool = false
    ) -> LedgerRecord {
        .swapStep(
            run: run, store: found.number,
            SwapEntry(.swap, isDone ? .done : .planned, detail: detail))
    }

    func changed(_ found: FoundStore, _ state: StoreState) -> LedgerRecord {
        .storeChanged(
            run: run, store: found.number, state, reason: nil,
            at: environment.wallTime())
    }

    /// Moves one store; can be done again after a crash.
    ///
    /// - Throws: `RunError`; the store is the whole original or the whole result.
    package func move(_ recorded: Recorded) throws(RunError) -> StoreResult {
        var result = recorded.result
        try RunError.translating {
            switch recorded.way {
            case .publish(let plan):
                if let there = try FileStatus.ifPresentLink(plan.output.database) {
                    guard plan.building.isFile(there.identity) else {
                        throw RunError.outputExists(plan.output.database)
                    }
                } else if let file = try plan.sideFile() {
                    throw RunError.outputExists(file)
                }
                if let folder = try plan.foreignExternalData(files) {
                    throw RunError.halfPublished(inTheWay: folder, externalData: folder)
                }
                if let folder = try plan.lostExternalData(files) {
                    throw RunError.incompleteOutput(plan.output.database, externalData: folder)
                }
                let hasName = try FileStatus.ifPresentLink(plan.output.database) != nil
                try plan.run(files)
                if try hasName && !plan.stands(files) { result.leftovers.append(Self.earlyChange) }
            case .swap(let plan):
                let lock = try recorded.lock ?? StoreLock(plan.store.path, faults: files.faults)
                if try wasChangedEarly(plan) { result.leftovers.append(Self.earlyChange) }
                let record = backupRecorder(of: recorded.found)
                let receipt = try swapper.run(
                    plan, under: lock, recording: record)
                environment.replaced.keep(receipt.replaced, of: plan, recording: record)
                result.backup = plan.backupFolder
                result.leftovers += receipt.kept.map(Self.words(ofKept:))
                result.leftovers += receipt.lost.map { lost in
                    "\(lost.name) could not be carried over: "
                        + DurableFileError.name(of: lost.number)
                }
            }
        }
        return result
    }

    private static let earlyChange =
        "the result, or its external data, was changed after Godwit gave it its name and before "
        + "that was recorded. Godwit did not validate it again"

    /// Whether a result that has its store's name was changed before that was recorded.
    ///
    /// - Throws: `RunError.lostStore` where it was damaged.
    private func wasChangedEarly(_ plan: SwapPlan) throws -> Bool {
        let path = plan.store.path
        guard let live = try FileStatus.ifPresentLink(path)?.identity, plan.newFile.isFile(live),
            !plan.newFile.isSame(live)
        else { return false }
        guard SourceLook.identifier(of: path) != nil else {
            throw RunError.lostStore(
                "\(path) got its result and was damaged before that was recorded. Its original is "
                    + "\(plan.mainBackup): roll the store back, and confirm that Godwit may "
                    + "discard changes")
        }
        return true
    }

    /// How reports name a file that was moved aside.
    static func words(ofKept file: FilePath) -> String {
        if file.parent.lastComponent == FilePath(StoreLocation.externalDataName) {
            return "\(file) stays in the backup: it is the last copy of a file of external data, "
                + "because another file has its name, or none"
        }
        return "a program replaced the store while its swap was stopped; what it replaced, or put "
            + "there, is kept as \(file)"
    }

    /// What the ledger records of a store that has moved, together with its new state.
    package func moved(_ recorded: Recorded, _ result: StoreResult) throws(RunError)
        -> [LedgerRecord]
    {
        let stages = result.seconds.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            LedgerRecord.stageEnded(
                run: run, store: recorded.found.number, $0.key.stage,
                milliseconds: Int64(($0.value * 1000).rounded()))
        }
        let texts: MoveTexts
        if let known = recorded.texts {
            texts = known
        } else {
            texts = try MoveTexts(recorded.way, result)
        }
        return stages + [
            entry(
                recorded.found,
                CutOverRecord.text(way: texts.way, result: nil, isTrusted: false), isDone: true),
            StoreRecord.record(
                result: try texts.result(result), run: run, store: recorded.found.number),
        ]
    }

    /// The move that an earlier process wrote down and did not finish.
    ///
    /// - Throws: `RunError` where the ledger cannot be read.
    package func unfinished(_ found: FoundStore) throws(RunError) -> Recorded? {
        let steps = try RunError.ledger { () throws(LedgerError) in
            try ledger.swapSteps(run: run, store: found.number)
        }
        guard let last = steps.last(where: { $0.kind == .swap }), !last.isDone else { return nil }
        let move = try CutOverRecord(reading: last.detail)
        guard let result = move.result else {
            throw .engine(.wrongPlan("a swap in the ledger says nothing of its result"))
        }
        let places = StorePaths(
            folder: folders.folder(ofStore: found.number), mark: mark,
            number: found.number, result: StoreLocation(result.output))
        return Recorded(
            found: found, places: places, way: move.way, result: result, lock: nil,
            isTrusted: move.isTrusted ?? false)
    }
}

extension CutOver {
    /// The mover of a run that is under way.
    package init(_ context: RunContext) {
        self.init(
            run: context.id, mark: context.mark,
            folders: RunFolders(state: context.state, run: context.id), ledger: context.ledger,
            environment: context.environment, clients: context.request.clients)
    }
}
