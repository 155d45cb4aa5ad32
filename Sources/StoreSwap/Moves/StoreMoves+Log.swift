import DurableFiles
import Glibc
import StoreLocks

/// How an original's log comes back beside the store: any file that a program puts in the store's
/// place just then would read wrong with it.
extension StoreMoves {
    /// Makes sure that no program can write to a log or a journal that is to lie beside the store.
    ///
    /// One that opened it before it was withdrawn has it open beside another main file, and would
    /// empty it when it closes that.
    ///
    /// - Throws: `SwapError.storeBusy` where a program has one open for writing.
    func checkUnwritten(_ backups: [BackedUpFile]) throws {
        for file in backups where file.kind != nil && file.hasContent {
            guard try tree.status(of: file.backup) != nil else { continue }
            let open = try tree.openForReading(file.backup)
            guard open.hasWriters() else { continue }
            let users = try FileUser.all(of: open.status().identity)
            throw SwapError.storeBusy(
                store: store.description,
                holder: users.isEmpty
                    ? "a program that has its log open" : FileUser.words(users))
        }
    }

    /// Keeps SQLite from using a log beside the store, whatever file has the store's name.
    ///
    /// - Parameters:
    ///   - swap: whose rollback it is.
    ///   - known: what may have the store's name, and what may lie beside it.
    /// - Throws: `SwapError.sourceChanged` where a program uses a log there.
    func holdLog(of swap: SwapPlan, known: [PlannedFile]) throws {
        guard moved.logIndex == nil else { return }
        let path = StoreLocation(store).companion(.sharedMemory)
        if try tree.status(of: path) != nil {
            // Left by a program that was killed: no program has the store open.
            try removeCompanions([path], of: swap, known: known)
        }
        let index: OpenFile
        do throws(DurableFileError) {
            index = try tree.create(path)
        } catch {
            guard error.number == EEXIST else { throw error }
            throw SwapError.changed(store)
        }
        do throws(DurableFileError) {
            // The app may be another user than this process.
            _ = try files.copyAttributes(from: tree.openForReading(store), to: index)
            try index.lockLogIndex()
        } catch {
            guard case .inUse = error else { throw error }
            throw SwapError.changed(store)
        }
        moved.logIndex = consume index
    }

    /// Ends what `holdLog` began, once the log lies beside its own main file.
    ///
    /// - Parameter removes: whether the index is removed: not where a program may have opened it.
    /// - Throws: `DurableFileError`.
    func releaseLog(removes: Bool) throws(DurableFileError) {
        guard let index = moved.logIndex.take() else { return }
        let path = StoreLocation(store).companion(.sharedMemory)
        if removes, let found = try tree.status(of: path)?.identity,
            try index.status().identity.isFile(found)
        {
            try tree.unlink(path)
        }
        try index.close()
    }

    /// Ends what `holdLog` began, once the log was withdrawn.
    ///
    /// A program that has opened the log finds its index locked for as long as it has the log
    /// open, and so does every other program that opens the store meanwhile.
    ///
    /// - Parameter log: what was withdrawn.
    func abandonLog(_ log: borrowing OpenFile) {
        guard let index = moved.logIndex.take() else { return }
        index.keepLogIndex(until: log)
    }
}
