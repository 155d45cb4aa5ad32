import CoreDataStore
import DurableFiles
import Glibc

/// What became of files on the way of a swap or a rollback.
final class MovedFiles {
    /// Files that were moved aside, because nothing else has what they hold.
    var kept: [FilePath] = []
    /// Files that had the store's name, also those that another one took it from at once.
    var named: [FileIdentity] = []
    /// Logs and journals that were put beside the store.
    var companions: [PlannedFile] = []
    /// The index of a log that no program may use now, while it is locked.
    var logIndex: OpenFile?
}

/// A log or a journal that is kept with its main file.
struct KeptCompanion {
    let path: FilePath
    let kind: StoreCompanion
    /// What it is known to be: the original's own file, and a copy of it.
    let known: [FileIdentity]
}

extension StoreMoves {
    /// Gives a file a name of its own beside the store, which no command removes.
    ///
    /// - Parameters:
    ///   - file: what has no other name; nothing happens where it is gone.
    ///   - kind: what it is; nil for a main file.
    ///   - companions: its log and its journal, which get names that fit.
    /// - Throws: `DurableFileError`.
    func keep(
        _ file: FilePath, as kind: StoreCompanion? = nil, with companions: [KeptCompanion] = []
    ) throws(DurableFileError) {
        guard try tree.status(of: file) != nil else { return }
        for number in 1...Self.mostKept {
            let main = keptName(number)
            guard try isFree(main, for: companions) else { continue }
            let target = kind.map { StoreLocation(main).companion($0) } ?? main
            do throws(DurableFileError) {
                // The main file is last: after a kill before that, it gets the same name.
                for companion in companions where try tree.status(of: companion.path) != nil {
                    try tree.rename(
                        companion.path, to: StoreLocation(main).companion(companion.kind),
                        existing: .refuse)
                }
                try tree.rename(file, to: target, existing: .refuse)
            } catch {
                guard error.number == EEXIST else { throw error }
                continue
            }
            moved.kept.append(target)
            try tree.syncFolder(store.parent)
            return
        }
        throw .system(.rename, file, number: EEXIST)
    }

    /// Whether no file has a name or a companion's name: SQLite would apply a log that lies
    /// beside another database than its own.
    private func isFree(
        _ main: FilePath, for companions: [KeptCompanion]
    ) throws(DurableFileError) -> Bool {
        guard try tree.status(of: main) == nil else { return false }
        for kind in StoreCompanion.allCases {
            guard let found = try tree.status(of: StoreLocation(main).companion(kind)) else {
                continue
            }
            // A process that was killed since has moved it here.
            guard let companion = companions.first(where: { $0.kind == kind }),
                companion.known.contains(where: { $0.isStill(found.identity) }),
                try tree.status(of: companion.path) == nil
            else { return false }
        }
        return true
    }

    private static let mostKept = 10_000

    private func keptName(_ number: Int) -> FilePath {
        let name = store.lastComponent
        let prefix = "\(SwapPlan.keptPrefix)\(number)-"
        // A log's name is longer by four bytes, a journal's by eight.
        guard name.bytes.count + prefix.utf8.count + 8 <= Int(NAME_MAX) else {
            let digest = ContentDigest.hexadecimal(of: name.bytes)
            return store.parent.appending(FilePath(prefix + digest.prefix(16)))
        }
        return store.parent.appending(FilePath(bytes: Array(prefix.utf8) + name.bytes))
    }

    /// Keeps the original of a swap whose store a program has replaced since: the next swap of
    /// the run would put another file in its place.
    ///
    /// - Throws: `DurableFileError`.
    func keepBackup(of plan: SwapPlan) throws(DurableFileError) {
        let recorded = plan.record?.byPath
        let companions = plan.backups.compactMap { file in
            file.kind.map { kind in
                KeptCompanion(
                    path: file.backup, kind: kind,
                    known: [file.original.identity]
                        + [recorded?[file.backup]?.identity].compactMap(\.self))
            }
        }
        try keep(plan.mainBackup, with: companions)
    }

    /// Removes files beside the store that belong to what has its name now, and makes that durable.
    ///
    /// A program may have replaced the store since that was looked at, and written a log of its
    /// own. So each gets a name of ours first.
    ///
    /// - Parameters:
    ///   - paths: the store's log, its index, its journal; what is gone already is fine.
    ///   - swap: whose backup's folder has the names of ours.
    ///   - known: what may have the store's name, and what may lie beside it.
    /// - Throws: `SwapError.sourceChanged` where the store or one of the files is another one;
    ///   it has its name again then.
    func removeCompanions(
        _ paths: [FilePath], of swap: SwapPlan, known: [PlannedFile]
    ) throws {
        for path in paths {
            guard
                let kind = StoreCompanion.allCases.first(where: {
                    StoreLocation(store).companion($0) == path
                })
            else { throw SwapError.internalError("\(path) does not lie beside its store") }
            let aside = swap.aside(path)
            guard try settle(kind, swap, known) else { throw SwapError.changed(store) }
            guard try tree.status(of: path) != nil else { continue }
            guard try isOwnStore(known) else { throw SwapError.changed(store) }
            do throws(DurableFileError) {
                try tree.rename(path, to: aside, existing: .refuse)
            } catch {
                // It may have gone by itself. Where the backup's folder has gone, it must not stay.
                guard error.isMissing, try tree.status(of: path) == nil else { throw error }
            }
            guard try settle(kind, swap, known) else { throw SwapError.changed(store) }
        }
        try tree.syncFolder(store.parent)
    }

    /// Ends what a process that was killed had begun to remove: a log of a program that had
    /// replaced the store gets its name back.
    ///
    /// - Parameters:
    ///   - swap: whose backup's folder has the names of ours.
    ///   - known: as `removeCompanions`.
    /// - Returns: files that have names of their own now.
    /// - Throws: `DurableFileError`.
    @discardableResult
    func settleAsides(
        of swap: SwapPlan, known: [PlannedFile]
    ) throws(DurableFileError) -> [FilePath] {
        for kind in StoreCompanion.allCases {
            _ = try settle(kind, swap, known)
        }
        return moved.kept
    }

    /// Removes a file that was moved aside, or gives it its name back.
    ///
    /// - Returns: whether it is removed, or was not there, and the store is one that is known.
    private func settle(
        _ kind: StoreCompanion, _ swap: SwapPlan, _ known: [PlannedFile]
    ) throws(DurableFileError) -> Bool {
        let path = StoreLocation(store).companion(kind)
        let aside = swap.aside(path)
        guard let found = try tree.status(of: aside) else { return true }
        // Not by its number alone, which a program's file may have got once ours was gone.
        let isKnown = known.contains { $0.isSame(found.identity) }
        let isEmpty = found.size == 0 || kind == .sharedMemory
        if try isOwnStore(known), isKnown || isEmpty {
            try tree.unlink(aside)
            return true
        }
        if isKnown {
            // It belongs to a file that a program has replaced, and fits no other one.
            if try isBackedUp(found, swap) {
                try tree.unlink(aside)
            } else {
                try keep(aside, as: kind)
            }
            return false
        }
        guard try fits(found) else {
            if isEmpty { try tree.unlink(aside) } else { try keep(aside, as: kind) }
            return false
        }
        do throws(DurableFileError) {
            try tree.rename(aside, to: path, existing: .refuse)
        } catch {
            guard error.number == EEXIST else { throw error }
            // The program has made another one since: an empty one where it has only looked.
            if isEmpty {
                try tree.unlink(aside)
            } else if try replaceEmpty(aside, path) {
                try tree.unlink(aside)
            } else {
                try keep(aside, as: kind)
            }
        }
        try tree.syncFolder(store.parent)
        return false
    }

    /// Whether a log that was moved aside is the store's: nothing was written to the main file
    /// since, and it had its name before.
    private func fits(_ log: FileStatus) throws(DurableFileError) -> Bool {
        let live = try live()
        return live.modified <= log.identity.modified && live.changed <= log.identity.changed
    }

    /// Gives a log its name back from an empty file that no program has open.
    ///
    /// - Returns: whether it has; the empty one has the log's other name then.
    private func replaceEmpty(
        _ aside: FilePath, _ path: FilePath
    ) throws(DurableFileError) -> Bool {
        do throws(SwapError) { try cover(store) } catch { return false }
        guard try tree.status(of: path)?.size == 0, try tree.exchange(aside, with: path) else {
            return false
        }
        return try tree.status(of: aside)?.size == 0
    }

    private func isBackedUp(
        _ found: FileStatus, _ swap: SwapPlan
    ) throws(DurableFileError) -> Bool {
        for file in swap.backups {
            guard let backup = try tree.status(of: file.backup) else { continue }
            if backup.identity.isFile(found.identity) { return true }
        }
        return false
    }

    private func isOwnStore(_ known: [PlannedFile]) throws(DurableFileError) -> Bool {
        let live = try live()
        return known.contains { $0.isFile(live) }
    }
}
