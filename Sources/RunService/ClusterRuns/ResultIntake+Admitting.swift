import CoreDataStore
import DurableFiles
package import Jobs
import ManagedObjectModel
import MigrationEngine
import MigrationPlans
import RunLedger
import RunMoves
import SafeSQLite
package import StateFolders
import StoreRuns
import Synchronization

extension ResultIntake {
    /// How many times the bytes of its source a delivered file may have: new columns with
    /// defaults add to it, and rows become many in tables of relationships.
    private static let growth: Int64 = 16

    /// Checks what an attempt delivered, takes its files into a folder that no worker writes, and
    /// holds the result of a small store against its source, unless workers are trusted.
    ///
    /// - Returns: the receipt with the new names.
    /// - Throws: `RunError.badDelivery` where something is not what the receipt says, or not what
    ///   the store must become; it can be called again for the same receipt.
    package func admit(_ receipt: Receipt) throws(RunError) -> Receipt {
        let known = try shared.context.read { ledger throws(LedgerError) in
            try ledger.store(run: shared.id, receipt.store)
        }
        guard receipt.run == shared.id, let found = known?.found else {
            throw .badDelivery("its receipt is of a store that the run has not")
        }
        if receipt.files.isEmpty {
            guard receipt.saysUnchanged, receipt.counts == [Receipt.unchanged: 1],
                receipt.rows == 0, receipt.sums.isEmpty
            else { throw .badDelivery("\(receipt.attempt) delivered no file") }
            try confirmUnchanged(found)
            checked.note(receipt)
            return receipt
        }
        var own: OwnResults.Built?
        if shared.validation == .ownThreads {
            own = shared.ownResults.result(of: receipt.attempt)
        }
        let folder = try attempt(of: receipt, found, isOwn: own != nil)
        let target = folder.parent.appending(
            FilePath(bytes: Array(StorePaths.acceptedPrefix.utf8) + folder.lastComponent.bytes))
        if case .whole = receipt.work { try expectNoLastCopy(of: found, beside: target) }
        if let own {
            try take(own, of: receipt, from: folder, into: target)
        } else {
            try take(
                receipt, of: try shared.locations(of: found).store.database, from: folder,
                into: target)
            if case .whole = receipt.work {
                try look(at: receipt, of: found, folder, target)
            } else if shared.validation == .coordinator {
                try checkShard(receipt, of: found, target, known?.preparation)
            }
        }
        return try RunError.translating {
            if shared.limits.isDurable {
                try files.syncFolder(target)
                try files.syncFolder(target.parent)
            }
            let renamed = try receipt.renamed { name throws(RunError) in
                try shared.roots.reference(to: target.appending(name))
            }
            if case .whole = receipt.work { checked.note(renamed) }
            return renamed
        }
    }

    /// Expects that no accepted result of an earlier process may be all that is left of a store:
    /// another store may have got its name since.
    private func expectNoLastCopy(
        of found: FoundStore, beside target: FilePath
    ) throws(RunError) {
        let (_, result) = try shared.locations(of: found)
        let places = shared.context.places(of: found, result: result)
        let others = try RunError.translating { try places.acceptedResults() }.filter {
            $0.parent != target
        }
        if !others.isEmpty { try mover.expectOriginal(of: found) }
    }

    /// The folder of an attempt, which every file of its receipt lies in under the name that the
    /// work gives it.
    private func attempt(
        of receipt: Receipt, _ found: FoundStore, isOwn: Bool
    ) throws(RunError) -> FilePath {
        let (_, result) = try shared.locations(of: found)
        let places = shared.context.places(of: found, result: result)
        var attempts = places.attempts
        if case .whole = receipt.work { attempts = places.building }
        var paths: [FilePath] = []
        for told in receipt.files {
            do throws(RunError) {
                paths.append(try shared.roots.resolve(told.file))
            } catch {
                throw .badDelivery(
                    "the name of a file of it cannot be used: "
                        + PrintableText.line(error.description))
            }
        }
        guard let folder = paths.first?.parent, paths.allSatisfy({ $0.parent == folder }),
            folder.parent == attempts,
            !folder.lastComponent.bytes.starts(with: StorePaths.acceptedPrefix.utf8)
        else { throw .badDelivery("its files are not in an attempt folder of their store") }
        let names = names(of: receipt)
        // A thread of this process keeps the outcome in memory.
        guard paths.map(\.lastComponent) == (isOwn ? Array(names.prefix(1)) : names) else {
            throw .badDelivery("its files do not match its kind of job")
        }
        return folder
    }

    /// The files that a job delivers, in their order.
    func names(of receipt: Receipt) -> [FilePath] {
        guard case .whole = receipt.work else { return ["shard.sqlite"] }
        // How many stores a way writes is known when the store is planned.
        let most = min(shared.context.request.options.ways.mostWritten, StorePaths.legLimit)
        let first: [FilePath] =
            receipt.hasOutcome ? ["store.sqlite", "outcome.json"] : ["store.sqlite"]
        let told = receipt.files.dropFirst(first.count).map {
            FilePath(escaped: $0.file.path)?.lastComponent
        }
        var names: [FilePath] = []
        for leg in 1...max(1, most) where names.count < told.count {
            let name = FilePath("store.sqlite_step-\(leg)")
            names.append(name)
            let edited = name.adding(suffix: "_edited")
            if names.count < told.count, told[names.count] == edited { names.append(edited) }
        }
        return first + names
    }

    /// Takes the folder of an attempt that a thread of this process made and has validated.
    private func take(
        _ own: OwnResults.Built, of receipt: Receipt, from folder: FilePath,
        into target: FilePath
    ) throws(RunError) {
        try RunError.translating {
            // An earlier call may have taken it.
            if try FileStatus.ifPresentLink(target) == nil {
                try files.rename(folder, to: target, existing: .refuse)
            }
            let status = try FileStatus(ofLink: target)
            let building = StorePaths(attempt: target).building
            // The folder above it may be another user's.
            guard status.isOurOwn, status.permissions & 0o077 == 0,
                try FileStatus.ifPresentLink(building)?.identity == own.building
            else { throw RunError.badDelivery("another file was put in its place") }
        }
        checked.attempts.withLock { $0[receipt.attempt] = .own(own) }
        shared.ownResults.remove(receipt.attempt)
    }

    /// Takes the files of a receipt and compares them with it.
    private func take(
        _ receipt: Receipt, of source: FilePath, from folder: FilePath, into target: FilePath
    ) throws(RunError) {
        do {
            if try FileStatus.ifPresentLink(folder) != nil {
                let allowed = Set(names(of: receipt))
                let there = try files.plainNames(in: folder)
                for name in there {
                    guard allowed.contains(name) || Self.isExpected(name, receipt.work) else {
                        throw RunError.badDelivery(
                            "its folder holds \(PrintableText.line(name.description))")
                    }
                }
                if receipt.work == .whole {
                    try takeFolder(
                        folder, there, allowed, most: try mostBytes(of: source), to: target)
                }
            }
            if shared.limits.isDurable {
                try files.makeFolder(target)
            } else {
                try files.makeScratchFolders(target)
            }
            let status = try FileStatus(ofLink: target)
            guard status.isOurOwn, status.permissions & 0o077 == 0 else {
                throw RunError.badDelivery("another user created the folder of accepted files")
            }
            let most = try mostBytes(of: source)
            let stop = StatementStop.current
            for told in receipt.files {
                let name = FilePath(escaped: told.file.path)?.lastComponent ?? ""
                let limit = max(0, min(told.bytes, most))
                try files.take(name, from: folder, into: target, limit: limit) {
                    stop?.isSet == true
                }
                // What is read whole when it is held against its source needs no hash before.
                let isInspected =
                    receipt.work == .whole && shared.validation == .coordinator
                    && name != "outcome.json"
                guard try isAsTold(target.appending(name), told, hashes: !isInspected) else {
                    try files.unlink(target.appending(name))
                    throw RunError.badDelivery("\(name) is not what its receipt says")
                }
            }
        } catch let error as DurableFileError {
            switch error {
            case .notRegularFile, .overLimit, .changedMeanwhile, .refusedPath, .refusedFolder:
                throw .badDelivery(PrintableText.line(error.description))
            case .system where error.isMissing:
                throw .badDelivery("a file of it is missing")
            case .system, .lockHeld, .inUse, .clientsHidden, .stopped: throw .file(error)
            }
        } catch let error as RunError {
            throw error
        } catch {
            throw .engine(.internalError("\(error)"))
        }
    }

    /// Renames the folder of an attempt where no other user made it and it holds nothing but what
    /// was delivered.
    ///
    /// That costs less than another folder. Its files are taken where they are then.
    private func takeFolder(
        _ folder: FilePath, _ there: [FilePath], _ allowed: Set<FilePath>, most: Int64,
        to target: FilePath
    ) throws(DurableFileError) {
        let status = try FileStatus(ofLink: folder)
        guard Set(there) == allowed, status.isOurOwn, status.permissions & 0o077 == 0,
            try FileStatus.ifPresentLink(target) == nil
        else { return }
        // What is refused stays out of the folder of what is accepted.
        for name in there {
            let file = try FileStatus(ofLink: folder.appending(name))
            guard file.isRegularFile, file.size <= most else { return }
        }
        try files.rename(folder, to: target, existing: .refuse)
        // A worker may have put something there since.
        guard try Set(files.plainNames(in: target)) == allowed else {
            try files.rename(target, to: folder, existing: .refuse)
            throw .changedMeanwhile(folder)
        }
    }

    /// Whether a file is the one that a receipt names, by its hash or by its length.
    private func isAsTold(
        _ path: FilePath, _ told: DeliveredFile, hashes: Bool
    ) throws(DurableFileError) -> Bool {
        guard hashes else {
            // No worker's file is one that a thread of this process made.
            let size = try FileStatus(ofLink: path).size
            return told.digest != DeliveredFile.ownDigest && size == told.bytes
        }
        let content = try ContentDigest.hexadecimal(of: path, files: files)
        return content.digest == told.digest && content.bytes == told.bytes
    }

    /// The most bytes that a delivered file may have: more is refused unread, because a file with
    /// holes takes hours to read and no space.
    private func mostBytes(of source: FilePath) throws(DurableFileError) -> Int64 {
        var bytes = PlanOptions.wholeLimit
        for path in [source, StoreLocation(source).companion(.writeAheadLog)] {
            // The store's owner chooses the size, and may put a link there.
            let file = try FileStatus.ifPresentLink(path)
            bytes = bytes.addingClamped(file?.size ?? 0)
        }
        return bytes.multipliedClamped(by: Self.growth)
    }

    /// What else may lie in the folder of an attempt.
    private static func isExpected(_ name: FilePath, _ work: Work) -> Bool {
        // NFS keeps removed files that a program has open under such names.
        if name.bytes.starts(with: ".nfs".utf8) { return true }
        guard case .whole = work else { return false }
        return ["store.sqlite_SUPPORT", "store.sqlite_snapshot"].contains(name)
    }

    /// Holds the result of a small store against its source, or remembers that it is the worker's.
    private func look(
        at receipt: Receipt, of found: FoundStore, _ folder: FilePath, _ target: FilePath
    ) throws(RunError) {
        let known: CheckedFiles.Known
        if shared.validation == .workers {
            let places = StorePaths(attempt: target)
            known = try RunError.translating {
                for place in [places.buildingSupport, places.snapshot] {
                    let from = folder.appending(place.lastComponent)
                    if try FileStatus.ifPresentLink(from) != nil {
                        try files.rename(from, to: place, existing: .refuse)
                    }
                }
                return .compared(try FileStatus(ofLink: places.building).identity)
            }
        } else {
            known = .inspected(try inspected(receipt, of: found, target))
        }
        checked.attempts.withLock { $0[receipt.attempt] = known }
    }

    /// Holds a result against its source, and discards one that differs.
    private func inspected(
        _ receipt: Receipt, of found: FoundStore, _ target: FilePath
    ) throws(RunError) -> InspectedResult {
        do throws(RunError) {
            return try inspection(of: found, in: target).run(receipt)
        } catch {
            guard case .badDelivery = error else { throw error }
            let refused = error
            do throws(DurableFileError) {
                for name in names(of: receipt) where name != "outcome.json" {
                    try files.removeScratchTree(target.appending(name))
                }
            } catch {
                // It goes with the store's other files.
                throw refused
            }
            throw refused
        }
    }

    /// Inspects the accepted files of a receipt that this process has not seen.
    func inspect(
        _ receipt: Receipt, of found: FoundStore, in target: FilePath
    ) throws(RunError) -> InspectedResult {
        try receipt.check(StorePaths(attempt: target), files)
        // Before it is held against a store that may have been damaged since it was accepted.
        let (store, _) = try shared.locations(of: found)
        try RunError.translating { _ = try FileStatus(of: store.database) }
        try mover.expectOriginal(of: found)
        return try inspection(of: found, in: target).run(receipt)
    }

    private func inspection(of found: FoundStore, in target: FilePath) -> ResultInspection {
        let name = target.lastComponent.bytes.dropFirst(StorePaths.acceptedPrefix.utf8.count)
        return ResultInspection(
            shared: shared, found: found, places: StorePaths(attempt: target),
            attempt: target.parent.appending(FilePath(bytes: name)))
    }

    /// Reads a store of which a worker says that nothing is to be done.
    ///
    /// - Throws: `RunError.badDelivery` where it is not of the destination's version.
    func confirmUnchanged(_ found: FoundStore) throws(RunError) {
        if shared.validation != .coordinator { return }
        guard found.output == nil, case .model(let model) = shared.context.request.destination
        else { throw .badDelivery("it reports nothing to do, which is impossible") }
        let (store, _) = try shared.locations(of: found)
        let places = shared.context.places(of: found, result: store)
        try RunError.translating {
            defer { discard(places.newSnapshot) }
            discard(places.newSnapshot)
            let source = try StoreOpener(files: files, cache: shared.context.cache.stores).open(
                store, scratch: places.folder, given: shared.context.request.sourceModel,
                checksPages: false, snapshot: .toMake(places.newSnapshot))
            guard source.metadata.versionHashes == model.hashes.entities else {
                throw RunError.badDelivery(
                    "it reports that the store has the destination's version, which is wrong")
            }
        }
    }

    /// Removes a snapshot that was made in passing; what stays goes with the store's other files.
    private func discard(_ snapshot: FilePath) {
        for file in StoreLocation(snapshot).files {
            do throws(DurableFileError) {
                try files.unlink(file)
            } catch {
                continue
            }
        }
    }
}

extension Receipt {
    /// The receipt with other places for its files, by their names.
    fileprivate func renamed(
        _ place: (FilePath) throws(RunError) -> FileReference
    ) throws(RunError) -> Receipt {
        var renamed: [DeliveredFile] = []
        for told in files {
            guard let path = FilePath(escaped: told.file.path) else {
                throw .badDelivery("the name of a file of it cannot be used")
            }
            renamed.append(
                DeliveredFile(
                    file: try place(path.lastComponent), bytes: told.bytes, digest: told.digest))
        }
        return Receipt(
            run: run, store: store, work: work, attempt: attempt, epoch: epoch, files: renamed,
            rows: rows, sums: sums, counts: counts)
    }
}
