import DurableFiles
import Glibc
import StoreLocks

/// How a file takes the store's name while programs may replace the store by a rename at any
/// moment, of which no lock and no lease keeps them.
extension StoreMoves {
    /// Gives a file the store's name, durably; one that has it already keeps it.
    ///
    /// Renaming one hard link of a file over another would do nothing and leave both.
    ///
    /// - Parameters:
    ///   - file: as it was planned or made; no other file gets the name.
    ///   - replaced: what may have had the store's name before.
    ///   - putBack: called where another file got the name all the same, because the file's own
    ///     name changed hands in the middle of the call.
    /// - Throws: `SwapError.swapRefused` for another file than the planned one, `.sourceChanged`
    ///   where a program replaced the store meanwhile: what it put there last has the name then.
    func replaceStore(
        with file: PlannedFile, insteadOf replaced: [PlannedFile] = [],
        putBack: () throws -> Void = {}
    ) throws {
        if file.isFile(try live()) {
            try endExchange(of: file, insteadOf: replaced)
        } else {
            guard let present = try tree.status(of: file.path), file.isFile(present.identity)
            else { throw refusal("\(file.path), which was to take its place, is gone or changed") }
            try cover(file.path)
            if try !exchangeStore(for: file) {
                moved.named.append(file.identity)
                try tree.rename(file.path, to: store, existing: .replace)
                let named = try tree.status(of: store)
                guard let named, file.isFile(named.identity) else {
                    // Only a link can have been the file's own name: what a program puts in the
                    // store's place afterwards stays there.
                    guard let named, !named.isRegularFile else { throw SwapError.changed(store) }
                    try putBack()
                    throw another(file)
                }
            }
        }
        try tree.syncFolder(store.parent)
        try syncSource(file.path.parent)
    }

    /// Exchanges a file for the store and looks at both.
    ///
    /// - Returns: whether the file system can do that; nothing has changed where it cannot.
    private func exchangeStore(for file: PlannedFile) throws -> Bool {
        moved.named.append(file.identity)
        guard try tree.exchange(file.path, with: store) else { return false }
        let (named, out) = (try tree.status(of: store), try tree.status(of: file.path))
        guard let named, file.isFile(named.identity) else {
            if let named, !named.isRegularFile {
                // A link, say, had taken the file's own name.
                try giveBack(from: file.path, placed: named.identity)
                throw another(file)
            }
            // A program replaced the store afterwards, or removed it. Another file that had taken
            // the file's own name looks the same; only who may replace the store can do that.
            throw SwapError.changed(store)
        }
        if let out, !lock.holds(out.identity) {
            // A program replaced the store before.
            try giveBack(from: file.path, placed: file.identity)
            throw SwapError.changed(store)
        }
        try tree.unlinkIfPresent(file.path)
        return true
    }

    /// Ends an exchange of a swap or of its rollback that a process began and did not end: a file
    /// that a program put in the store's place gets the name back, or, where the store was written
    /// since, a name of its own.
    ///
    /// - Parameters:
    ///   - swap: the swap.
    ///   - replaced: what may have had the store's name before, and lain beside it.
    ///   - copies: files that the rollback made.
    /// - Throws: as `replaceStore`.
    func endExchanges(
        of swap: SwapPlan, insteadOf replaced: [PlannedFile], copies: [PlannedFile] = []
    ) throws {
        let original = PlannedFile(
            path: RollbackPlan.scratch("link", swap), identity: swap.store.identity)
        for file in [swap.newFile, swap.snapshot, original].compactMap(\.self) + copies
        where file.isFile(try live()) {
            try endExchange(of: file, insteadOf: replaced)
        }
    }

    /// Ends what a process that was killed began: the file has the store's name, and what it was
    /// exchanged for may have the file's.
    private func endExchange(of file: PlannedFile, insteadOf replaced: [PlannedFile]) throws {
        guard let left = try tree.status(of: file.path) else { return }
        // A second link of it would stay, too.
        let isOurs =
            ([file] + replaced).contains { $0.isFile(left.identity) } || lock.holds(left.identity)
        guard isOurs else {
            // Written since: it is a program's now, and what was there before has another name.
            guard file.isSame(try live()) else { return try keep(file.path) }
            if let beside = try foreignCompanion(of: file, known: replaced) {
                throw refusal(
                    "a program put \(file.path) in the store's place when a command was killed. "
                        + "Godwit cannot determine whether \(beside) belongs to \(store) or to "
                        + "\(file.path). 1. Copy all three files. 2. Move \(file.path) away, and "
                        + "\(beside) if it belongs to it. 3. Run the same command again")
            }
            try giveBack(from: file.path, placed: file.identity)
            throw SwapError.changed(store)
        }
        try tree.unlink(file.path)
    }

    /// A log or a journal with content that lies beside the store and may belong to a file that
    /// has its name since an exchange; nil where there is none.
    ///
    /// What is known does not, and neither does what was last written before the file was planned.
    /// Other times say nothing: a change of owner or a second link moves them, and a program may
    /// write to a log that it found there.
    private func foreignCompanion(
        of file: PlannedFile, known: [PlannedFile]
    ) throws -> FilePath? {
        for kind in try companionsWithContent() {
            let companion = try PlannedFile(at: StoreLocation(store).companion(kind), in: tree)
            if known.contains(where: { $0.isSame(companion.identity) }) { continue }
            if companion.identity.modified > file.identity.changed { return companion.path }
        }
        return nil
    }

    /// Gives the store's name to what a program put there last.
    ///
    /// - Parameters:
    ///   - path: where an exchange put what had the store's name.
    ///   - placed: the file that the exchange gave the name, which is kept open.
    /// - Throws: `DurableFileError`.
    private func giveBack(from path: FilePath, placed: FileIdentity) throws {
        var placed = placed
        moved.named.append(placed)
        var kept: OpenFile?
        for _ in 0..<Self.exchanges {
            // As long as it is held, no other file gets its number.
            let next = try tree.pin(path)
            guard let waiting = try tree.status(of: path)?.identity else { return }
            let isExchanged = try unlessRaced { () throws(DurableFileError) in
                guard try tree.status(of: store) != nil else {
                    // It was removed or moved away: another file of that program's is kept.
                    try tree.rename(path, to: store, existing: .refuse)
                    return
                }
                _ = try tree.exchange(path, with: store)
            }
            guard isExchanged else { continue }
            guard let out = try tree.status(of: path)?.identity, !placed.isFile(out)
            else { break }
            // The program has replaced the store once more: what it put there is newer.
            placed = waiting
            kept = next
        }
        _ = consume kept
        try tree.syncFolder(store.parent)
    }

    /// How often a program may replace the store while its file is given back.
    private static let exchanges = 1000

    /// Whether a body went through; false where a name came or went in the middle of it.
    private func unlessRaced(
        _ body: () throws(DurableFileError) -> Void
    ) throws(DurableFileError) -> Bool {
        do throws(DurableFileError) {
            try body()
            return true
        } catch {
            guard error.isMissing || error.number == EEXIST else { throw error }
            return false
        }
    }

    private func another(_ file: PlannedFile) -> SwapError {
        refusal(
            "another program replaced \(file.path) while Godwit renamed it. Godwit put the "
                + "store's own file back")
    }
}
