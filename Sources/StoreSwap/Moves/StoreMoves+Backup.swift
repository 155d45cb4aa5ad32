import DurableFiles
import StoreLocks

extension StoreMoves {
    /// Gives files that are to take the store's name its owner, mode, access control list and
    /// extended attributes, and syncs them.
    ///
    /// Each file is opened once, compared with the plan by its descriptor, and changed by that.
    ///
    /// - Returns: what could not be carried over.
    /// - Throws: `SwapError.sourceChanged`, or `.swapRefused` for a file that was not planned.
    func carryAttributes(of plan: SwapPlan, to targets: [FilePath]) throws -> [LostAttribute] {
        var lost: [LostAttribute] = []
        let original = try tree.openForReading(store)
        guard plan.store.isSame(try original.status().identity) else {
            throw SwapError.changed(store)
        }
        let planned = [plan.newFile, plan.snapshot].compactMap(\.self)
        for target in targets {
            // Rights count, not the descriptor: a file that may not be written can be changed, too.
            let file = try tree.openForReading(target)
            let identity = try file.status().identity
            guard planned.contains(where: { $0.path == target && $0.isSame(identity) }) else {
                throw refusal("\(target), which was to take its place, is gone or changed")
            }
            for attribute in try files.copyAttributes(from: original, to: file)
            where !lost.contains(attribute) {
                lost.append(attribute)
            }
            try file.sync()
            try file.close()
        }
        return lost
    }

    /// Gives the original's files their second names in the backup's folder.
    ///
    /// - Returns: what the record of the backup does not know yet: files that became copies.
    func backUp(_ plan: SwapPlan) throws -> [BackupRecord.Entry] {
        var news: [BackupRecord.Entry] = []
        let known = plan.record?.byPath
        func back(
            _ original: FilePath, to backup: FilePath, where isExpected: (FileIdentity) -> Bool
        ) throws {
            let (file, isCopy) = try linkOrClone(original, to: backup, where: isExpected)
            guard let known, known[backup]?.isSame(file.identity) != true else { return }
            news.append(try tree.entry(at: file.path, as: backup, isCopy: isCopy))
        }
        try tree.makeFolder(plan.backupFolder)
        for file in plan.backups {
            // One without content may have gone by itself, or by a later step of this plan.
            if !file.hasContent, try tree.status(of: file.original.path) == nil { continue }
            // One without content may also have been made again by a reader.
            try back(file.original.path, to: file.backup) { found in
                !file.hasContent || file.original.isFile(found)
            }
        }
        if let external = plan.externalData {
            try tree.makeFolders(external.backup)
            for (original, entry) in try externalFiles(external, plan.record) {
                // A file that nothing refers to may be gone.
                guard try tree.status(of: original) != nil else { continue }
                let backup = external.backup.appending(original.lastComponent)
                try back(original, to: backup) { entry?.isFile($0) ?? true }
            }
            try tree.syncFolder(external.backup)
        }
        try tree.syncFolder(plan.backupFolder)
        return news
    }

    /// Removes the backup's second names of files that still are the store; copies stay.
    ///
    /// A program that looks into the backup's folder would use the store beside the `-wal` there,
    /// which does not fit it any more.
    ///
    /// - Throws: `DurableFileError`; nothing is removed of a store that a swap has begun to move.
    func giveUpBackup(of plan: SwapPlan) throws {
        guard plan.store.isFile(try live()),
            try tree.status(of: plan.backupFolder)?.isFolder == true
        else { return }
        var names = plan.backups.map { (original: $0.original.path, backup: $0.backup) }
        if let external = plan.externalData {
            names += try externalFiles(external, plan.record).map { original, _ in
                (original, external.backup.appending(original.lastComponent))
            }
        }
        for (original, backup) in names {
            guard let live = try tree.status(of: original),
                let second = try tree.status(of: backup),
                live.identity.isFile(second.identity)
            else { continue }
            try tree.unlink(backup)
        }
        try tree.syncFolder(plan.backupFolder)
    }

    /// The files of external data that are to be backed up; all that there are, where a plan of an
    /// older version recorded none.
    private func externalFiles(
        _ folder: BackedUpFolder, _ record: BackupRecord?
    ) throws -> [(FilePath, BackupRecord.Entry?)] {
        if let record {
            return record.entries.filter { $0.path.parent == folder.backup }.map { entry in
                (folder.original.appending(entry.path.lastComponent), entry)
            }
        }
        return try tree.names(in: folder.original).compactMap { name in
            let path = folder.original.appending(name)
            let isFile = try tree.status(of: path)?.isRegularFile == true
            return isFile && !Self.isTemporary(name) ? (path, nil) : nil
        }
    }

    /// Gives files of external data back their names where those are gone, or where other files
    /// have them.
    ///
    /// - Parameters:
    ///   - folder: of the files.
    ///   - record: of the backup; nil for swaps of older versions.
    ///   - others: what becomes of files that other programs put under these names.
    /// - Throws: `SwapError.storeChangedSinceSwap` where they are refused.
    func restoreExternalData(
        _ folder: BackedUpFolder, _ record: BackupRecord?, others: OtherFiles
    ) throws {
        guard try tree.status(of: folder.backup) != nil else { return }
        // The app's user must be able to read it again.
        try tree.makeFolders(folder.original, for: try tree.status(of: store))
        // Another store that shares the folder may have more in it.
        for entry in record?.entries ?? [] where entry.path.parent == folder.backup {
            let original = folder.original.appending(entry.path.lastComponent)
            switch try ExternalDataLook(tree).state(of: entry, named: original) {
            case .inPlace, .lost: continue
            case .isGone: break
            case .isReplaced:
                if others == .stay { continue }
                guard others == .areReplaced else {
                    throw SwapError.storeChangedSinceSwap(store: store.description)
                }
                guard try tree.status(of: original)?.isFolder != true else {
                    throw refusal("\(original) is a folder: move it away")
                }
            }
            try linkOrClone(entry.path, to: original, where: entry.isFile)
        }
        if record == nil { try restoreUnrecorded(folder) }
        try tree.syncFolder(folder.original)
    }

    private func restoreUnrecorded(_ folder: BackedUpFolder) throws {
        for name in try tree.names(in: folder.backup) where !Self.isTemporary(name) {
            let backup = folder.backup.appending(name)
            guard try tree.status(of: folder.original.appending(name)) == nil,
                try tree.status(of: backup)?.isRegularFile == true
            else { continue }
            try linkOrClone(backup, to: folder.original.appending(name)) { _ in true }
        }
    }

    /// What becomes of files that have the names of external data.
    enum OtherFiles {
        case areRefused, areReplaced, stay
    }

    /// Expects all external data of an original to be there, or to have a backup.
    ///
    /// - Throws: `SwapError.storeChangedSinceSwap` where another file has a name, and
    ///   `.swapOutcomeUnknown` where contents are nowhere.
    func checkExternalData(of plan: SwapPlan) throws {
        guard let folder = plan.externalData, let record = plan.record else { return }
        for entry in record.entries where entry.path.parent == folder.backup {
            let original = folder.original.appending(entry.path.lastComponent)
            switch try ExternalDataLook(tree).state(of: entry, named: original) {
            case .inPlace, .isGone: continue
            case .isReplaced: throw SwapError.storeChangedSinceSwap(store: store.description)
            case .lost:
                throw SwapError.swapOutcomeUnknown(
                    store: store.description,
                    reason: "external data of the original, such as \(original), were changed or "
                        + "removed, and so was their backup. To put back the rest, confirm that "
                        + "Godwit may discard changes")
            }
        }
    }

    /// The refusal of a rollback for a file that is not the one of the backup.
    private func foreign(_ backup: FilePath) -> SwapError {
        .swapOutcomeUnknown(
            store: store.description,
            reason: "\(backup) is not the file that the swap put into its backup")
    }

    /// Gives the original's main file a name beside the backup, from where it takes the store's.
    ///
    /// - Throws: `SwapError.swapOutcomeUnknown` where the backup is not the recorded file,
    ///   `.swapRefused` where a file that a program put in the store's place has that name.
    func linkMain(
        _ main: BackedUpFile, to link: FilePath, _ plan: RollbackPlan
    ) throws -> PlannedFile {
        let found = try RollbackFacts.Backup(main, of: plan.facts.swap, in: tree)
        guard found.isWhole, let identity = found.found else { throw foreign(main.backup) }
        if let left = try tree.status(of: link)?.identity, !lock.holds(left),
            !plan.known.contains(where: { $0.isFile(left) })
        {
            let removal = BackupRemoval(
                swap: plan.facts.swap, tree: tree, takesUnrecordedCopies: true)
            guard try removal.isOwnLink() else {
                throw refusal(
                    "a program put \(link) in the store's place while its rollback was stopped; "
                        + "move it away")
            }
        }
        return try linkOrClone(main.backup, to: link, where: identity.isSame).file
    }

    /// A file that was made in the backup's folder, with the attributes of another.
    ///
    /// - Throws: `DurableFileError`, as `isMissing` or `changedMeanwhile` where it was made in a
    ///   folder that a program put in the place of the backup's.
    func taken(_ made: FilePath, attributesOf original: FilePath) throws -> PlannedFile {
        for kind in StoreCompanion.allCases
        where try tree.status(of: StoreLocation(made).companion(kind)) != nil {
            // What was to be applied to it was applied to something else.
            throw DurableFileError.changedMeanwhile(made)
        }
        let file = try tree.openForReading(made)
        let source = try tree.openForReading(original)
        _ = try files.copyAttributes(from: source, to: file)
        try file.sync()
        let planned = PlannedFile(path: made, identity: try file.status().identity)
        try file.close()
        return planned
    }

    /// Puts the original in the place of a file that took its name by mistake.
    ///
    /// That file is kept under the name that it was to have come from, where that is free.
    func putBack(_ plan: SwapPlan, insteadOf file: FilePath) throws {
        if try tree.status(of: file) == nil, try tree.status(of: store) != nil {
            try tree.rename(store, to: file, existing: .refuse)
        }
        // Its own log or journal comes back first: it reads the same beside whatever is there.
        let companions = plan.backups.filter { $0.kind != nil && $0.hasContent }
        let link = RollbackPlan.scratch("link", plan)
        for backup in companions + plan.backups.prefix(1) {
            try linkOrClone(backup.backup, to: link) { _ in true }
            try tree.rename(link, to: backup.original.path, existing: .replace)
            // A second name of one file is left where it is.
            try tree.unlinkIfPresent(link)
        }
        try tree.syncFolder(store.parent)
    }
}
