import CoreDataStore
import DurableFiles
package import Jobs
import MigrationEngine
package import RunLedger
import Synchronization

/// What workers deliver for a shared run: checked against its receipts, kept under names that no
/// worker writes, and, for small stores, moved to where it belongs.
package struct Deliveries: Sendable {
    private let shared: SharedRun
    private let mover: StoreMover
    private let checked: CheckedFiles

    /// Files that this process has compared with their receipts: they need not be read again.
    package final class CheckedFiles: Sendable {
        fileprivate let attempts = Mutex<[String: FileIdentity]>([:])

        package init() {}
    }

    package init(of shared: SharedRun, checked: CheckedFiles) {
        self.shared = shared
        self.checked = checked
        mover = StoreMover(shared.context)
    }

    private var files: DurableFileSystem { shared.context.files }

    /// What accepted attempts' folders begin with.
    private static let acceptedPrefix = "accepted-"

    /// Checks the files of an attempt against its receipt and gives their folder a name that no
    /// worker writes.
    ///
    /// - Returns: the receipt with that name.
    /// - Throws: `RunError.engine(.wrongPlan)` where a file is not what the receipt says; it can
    ///   be called again for the same receipt.
    package func admit(_ receipt: Receipt) throws(RunError) -> Receipt {
        var paths: [FilePath] = []
        for told in receipt.files { paths.append(try shared.roots.resolve(told.file)) }
        guard let folder = paths.first?.parent, paths.allSatisfy({ $0.parent == folder }) else {
            throw .engine(.wrongPlan("the files of \(receipt.attempt) have no folder in common"))
        }
        let store = try shared.context.read { ledger throws(LedgerError) in
            try ledger.store(run: shared.id, receipt.store)
        }
        let attempts = try store.map { store throws(RunError) in
            try folderOfAttempts(store.found, receipt.work)
        }
        let name = folder.lastComponent.description
        guard folder.parent == attempts, !name.hasPrefix(Self.acceptedPrefix) else {
            throw .engine(.wrongPlan("\(folder) is no folder of attempts of its store"))
        }
        let target = folder.parent.appending(FilePath(Self.acceptedPrefix + name))
        return try RunError.translating {
            // A restart may have come between the rename and its record.
            let isThere = try FileStatus.ifPresent(folder) != nil
            let place = isThere ? folder : target
            for (told, path) in zip(receipt.files, paths) {
                try check(place.appending(path.lastComponent), told)
            }
            if let first = paths.first {
                let identity = try FileStatus(of: place.appending(first.lastComponent)).identity
                // Shards are read as soon as they are taken; of small stores it saves a reading.
                if case .whole = receipt.work {
                    checked.attempts.withLock { $0[receipt.attempt] = identity }
                }
            }
            if isThere { try files.rename(folder, to: target, existing: .refuse) }
            if shared.limits.isDurable { try files.syncFolder(folder.parent) }
            return try receipt.renamed { told, path throws(RunError) in
                try shared.roots.reference(to: target.appending(path.lastComponent))
            }
        }
    }

    private func folderOfAttempts(
        _ found: FoundStore, _ work: Work
    ) throws(RunError) -> FilePath {
        let (_, result) = try shared.paths(of: found)
        let places = shared.context.places(of: found, result: result)
        if case .whole = work { return places.building }
        return places.attempts
    }

    private func check(_ path: FilePath, _ told: DeliveredFile) throws {
        let content = try ContentDigest.hexadecimal(of: path, files: files)
        guard content.digest == told.digest, content.bytes == told.bytes else {
            throw EngineError.wrongPlan("\(path) is not what its receipt says")
        }
    }
}

// MARK: - Small stores

extension Deliveries {
    /// How one of several stores ended.
    package typealias Ending = (store: Int, result: Result<[LedgerRecord], RunError>)

    /// Writes down how validated results of small stores will move, whose swap is put off.
    ///
    /// - Returns: of each, why it cannot move.
    /// - Throws: `RunError.ledger`.
    package func keep(_ stores: [FoundStore]) throws(RunError) -> [Ending] {
        let (recorded, failed) = try record(stores, keeps: true)
        return failed + recorded.map { ($0.found.number, .success([])) }
    }

    /// Gives results of small stores their names; they share the ledger's commits.
    ///
    /// - Returns: of each, what the ledger is to be told together with its new state.
    /// - Throws: `RunError.ledger`.
    package func move(_ stores: [FoundStore]) throws(RunError) -> [Ending] {
        var endings: [Ending] = []
        var moves: [StoreMover.Recorded] = []
        var fresh: [FoundStore] = []
        for store in stores {
            do throws(RunError) {
                if let unfinished = try mover.resumable(store) {
                    moves.append(unfinished)
                } else if try receipt(of: store)?.saysUnchanged == true {
                    endings.append((store.number, .success(try unchanged(store))))
                } else {
                    fresh.append(store)
                }
            } catch {
                endings.append((store.number, .failure(error)))
            }
        }
        let (recorded, failed) = try record(fresh, keeps: false)
        endings += failed
        var moved: [(StoreMover.Recorded, StoreResult)] = []
        for store in moves + recorded {
            do throws(RunError) {
                let start = shared.context.environment.clock()
                var result = try mover.move(store)
                result.seconds[.publish] = shared.context.environment.clock() - start
                moved.append((store, result))
            } catch {
                endings.append((store.found.number, .failure(error)))
            }
        }
        let unsynced = mover.syncNames(of: moved.map(\.0))
        for (store, result) in moved {
            do throws(RunError) {
                if case .publish(let plan) = store.way, let error = unsynced[plan.output.parent] {
                    throw error
                }
                var result = result
                // Before the end is durable: whoever starts after a crash looks at no store
                // that has come to its end.
                do throws(RunError) {
                    try removeAll(of: store.found)
                } catch {
                    result.leftovers.append("\(error)")
                }
                let records =
                    try mover.moved(store, result) + [
                        .released(run: shared.id, store: store.found.number)
                    ]
                endings.append((store.found.number, .success(records)))
            } catch {
                endings.append((store.found.number, .failure(error)))
            }
        }
        return endings
    }

    private func unchanged(_ store: FoundStore) throws(RunError) -> [LedgerRecord] {
        try removeAll(of: store)
        return [
            .storeReport(run: shared.id, store: store.number, try StoreRecord.textOfUnchanged()),
            .released(run: shared.id, store: store.number),
        ]
    }

    /// The accepted receipt of a small store.
    private func receipt(of found: FoundStore) throws(RunError) -> Receipt? {
        try shared.context.read { ledger throws(LedgerError) in
            try ledger.acceptedReceipts(run: shared.id, store: found.number)
        }.first { $0.work == .whole }
    }

    private func record(
        _ stores: [FoundStore], keeps: Bool
    ) throws(RunError) -> (recorded: [StoreMover.Recorded], failed: [Ending]) {
        var failed: [Ending] = []
        var built: [BuiltStore] = []
        for store in stores {
            do throws(RunError) {
                built.append(try accepted(store))
            } catch {
                failed.append((store.number, .failure(error)))
            }
        }
        var recorded: [StoreMover.Recorded] = []
        do throws(RunError) {
            for (found, move) in try mover.record(built, keeps: keeps, tellsState: false) {
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
    private func accepted(_ found: FoundStore) throws(RunError) -> BuiltStore {
        guard let receipt = try receipt(of: found), let file = receipt.files.first
        else { throw .engine(.wrongPlan("\(found.path) has no accepted result")) }
        let path = try shared.roots.resolve(file.file)
        // It goes with a failed store's files; what is gone is made anew.
        guard let identity = try RunError.translating({ try FileStatus.ifPresent(path)?.identity })
        else { throw .engine(.wrongPlan("the accepted result of \(found.path) is gone")) }
        let known = checked.attempts.withLock { $0.removeValue(forKey: receipt.attempt) }
        return try BuiltStore(
            accepting: receipt, of: found, in: path.parent, files: files,
            clients: shared.context.request.clients, isChecked: identity == known)
    }

    /// Removes what was made of a store.
    ///
    /// - Throws: `RunError.file` for what stays.
    package func removeAll(of found: FoundStore) throws(RunError) {
        let (_, result) = try shared.paths(of: found)
        let places = shared.context.places(of: found, result: result)
        try RunError.translating { try places.removeAll(files) }
    }

    /// Whether files of a store have moved, by a move that has not ended: it must not be called
    /// failed then.
    ///
    /// - Throws: `RunError` where that cannot be told.
    package func hasBegunMove(_ found: FoundStore) throws(RunError) -> Bool {
        try mover.hasBegunMove(found)
    }
}

extension Receipt {
    /// The receipt with other names for its files.
    fileprivate func renamed(
        _ name: (DeliveredFile, FilePath) throws(RunError) -> FileReference
    ) throws(RunError) -> Receipt {
        var renamed: [DeliveredFile] = []
        for told in files {
            let path = FilePath(escaped: told.file.path) ?? FilePath(told.file.path)
            renamed.append(
                DeliveredFile(file: try name(told, path), bytes: told.bytes, digest: told.digest))
        }
        return Receipt(
            run: run, store: store, work: work, attempt: attempt, epoch: epoch, files: renamed,
            rows: rows, sums: sums, counts: counts)
    }
}
