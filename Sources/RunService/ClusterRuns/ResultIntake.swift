import CoreDataStore
import DurableFiles
import Jobs
import MigrationPlans
package import RunLedger
import RunMoves
package import StateFolders
import StoreRuns
import Synchronization

/// What workers deliver for a run: checked against its receipts, kept under names that no
/// worker writes, and, for small stores, moved to where it belongs.
package struct ResultIntake: Sendable {
    let shared: ClusterRun
    let mover: CutOver
    let checked: CheckedFiles

    /// What this process has checked already, by attempt: it need not be read again.
    package final class CheckedFiles: Sendable {
        /// What is known of an attempt's files.
        enum Known: Sendable {
            /// They are those of the receipt; of the result's file.
            case compared(FileIdentity)
            /// A thread of this process made them.
            case own(OwnResults.Built)
            /// They were held against the source.
            case inspected(InspectedResult)
        }

        let attempts = Mutex<[String: Known]>([:])
        /// The receipts of small stores by run and store; nil where several were admitted, or one
        /// was taken: only the ledger knows then which of them counts.
        private let receipts = Mutex<[String: Receipt?]>([:])
        /// The plan by which shards were looked at last: those of one store come together.
        let plan = Mutex<PlanFile?>(nil)

        package init() {}

        /// Remembers a receipt until its result moves.
        func note(_ receipt: Receipt) {
            receipts.withLock { receipts in
                let key = Self.key(receipt.run, receipt.store)
                receipts[key] = receipts[key] == nil ? .some(receipt) : .some(nil)
            }
        }

        /// The receipt of a store that moves for the first time since this process admitted it, as
        /// the only one; nil where the ledger has to be asked.
        func takeReceipt(_ run: String, _ store: Int) -> Receipt? {
            receipts.withLock { $0.updateValue(nil, forKey: Self.key(run, store)) ?? nil }
        }

        /// Forgets the receipts of a store that has come to its end.
        func forget(_ run: String, _ store: Int) {
            _ = receipts.withLock { $0.removeValue(forKey: Self.key(run, store)) }
        }

        private static func key(_ run: String, _ store: Int) -> String { "\(run)/\(store)" }
    }

    package init(of shared: ClusterRun, checked: CheckedFiles) {
        self.shared = shared
        self.checked = checked
        mover = CutOver(shared.context)
    }

    var files: DurableFileSystem { shared.context.files }
}

// MARK: - Small stores

extension ResultIntake {
    /// How one of several stores ended.
    package typealias Ending = (store: Int, result: Result<[LedgerRecord], RunError>)

    /// Writes down how validated results of small stores will move, whose swap is put off.
    ///
    /// - Returns: of each, why it cannot move.
    /// - Throws: `RunError.ledger`.
    package func keep(_ stores: [FoundStore]) throws(RunError) -> [Ending] {
        let (recorded, failed) = try record(
            stores.map {
                Accepted(found: $0, receipt: checked.takeReceipt(shared.id, $0.number))
            }, keeps: true)
        return failed + recorded.map { ($0.found.number, .success([])) }
    }

    /// Gives results of small stores their names; they share the ledger's commits.
    ///
    /// - Returns: of each, what the ledger is to be told together with its new state.
    /// - Throws: `RunError.ledger`.
    package func move(_ stores: [FoundStore]) throws(RunError) -> [Ending] {
        var endings: [Ending] = []
        var moves: [CutOver.Recorded] = []
        var fresh: [Accepted] = []
        for store in stores {
            do throws(RunError) {
                var accepted = Accepted(found: store)
                accepted.receipt = checked.takeReceipt(shared.id, store.number)
                // What was just admitted has not begun to move.
                if accepted.receipt == nil, let recorded = try mover.unfinished(store) {
                    if shared.validation != .workers, try mover.awaitsInspection(recorded) {
                        try mover.discardParts(of: recorded)
                        accepted.former = recorded
                    } else if let resumed = try mover.resumable(recorded) {
                        moves.append(resumed)
                        continue
                    }
                }
                if accepted.receipt == nil { accepted.receipt = try receipt(of: store) }
                if accepted.receipt?.saysUnchanged == true {
                    endings.append((store.number, .success(try unchanged(store))))
                } else {
                    fresh.append(accepted)
                }
            } catch {
                endings.append((store.number, .failure(error)))
            }
        }
        let (recorded, failed) = try record(fresh, keeps: false)
        endings += failed
        endings += try mover.finish(moves + recorded, of: shared)
        for case (let store, .success) in endings { checked.forget(shared.id, store) }
        return endings
    }

    private func unchanged(_ store: FoundStore) throws(RunError) -> [LedgerRecord] {
        try orAnew { () throws(RunError) in try confirmUnchanged(store) }
        try removeAll(of: store)
        return [
            try StoreRecord.unchanged.record(run: shared.id, store: store.number),
            .released(run: shared.id, store: store.number),
        ]
    }

    /// The accepted receipt of a small store.
    private func receipt(of found: FoundStore) throws(RunError) -> Receipt? {
        try shared.context.read { ledger throws(LedgerError) in
            try ledger.acceptedReceipts(run: shared.id, store: found.number)
        }.first { $0.work == .whole }
    }

    /// A store whose one job was accepted.
    private struct Accepted {
        let found: FoundStore
        /// Nil reads it from the ledger.
        var receipt: Receipt?
        /// A move that was recorded under trust, which the new one replaces.
        var former: CutOver.Recorded?
    }

    private func record(
        _ stores: [Accepted], keeps: Bool
    ) throws(RunError) -> (recorded: [CutOver.Recorded], failed: [Ending]) {
        var failed: [Ending] = []
        var built: [BuiltStore] = []
        for store in stores {
            do throws(RunError) {
                built.append(try accepted(store.found, store.receipt))
            } catch {
                // A result that is none is built again; otherwise it waits as it did.
                if let former = store.former, error.cause.decision == .planAgain {
                    try mover.giveUp(former)
                }
                failed.append((store.found.number, .failure(error)))
            }
        }
        var recorded: [CutOver.Recorded] = []
        do throws(RunError) {
            for (found, move) in try mover.record(built, keeps: keeps) {
                switch move {
                case .success(let move): recorded.append(move)
                case .failure(let error): failed.append((found.number, .failure(error)))
                }
            }
        } catch {
            if case .ledger = error { throw error }
            // A sync that failed says nothing of which of them is lost.
            failed += built.map { ($0.found.number, .failure(error)) }
        }
        return (recorded, failed)
    }

    /// The result of a store whose one job was accepted.
    private func accepted(
        _ found: FoundStore, _ known: Receipt?
    ) throws(RunError) -> BuiltStore {
        var accepted = known
        if accepted == nil { accepted = try receipt(of: found) }
        guard let receipt = accepted, let file = receipt.files.first
        else { throw .engine(.wrongPlan("\(found.path) has no accepted result")) }
        let path = try shared.roots.resolve(file.file)
        // It goes with a failed store's files; what is gone is built again.
        guard let identity = try RunError.translating({ try FileStatus.ifPresent(path)?.identity })
        else { throw .engine(.wrongPlan("the accepted result of \(found.path) is gone")) }
        let looked = checked.attempts.withLock { $0.removeValue(forKey: receipt.attempt) }
        let places = StorePaths(attempt: path.parent)
        if let built = try validated(found, receipt, looked, places, identity) { return built }
        let (location, _) = try shared.locations(of: found)
        let store = location.database
        var inspected: InspectedResult?
        if case .inspected(let result) = looked, result.building == identity { inspected = result }
        if inspected == nil {
            inspected = try orAnew { () throws(RunError) in
                try inspect(receipt, of: found, in: path.parent)
            }
        }
        guard let result = inspected else {
            throw .engine(.internalError("the result of \(found.path) was not inspected"))
        }
        // Not before: the inspection locks a store that is not at rest, for its snapshot.
        let lock = try StoreAdmission(
            store: location, output: found.output, files: files,
            clients: shared.context.request.clients, mark: shared.context.mark
        ).admit()
        return try RunError.translating {
            let now = try StoreFingerprint(of: store)
            guard now.differences(from: result.fingerprint).subtracting([.place, .changed]).isEmpty
            else { throw EngineError.changed(store) }
            return BuiltStore(
                found: found, result: result.result, fingerprint: now, places: places,
                snapshot: result.hasSnapshot ? places.snapshot : nil, building: result.building,
                lock: lock, isDurable: false)
        }
    }

    /// The result of a store that its slot validated; nil where this process has to.
    ///
    /// One that was accepted under another setting may not have been validated, or by a worker that
    /// is not trusted any more; threads of an earlier process look the same.
    private func validated(
        _ found: FoundStore, _ receipt: Receipt, _ looked: CheckedFiles.Known?,
        _ places: StorePaths, _ identity: FileIdentity
    ) throws(RunError) -> BuiltStore? {
        let clients = shared.context.request.clients
        switch looked {
        case .own(let own)?:
            guard shared.validation == .ownThreads, own.building == identity,
                let result = own.outcome.result
            else { return nil }
            return try BuiltStore(
                accepting: result, own.outcome, of: found, at: places, building: identity,
                files: files, clients: clients, isTrusted: false, isOwn: true)
        case .compared, .inspected, nil:
            guard shared.validation == .workers, !receipt.isOwn else { return nil }
            var isChecked = false
            if case .compared(identity) = looked { isChecked = true }
            return try BuiltStore(
                accepting: receipt, of: found, in: places.folder, files: files, clients: clients,
                isTrusted: true, isChecked: isChecked)
        }
    }

    /// Runs a body; what was accepted before and does not hold any more is built again.
    private func orAnew<Result>(
        _ body: () throws(RunError) -> Result
    ) throws(RunError) -> Result {
        do throws(RunError) {
            return try body()
        } catch {
            guard case .badDelivery(let text) = error else { throw error }
            throw .engine(.wrongPlan(text))
        }
    }

    /// Removes what was made of a store.
    ///
    /// - Throws: `RunError.file` for what stays.
    package func removeAll(of found: FoundStore) throws(RunError) {
        checked.forget(shared.id, found.number)
        try shared.removeFiles(of: found)
    }

    /// Whether a store has just moved, and everything that was made of it was removed.
    ///
    /// - Parameter found: the store; the answer is given once.
    /// - Returns: whether nothing is left to be looked for.
    package func isClean(_ found: FoundStore) -> Bool {
        shared.cleaned.withLock { $0.remove(found.number) } != nil
    }

    /// Whether what was built for a store's publication must stay: what has moved goes back to it,
    /// or the store is gone.
    ///
    /// - Throws: `RunError` where that cannot be told.
    package func keepsResult(_ found: FoundStore) throws(RunError) -> Bool {
        try mover.keepsResult(found)
    }

    /// Whether files of a store have moved, by a move that has not ended: it must not be called
    /// failed then.
    ///
    /// - Throws: `RunError` where that cannot be told.
    package func hasBegunMove(_ found: FoundStore) throws(RunError) -> Bool {
        try mover.hasBegunMove(found)
    }
}
