import CoreDataStore
package import DurableFiles

/// Which side of a step a journal records.
package enum StepMoment: String, Hashable, Sendable, Codable {
    /// Nothing of the step has been done.
    case begun
    /// The step is done and durable.
    case done
}

/// A file of the original and its second name, or its copy, in the backup's folder.
package struct BackedUpFile: Hashable, Sendable, Codable {
    package let original: PlannedFile
    package let backup: FilePath
    /// Nil for the main file.
    package let kind: StoreCompanion?
    /// Whether the main file alone would be an older state of the store.
    package let hasContent: Bool
}

/// A file of external data that the swap brings in.
package struct AddedFile: Hashable, Sendable, Codable {
    package let file: PlannedFile
    package let target: FilePath
}

/// A folder of external data and its backup.
package struct BackedUpFolder: Hashable, Sendable, Codable {
    package let original: FilePath
    package let backup: FilePath
}

/// One step of a swap; each can be done again after a crash.
package enum SwapStep: Hashable, Sendable, Codable {
    /// Owner, mode, access control list and extended attributes of the original go to the files
    /// that are to take its name, which are synced.
    case carryAttributes(from: FilePath, to: [FilePath])
    /// The original's files get a second name in a folder beside the store; where the file
    /// system has no hard links, they are copied.
    case backUp(folder: FilePath, files: [BackedUpFile], externalData: BackedUpFolder?)
    /// Files of external data come in, before anything refers to them.
    case addExternalData([AddedFile], folders: [FilePath])
    /// The snapshot takes the store's name. Beside the old `-wal` or journal it still reads
    /// right, for writing the same pages again changes nothing.
    case settle(PlannedFile)
    /// `-wal`, `-shm` and journal go: from here on the main file is the whole store.
    case removeCompanions([FilePath])
    /// The new file takes the store's name.
    case install(PlannedFile)
}

/// What a swap does, in order.
///
/// A value: it is made once, goes into the ledger, and is what a resumed swap and a rollback go
/// by.
///
/// Between any two system calls of it the store reads as the whole original or the whole result.
/// A new main file beside an old `-wal` would silently read as the old store: that state never
/// exists.
package struct SwapPlan: Hashable, Sendable, Codable {
    /// The main file of the original, no symbolic link in its path.
    package let store: PlannedFile
    /// The folder that the store lies in; nil in plans of versions that did not record it.
    package let parent: FileIdentity?
    package let newFile: PlannedFile
    /// Nil where the original is at rest.
    package let snapshot: PlannedFile?
    /// `.godwit-backup-RUN` beside the store, shared by the stores of one folder.
    package let backupFolder: FilePath
    /// Main file first; `-shm` is left out, for it holds nothing.
    package let backups: [BackedUpFile]
    package let externalData: BackedUpFolder?
    package let added: [AddedFile]
    /// Folders that are made for added files, the outermost first.
    package let addedFolders: [FilePath]
    package let steps: [SwapStep]
    /// What the backup holds; nil in plans of versions that did not record it.
    package private(set) var record: BackupRecord?

    /// What the names of backup folders begin with.
    package static let backupPrefix = ".godwit-backup-"
    /// What the names of files begin with that a program had put in a store's place and that
    /// nothing else has any more; no run takes them for stores of a folder.
    package static let keptPrefix = ".godwit-kept-"
    /// The longest name of a run, in bytes.
    package static let runLimit = 64

    /// Decides what to do, or why nothing can be done.
    ///
    /// - Throws: `SwapError.sourceChanged`, `.severalHardLinks` or `.swapRefused`.
    package init(_ facts: SwapFacts) throws(SwapError) {
        try SwapPlan.check(facts)
        let path = facts.store.path
        let folder = path.parent.appending(SwapPlan.backupPrefix + facts.run)
        let hasContent = facts.companions.contains { $0.content == .pages }
        store = facts.store
        parent = facts.parent
        newFile = facts.newFile
        snapshot = hasContent ? facts.snapshot : nil
        backupFolder = folder
        let main = BackedUpFile(
            original: facts.store, backup: folder.appending(path.lastComponent), kind: nil,
            hasContent: true)
        backups =
            [main]
            + facts.companions.filter { $0.kind != .sharedMemory }.map { companion in
                BackedUpFile(
                    original: companion.file,
                    backup: folder.appending(companion.file.path.lastComponent),
                    kind: companion.kind, hasContent: companion.content == .pages)
            }
        let external = StoreLocation(path).externalData
        externalData =
            facts.hasExternalData
            ? BackedUpFolder(
                original: external,
                backup: StoreLocation(folder.appending(path.lastComponent)).externalData)
            : nil
        added = facts.additions.map { AddedFile(file: $0.file, target: $0.target) }
        addedFolders = facts.missingFolders
        var steps: [SwapStep] = [
            .backUp(folder: folder, files: backups, externalData: externalData)
        ]
        if !added.isEmpty { steps.append(.addExternalData(added, folders: addedFolders)) }
        steps.append(
            .carryAttributes(
                from: path, to: ([snapshot, newFile].compactMap { $0 }).map(\.path)))
        if let snapshot { steps.append(.settle(snapshot)) }
        if !facts.companions.isEmpty {
            // Without its index a log reads as well; without its log an index is nothing.
            steps.append(.removeCompanions(StoreLocation(path).companions))
        }
        self.steps = steps + [.install(newFile)]
        let backup = externalData?.backup
        record = BackupRecord(
            facts.originals.map { entry in
                let isExternal = entry.path.parent == external
                let target = isExternal ? backup ?? folder : folder
                return entry.renamed(target.appending(entry.path.lastComponent))
            })
    }

    /// The plan after files of its backup became copies.
    package func recording(_ copies: [BackupRecord.Entry]) -> SwapPlan {
        var plan = self
        plan.record = record?.replacing(copies)
        return plan
    }

    private static func check(_ facts: SwapFacts) throws(SwapError) {
        let path = facts.store.path
        func refusal(_ reason: String) -> SwapError {
            .swapRefused(store: path.description, reason: reason)
        }
        guard facts.changes.isEmpty else { throw .sourceChanged(path.description) }
        guard facts.links <= facts.ownLinks + 1 else {
            throw .severalHardLinks(store: path.description, links: facts.links - facts.ownLinks)
        }
        let isName = facts.run.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isName, (1...runLimit).contains(facts.run.utf8.count) else {
            throw refusal("the run's name cannot be part of a file's name")
        }
        for companion in facts.companions {
            if case .foreign(let reason) = companion.content { throw refusal(reason) }
        }
        let needsSnapshot = facts.companions.contains { $0.content == .pages }
        if needsSnapshot, facts.snapshot == nil {
            throw refusal("its -wal or journal has content and no snapshot was made of it")
        }
        guard facts.isValidated else {
            throw refusal("\(facts.newFile.path) is not the file that was validated")
        }
        guard facts.isNewFileAtRest else { throw refusal("its new file is still being written") }
        let moved =
            [facts.newFile] + (needsSnapshot ? [facts.snapshot].compactMap { $0 } : [])
            + facts.additions.map(\.file)
        for file in moved {
            guard file.identity.device == facts.store.identity.device else {
                throw refusal(
                    "\(file.path) lies on another file system; build it beside the store, or write "
                        + "results to another folder")
            }
            guard file.identity.inode != facts.store.identity.inode else {
                throw refusal("\(file.path) is the store itself")
            }
        }
        if let taken = facts.additions.first(where: \.isTaken) {
            throw refusal("\(taken.target), which the result brings, exists already")
        }
    }
}
