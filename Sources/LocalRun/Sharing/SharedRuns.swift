import CoreDataStore
package import DurableFiles
import Jobs
import MigrationEngine
package import RunLedger

/// Begins, finds and reopens runs whose jobs workers do; all of it takes its time and belongs
/// beside a coordinator's loop.
package struct SharedRuns: Sendable {
    private let surroundings: SharedRun.Surroundings

    package init(_ surroundings: SharedRun.Surroundings) { self.surroundings = surroundings }

    private var book: RunBook {
        RunBook(ledger: surroundings.ledger, environment: surroundings.environment)
    }

    /// What is to be looked through for stores.
    package struct Named: Sendable {
        package var paths: [FilePath]
        package var include: [FilePath] = []
        package var exclude: [FilePath] = []
        /// The folder of the results; nil swaps stores in place.
        package var output: FilePath?

        package init(paths: [FilePath]) { self.paths = paths }
    }

    /// Finds the stores that a request names.
    ///
    /// - Returns: the stores in the order in which they are numbered, and the files that were
    ///   left out and may hold a user's data, each with the reason.
    /// - Throws: `RunError.nothingToDo` where there is none, and where results would share a path.
    package func discover(
        _ named: Named
    ) throws(RunError) -> (stores: [FoundStore], leftOut: [String]) {
        var selection = StoreSelection(paths: named.paths)
        selection.include = named.include
        selection.exclude = named.exclude
        selection.ignoredFolders =
            [surroundings.state] + (named.output.map { [$0] } ?? [])
        selection.bounds = surroundings.roots.folders
        let files = surroundings.roots.environment.files
        let found = try RunError.translating {
            try StoreDiscovery.discover(selection, files: files)
        }
        guard !found.stores.isEmpty else {
            throw .nothingToDo(
                "no store was found in what the request names; \(found.absence)")
        }
        if named.output != nil {
            for warning in found.warnings {
                switch warning.kind {
                case .sameResult, .sameSupportFolder:
                    throw .nothingToDo(
                        "\(warning); migrate them one after the other into different folders")
                case .sameFile, .sameResultButForCase: continue
                }
            }
        }
        let stores = found.stores.enumerated().map { place, store in
            FoundStore(
                number: place + 1, path: store.real,
                output: named.output?.appending(store.relative), bytes: store.bytes)
        }
        return (stores, found.skipped.filter(\.needsAttention).map { "\($0.path): \($0.reason)" })
    }

    /// Begins a run over these stores, or finds the same request's unfinished one, whose state is
    /// not changed.
    ///
    /// - Throws: `RunError.otherRun` where an unfinished run has one of the stores.
    package func begin(
        _ request: RunRequest, over stores: [FoundStore]
    ) throws(RunError) -> RunOverview {
        let mark = RunMark.make(
            state: surroundings.state, identifier: surroundings.environment.identifier())
        let recorded = RecordedRequest(request, mark: mark)
        let digest = try recorded.digest()
        if let open = try book.unfinished(digest) {
            try finishRollbacks(of: open.id, clients: request.clients)
        }
        let (id, _) = try book.begin(
            stores, request: try recorded.text(), digest: digest,
            engine: Planner.engineVersion, opens: false)
        return try book.find(id, state: surroundings.state)
    }

    /// Ends what was begun of a run's rollbacks, before the run resumes: a store that has its
    /// original again is not done.
    ///
    /// - Parameters:
    ///   - run: an unfinished run.
    ///   - clients: how programs that have a store open are treated.
    /// - Throws: `RunError` where one cannot be ended; the run must not be resumed then.
    package func finishRollbacks(
        of run: String, clients: ClientPolicy = ClientPolicy()
    ) throws(RunError) {
        let environment = surroundings.environment
        let selection = RunSelection(state: surroundings.state, run: run)
        let selected = try SelectedRun(
            selection, ledger: surroundings.ledger, state: surroundings.state,
            environment: environment, wanted: [])
        try RollbackRun(
            selection, discardsChanges: false, clients: clients, environment: environment
        ).finishStopped(in: selected)
    }

    /// Has a run put its swaps off, or not, as the request says that was given last.
    ///
    /// - Returns: the run as it is from now on; nil where it does so already.
    /// - Throws: `RunError` where the ledger cannot be read or written.
    package func adoptSwaps(
        of request: RunRequest, in run: RunOverview
    ) throws(RunError) -> RunOverview? {
        let recorded = try RecordedRequest(reading: run.record.request)
        guard let text = try recorded.adoptingSwaps(of: request)?.text() else { return nil }
        try RunError.ledger { () throws(LedgerError) in
            try surroundings.ledger.append([.requestChanged(run: run.id, request: text)])
        }
        return try find(run.id)
    }

    /// Lays claim to the room of a run.
    ///
    /// - Returns: what is missing; nil where there is enough.
    /// - Throws: `RunError` where the ledger or the disks cannot be looked at.
    package func reserve(_ run: SharedRun) throws(RunError) -> SpaceShortage? {
        do throws(RunError) {
            try RunSpace(context: run.context).reserve()
            return nil
        } catch {
            guard case .noRoom(let shortage) = error else { throw error }
            return shortage
        }
    }

    /// A run by its id.
    ///
    /// - Throws: `RunError.nothingToDo` where there is none.
    package func find(_ id: String) throws(RunError) -> RunOverview {
        try book.find(id, state: surroundings.state)
    }

    /// How many stores each unfinished run has.
    ///
    /// - Throws: `RunError` where the ledger cannot be read.
    package func storeCounts() throws(RunError) -> [String: Int] {
        let runs = try RunError.ledger { () throws(LedgerError) in
            try surroundings.ledger.runs()
        }
        var counts: [String: Int] = [:]
        for run in runs where run.state.isUnfinished { counts[run.id] = try storeCount(of: run.id) }
        return counts
    }

    /// How many stores a run has.
    ///
    /// - Throws: `RunError` where the ledger cannot be read.
    package func storeCount(of run: String) throws(RunError) -> Int {
        try RunError.ledger { () throws(LedgerError) in
            try surroundings.ledger.storeCounts(of: run).values.reduce(0, +)
        }
    }

    /// Cancels a run of which nothing was begun, so that its stores are free for another request.
    ///
    /// - Throws: `RunError` where the ledger cannot be written.
    package func giveUp(_ run: String, _ reason: String) throws(RunError) {
        try book.change(run, .cancelled, reason)
    }

    /// What a replay has come to so far.
    package struct Reopened: Sendable {
        /// Stores that wait again.
        package var stores = 0
        /// Whether the run had ended and is open again.
        package var opensRun = false

        package init() {}
    }

    /// Lets failed stores of a run wait for work again, and opens the run, where it has ended,
    /// together with the first of them: a kill must not leave stores that wait in a run that is
    /// over.
    ///
    /// - Parameters:
    ///   - run: which must not end meanwhile.
    ///   - store: one of its stores; nil takes all that failed.
    ///   - reopened: counts on with every commit, also where a later one fails.
    /// - Throws: `RunError` where the ledger cannot be read or written, or has no such run, and
    ///   for one that was cancelled.
    package func reopen(
        _ run: String, store: Int?, _ reopened: inout Reopened
    ) throws(RunError) {
        let state = try find(run).state
        guard state != .cancelled else {
            throw .nothingToDo("the run \(run) was cancelled: submit its stores anew")
        }
        var last: Int?
        while true {
            let page = try RunError.ledger { () throws(LedgerError) in
                try surroundings.ledger.stores(of: run, in: [.failed], after: last, limit: 1000)
            }
            guard let end = page.last?.number else { return }
            last = end
            let chosen = page.filter { store == nil || $0.number == store }
            guard !chosen.isEmpty else { continue }
            let at = surroundings.environment.wallTime()
            let opens = state == .ended && !reopened.opensRun
            var records: [LedgerRecord] = []
            if opens {
                records.append(
                    .runChanged(
                        run: run, .open, reason: "stores are worked on again", at: at))
            }
            records += chosen.map {
                .storeChanged(run: run, store: $0.number, .waiting, reason: nil, at: at)
            }
            try RunError.ledger { () throws(LedgerError) in
                try surroundings.ledger.append(records)
            }
            reopened.stores += chosen.count
            if opens { reopened.opensRun = true }
        }
    }

    /// How many stores of a run have failed; 0 where that cannot be read, for it only counts
    /// towards a limit.
    package func failures(of run: String) -> Int {
        do throws(RunError) { return try storeCount(of: run, in: .failed) } catch { return 0 }
    }

    /// Reopens what failed in a run that has ended, as a later command names it.
    ///
    /// - Parameter selection: the run, or one of its stores.
    /// - Returns: the run as it is now, and how many stores wait again.
    /// - Throws: `RunError.nothingToDo` where nothing failed, and for a run that has not ended:
    ///   the command that began it works on all of its stores.
    package func replay(
        _ selection: RunSelection
    ) throws(RunError) -> (run: RunOverview, stores: Int) {
        let selected = try SelectedRun(
            selection, ledger: surroundings.ledger, state: surroundings.state,
            environment: surroundings.environment, wanted: [.failed])
        try finishRollbacks(of: selected.run.id)
        let failed = try storeCount(of: selected.run.id, in: .failed)
        guard !selected.run.state.isUnfinished || failed == 0 else {
            throw .nothingToDo(
                "the run \(selected.run.id) has not ended: the command that began it goes on with "
                    + "it, and what failed can be replayed then")
        }
        let numbers = try book.reopen(selected.run, select: selection.store)
        return (try find(selected.run.id), numbers.count)
    }

    private func storeCount(of run: String, in state: StoreState) throws(RunError) -> Int {
        try RunError.ledger { () throws(LedgerError) in
            try surroundings.ledger.storeCounts(of: run)[state] ?? 0
        }
    }

    /// Requests of runs that lie beside the stores, because workers do not see the state folder.
    ///
    /// - Throws: `RunError.file` where a root cannot be looked at.
    package func requestsInRoots() throws(RunError) -> [FilePath] {
        try RunError.translating {
            try surroundings.roots.environment.roots.values.flatMap { root in
                try surroundings.environment.files.names(in: root.folder)
                    .filter { $0.description.hasPrefix(DurableFileSystem.temporaryPrefix) }
            }
        }
    }

    /// Looks whether a run that is over has left what its end removes.
    ///
    /// - Parameters:
    ///   - run: its id.
    ///   - requests: those in the roots.
    /// - Returns: whether it has: it was killed between the two.
    /// - Throws: `RunError.file` where that cannot be looked at.
    package func isUntidy(_ run: String, _ requests: [FilePath]) throws(RunError) -> Bool {
        let name = SharedRun.requestSuffix(of: run)
        if requests.contains(where: { $0.description.hasSuffix(name) }) { return true }
        let folders = RunFolders(state: surroundings.state, run: run)
        return try RunError.translating {
            if try FileStatus.ifPresent(folders.request) != nil { return true }
            return try !surroundings.environment.files.abandoned(in: folders.folder).isEmpty
        }
    }

    /// Whether a run that is over has no report of its end: it was killed between the two.
    ///
    /// - Throws: `RunError` where that cannot be looked at.
    package func lacksReport(_ run: RunOverview) throws(RunError) -> Bool {
        let counts = try RunError.ledger { () throws(LedgerError) in
            try surroundings.ledger.storeCounts(of: run.id)
        }
        // A prune has removed it, a rollback has come after it.
        guard counts[.pruned] ?? 0 == 0, counts[.rolledBack] ?? 0 == 0 else { return false }
        let file = RunFolders(state: surroundings.state, run: run.id).report
        guard let status = try RunError.translating({ try FileStatus.ifPresent(file) })
        else { return true }
        return status.identity.modified.seconds < run.changedAt / 1000
    }

    /// Whether anything may have been made of a store; one that waits for a replay was begun.
    private func isBegun(_ store: StoreSummary, of run: String) throws(RunError) -> Bool {
        guard store.state == .waiting, store.preparation == nil else { return true }
        return try RunError.ledger { () throws(LedgerError) in
            try !surroundings.ledger.jobHistories(run: run, store: store.number).isEmpty
        }
    }

    /// Gives up every unfinished store of a cancelled run but those that are at work.
    ///
    /// - Parameters:
    ///   - run: that was cancelled.
    ///   - busy: numbers that are left alone.
    /// - Throws: `RunError` where the ledger cannot be written.
    package func cancelRest(_ run: SharedRun, but busy: Set<Int>) throws(RunError) {
        let deliveries = Deliveries(of: run, checked: Deliveries.CheckedFiles())
        var last: Int?
        while true {
            let page = try RunError.ledger { () throws(LedgerError) in
                try surroundings.ledger.stores(
                    of: run.id, in: [.waiting, .running, .validated], after: last, limit: 1000)
            }
            guard let end = page.last?.number else { return }
            last = end
            for store in page where !busy.contains(store.number) {
                // Between two names it must not be left; a rollback or the same request ends it.
                guard try !deliveries.hasBegunMove(store.found) else { continue }
                // Before its end is durable: a start looks again at stores that have not ended.
                if try isBegun(store, of: run.id) { try deliveries.removeAll(of: store.found) }
                try RunError.ledger { () throws(LedgerError) in
                    try surroundings.ledger.append([
                        .storeChanged(
                            run: run.id, store: store.number, .cancelled, reason: nil,
                            at: surroundings.environment.wallTime()),
                        .released(run: run.id, store: store.number),
                    ])
                }
            }
        }
    }
}

extension StoreRecord {
    /// The text of a store's failure for the ledger.
    package static func text(of cause: FailureCause) throws(RunError) -> String {
        try StoreRecord.failure(cause).text()
    }

    /// The text for a store that needed nothing.
    package static func textOfUnchanged() throws(RunError) -> String {
        try StoreRecord.unchanged.text()
    }
}
