package import DurableFiles
package import Jobs
import MigrationPlans
package import RunLedger
package import StateFolders

/// How stores ended whose backups and leftovers are gone.
package struct PrunedOutcomes: Hashable, Sendable {
    package let migrated: Int
    /// They were of the destination's version already.
    package let unchanged: Int
    package let failed: Int
    /// Migrated, and their originals put back.
    package let rolledBack: Int
    /// Given up by hand, also where a result had waited for its swap.
    package let cancelled: Int

    package init(migrated: Int, unchanged: Int, failed: Int, rolledBack: Int, cancelled: Int) {
        self.migrated = migrated
        self.unchanged = unchanged
        self.failed = failed
        self.rolledBack = rolledBack
        self.cancelled = cancelled
    }
}

/// Reads what a state folder's ledger knows, also while another process owns it.
package struct RunRecords {
    let ledger: Ledger
    let state: FilePath

    /// Opens the ledger for reading.
    ///
    /// - Throws: `RunError.ledger` where there is none, `.file` where there is no such folder.
    package init(state: FilePath) throws(RunError) {
        self.state = state
        let folder: FilePath
        do throws(DurableFileError) {
            folder = try DurableFileSystem(links: .followed).resolve(state)
        } catch {
            throw .file(error)
        }
        ledger = try RunError.ledger { () throws(LedgerError) in try Ledger(reading: folder) }
    }

    /// All runs, the newest first.
    package func runs() throws(RunError) -> [RunOverview] {
        try RunError.ledger { () throws(LedgerError) in try ledger.runs() }
    }

    /// The runs that have a store, the newest first.
    ///
    /// - Throws: `RunError.nothingToDo` where none has it.
    package func runs(with store: FilePath) throws(RunError) -> [RunOverview] {
        var found: [RunOverview] = []
        for run in try runs() {
            let known = try RunError.ledger { () throws(LedgerError) in
                try ledger.store(run: run.id, path: store)
            }
            if known != nil { found.append(run) }
        }
        guard !found.isEmpty else {
            throw .nothingToDo("no run of this state folder has the store \(store)")
        }
        return found
    }

    /// A run by its id; nil takes the newest.
    ///
    /// - Throws: `RunError.noRun`, `.ledger`.
    package func run(_ id: String?) throws(RunError) -> RunOverview {
        let run = try RunError.ledger { () throws(LedgerError) in
            if let id { try ledger.run(id) } else { try ledger.newestRun() }
        }
        guard let run else {
            throw .noRun(id: id, state: state)
        }
        return run
    }

    /// What a run was asked for.
    ///
    /// - Parameters:
    ///   - run: its id.
    ///   - state: the state folder.
    ///   - slots: jobs at a time, which are not recorded.
    /// - Returns: the request.
    /// - Throws: `RunError` for a run that is not there, or one of another version.
    package func request(
        of run: String, state: FilePath, slots: Int
    ) throws(RunError) -> RunRequest {
        try RecordedRequest(reading: try self.run(run).record.request).request(
            state: state, slots: slots)
    }

    /// How many stores of a run have each state.
    package func counts(of run: String) throws(RunError) -> [StoreState: Int] {
        try RunError.ledger { () throws(LedgerError) in try ledger.storeCounts(of: run) }
    }

    /// Stores of a run that were migrated, and the bytes that they had when they were found.
    package func migrated(in run: String) throws(RunError) -> RunExtent {
        try RunError.ledger { () throws(LedgerError) in try RunExtent(migratedIn: run, ledger) }
    }

    /// Whether a run still has its own folder, with reports for example.
    package func hasFolder(_ run: String, state: FilePath) throws(RunError) -> Bool {
        try RunError.translating {
            try FileStatus.ifPresent(RunFolders(state: state, run: run).folder) != nil
        }
    }

    /// What had become of the stores of a run that were pruned since.
    package func prunedOutcomes(of run: String) throws(RunError) -> PrunedOutcomes {
        try RunError.ledger { () throws(LedgerError) in
            let former = try ledger.formerStates(of: run, in: .pruned)
            let done = former[.done] ?? 0
            let unchanged =
                done == 0
                ? 0
                : try ledger.stores(
                    of: run, in: .pruned, reportedAs: .unchanged)
            return PrunedOutcomes(
                migrated: done - unchanged, unchanged: unchanged, failed: former[.failed] ?? 0,
                rolledBack: former[.rolledBack] ?? 0, cancelled: former[.cancelled] ?? 0)
        }
    }

    /// How much work a run did twice, and how often jobs were tried.
    package func attempts(of run: String) throws(RunError) -> AttemptCounts {
        try RunError.ledger { () throws(LedgerError) in try ledger.attemptCounts(run: run) }
    }

    /// Calls a body for every store of a run, page by page.
    ///
    /// - Parameters:
    ///   - run: its id.
    ///   - isWanted: of which stores the record is read, which costs more than all else.
    ///   - body: called with a store and its record, nil where it has none or is not wanted.
    /// - Throws: `RunError`, and what the body throws.
    package func forEachStore(
        of run: String, recordsWhere isWanted: (StoreSummary) -> Bool = { _ in true },
        _ body: (StoreSummary, StoreRecord?) throws -> Void
    ) throws {
        var last: Int?
        while true {
            let page = try ledger.stores(of: run, after: last, limit: 500)
            guard let end = page.last?.number else { return }
            last = end
            let found = try ledger.storeReports(
                run: run, stores: page.filter(isWanted).map(\.number))
            let texts = page.map { found[$0.number] }
            for (store, record) in zip(page, try Self.decoded(texts)) { try body(store, record) }
        }
    }

    /// Threads that decode records, and how many each takes at a time.
    private static let (decoders, share) = (2, 32)

    /// Decodes records, which costs more than reading them: many on several threads.
    private static func decoded(_ texts: [String?]) throws -> [StoreRecord?] {
        typealias Decoded = [Result<StoreRecord, RunError>?]
        let decode: @Sendable ([String?]) -> Decoded = { texts in
            texts.map { text in
                text.map { text in
                    Result { () throws(RunError) in try StoreRecord(reading: text) }
                }
            }
        }
        guard texts.count > 2 * share else { return try decode(texts).map { try $0?.get() } }
        let starts = Array(stride(from: 0, to: texts.count, by: share))
        let jobs = try SlotJobs<Decoded>(count: decoders, jobs: starts.count)
        defer { jobs.end() }
        for start in starts {
            let part = Array(texts[start..<min(start + share, texts.count)])
            jobs.submit { () throws(EngineError) in decode(part) }
        }
        return try starts.flatMap { _ in try jobs.next().map { try $0?.get() } }
    }

    /// Closes the ledger.
    package func close() throws(RunError) {
        try RunError.ledger { () throws(LedgerError) in try ledger.close() }
    }
}
