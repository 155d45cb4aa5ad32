import CoreDataStore
package import DurableFiles
import Jobs
import MigrationEngine
import MigrationPlans
package import RunLedger
package import RunMoves
package import StateFolders
package import StoreDiscovery
package import StoreLocks
package import StoreRuns

/// Begins, finds and reopens runs; all of it takes its time and belongs beside a coordinator's
/// loop.
package struct ClusterRuns: Sendable {
    let dependencies: ClusterRun.Dependencies

    package init(_ dependencies: ClusterRun.Dependencies) { self.dependencies = dependencies }

    private var book: RunRegistry {
        RunRegistry(ledger: dependencies.ledger, environment: dependencies.environment)
    }

    /// Finds the stores that a request names.
    ///
    /// - Parameters:
    ///   - selection: paths and patterns.
    ///   - output: the folder of the results; nil swaps stores in place.
    /// - Returns: the stores in the order in which they are numbered, and what was left out.
    /// - Throws: `RunError.nothingToDo` where there is none, and where results would share a path.
    package func discover(
        _ selection: StoreSelection, output: FilePath?
    ) throws(RunError) -> NamedFleet {
        var selection = selection
        selection.ignoredFolders = [dependencies.state] + (output.map { [$0] } ?? [])
        selection.bounds = dependencies.roots.folders
        return try NamedFleet(
            selection, output: output, files: dependencies.roots.environment.files)
    }

    /// Begins a run over these stores, or finds the same request's unfinished one, whose state is
    /// not changed.
    ///
    /// - Throws: `RunError.otherRun` where an unfinished run has one of the stores.
    package func begin(
        _ request: RunRequest, over stores: [FoundStore]
    ) throws(RunError) -> RunOverview {
        let mark = RunMark.make(
            state: dependencies.state, identifier: dependencies.environment.identifier())
        let recorded = RecordedRequest(request, mark: mark)
        let digest = try recorded.digest()
        if let open = try book.unfinished(digest) {
            try finishRollbacks(of: open.id, clients: request.clients)
        }
        let earlier = try EarlierResults(
            of: recorded, digest: digest, in: dependencies.ledger,
            environment: dependencies.environment)
        let text = try recorded.text()
        dependencies.cache.add(recorded, text: text)
        let (id, _) = try book.begin(
            stores, request: text, digest: digest,
            engine: MigrationPlan.engineVersion
        ) { run, store throws(RunError) in try earlier.records(for: store, of: run) }
        return try book.find(id, state: dependencies.state)
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
        let environment = dependencies.environment
        let selection = RunSelection(state: dependencies.state, run: run)
        let selected = try selected(selection, wanted: [])
        try RollbackRun(
            selection, discardsChanges: false, clients: clients, environment: environment
        ).finishStopped(in: selected)
    }

    /// What a run has done so far.
    ///
    /// - Throws: `RunError` where the ledger cannot be read.
    package func begun(_ run: String, isResumed: Bool) throws(RunError) -> BegunRun {
        let migrated = try RunError.ledger { () throws(LedgerError) in
            try RunExtent(migratedIn: run, dependencies.ledger)
        }
        return BegunRun(id: run, isResumed: isResumed, migrated: migrated)
    }

    /// Has a run put its swaps off, or not, as the request says that was given last.
    ///
    /// - Returns: the run as it is from now on; nil where it does so already.
    /// - Throws: `RunError` where the ledger cannot be read or written.
    package func adoptSwaps(
        of request: RunRequest, in run: RunOverview
    ) throws(RunError) -> RunOverview? {
        let recorded = try dependencies.cache.request(run.record.request)
        guard let text = try recorded.adoptingSwaps(of: request)?.text() else { return nil }
        try RunError.ledger { () throws(LedgerError) in
            try dependencies.ledger.append([.requestChanged(run: run.id, request: text)])
        }
        return try find(run.id)
    }

    /// Lets a run swap stores where programs that have them open cannot be seen.
    ///
    /// - Returns: the run as it is from now on.
    /// - Throws: `RunError` where the ledger cannot be read or written.
    package func assumeClosed(in run: RunOverview) throws(RunError) -> RunOverview {
        let recorded = try dependencies.cache.request(run.record.request)
        guard let text = try recorded.assumingClosed()?.text() else { return run }
        try RunError.ledger { () throws(LedgerError) in
            try dependencies.ledger.append([.requestChanged(run: run.id, request: text)])
        }
        return try find(run.id)
    }

    /// Lays claim to the room of a run.
    ///
    /// - Returns: what is missing; nil where there is enough.
    /// - Throws: `RunError` where the ledger or the disks cannot be looked at.
    package func reserve(_ run: ClusterRun) throws(RunError) -> SpaceShortage? {
        try RunSpace(context: run.context).reserve()
    }

    /// A run by its id.
    ///
    /// - Throws: `RunError.nothingToDo` where there is none.
    package func find(_ id: String) throws(RunError) -> RunOverview {
        try book.find(id, state: dependencies.state)
    }

    /// How many stores each unfinished run has.
    ///
    /// - Throws: `RunError` where the ledger cannot be read.
    package func storeCounts() throws(RunError) -> [String: Int] {
        let runs = try RunError.ledger { () throws(LedgerError) in
            try dependencies.ledger.runs()
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
            try dependencies.ledger.storeCounts(of: run).values.reduce(0, +)
        }
    }

    /// Cancels a run of which nothing was begun, so that its stores are free for another request.
    ///
    /// - Throws: `RunError` where the ledger cannot be written.
    package func giveUp(_ run: String, _ shortage: String) throws(RunError) {
        try book.change(run, .cancelled, .refused(shortage))
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
            throw .nothingToDo("the run \(run) was cancelled: submit its stores again")
        }
        var last: Int?
        while true {
            let page = try RunError.ledger { () throws(LedgerError) in
                try dependencies.ledger.stores(of: run, in: [.failed], after: last, limit: 1000)
            }
            guard let end = page.last?.number else { return }
            last = end
            let chosen = page.filter { store == nil || $0.number == store }
            guard !chosen.isEmpty else { continue }
            let at = dependencies.environment.wallTime()
            let opens = state == .ended && !reopened.opensRun
            var records: [LedgerRecord] = []
            if opens {
                records.append(
                    .runChanged(
                        run: run, .open, .replayed, at: at))
            }
            records += chosen.map {
                .storeChanged(run: run, store: $0.number, .waiting, reason: nil, at: at)
            }
            try RunError.ledger { () throws(LedgerError) in
                try dependencies.ledger.append(records)
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

    /// Reopens what failed in a run, as a later command names it; what the run had not finished is
    /// resumed with it.
    ///
    /// - Parameter selection: the run, or one of its stores.
    /// - Returns: the run as it is now, and how many stores wait again.
    /// - Throws: `RunError.nothingFailed` where nothing failed and nothing is unfinished,
    ///   `.nothingToDo` for a run that was cancelled and for a store that it does not have.
    package func replay(
        _ selection: RunSelection
    ) throws(RunError) -> (run: RunOverview, stores: Int) {
        let selected = try selected(selection, wanted: [.failed])
        let run = selected.run
        guard run.state != .cancelled else {
            throw .nothingToDo(
                "the run \(run.id) was cancelled: migrate its stores again by godwit migrate")
        }
        let number = try number(of: selection, in: run)
        try finishRollbacks(of: run.id)
        // What an earlier replay let wait, whose process has died.
        let left =
            selection.store == nil
            ? try storeCount(of: run.id, in: .waiting) + storeCount(of: run.id, in: .running) : 0
        var reopened = Reopened()
        try reopen(run.id, store: number, &reopened)
        let stores = left + reopened.stores
        guard stores > 0 else { throw .nothingFailed(run: run.id, store: selection.store) }
        return (try find(run.id), stores)
    }

    /// A run whose results wait for their swap, as a later command names it.
    ///
    /// - Parameter selection: the run, or one of its stores.
    /// - Returns: the run, the store's number where one was named, and how many results wait.
    /// - Throws: `RunError.nothingToDo` where no result waits.
    package func awaitingSwap(
        _ selection: RunSelection
    ) throws(RunError) -> (run: RunOverview, store: Int?, stores: Int) {
        let run = try selected(selection, wanted: [.validated]).run
        let number = try number(of: selection, in: run)
        var count = try storeCount(of: run.id, in: .validated)
        if let number {
            let store = try RunError.ledger { () throws(LedgerError) in
                try dependencies.ledger.store(run: run.id, number)
            }
            count = store?.state == .validated ? 1 : 0
        }
        guard count > 0 else {
            throw .nothingToDo("no result of the run \(run.id) waits for its swap")
        }
        return (run, number, count)
    }

    func selected(
        _ selection: RunSelection, wanted: Set<StoreState>
    ) throws(RunError) -> SelectedRun {
        try SelectedRun(
            selection, ledger: dependencies.ledger, state: dependencies.state,
            environment: dependencies.environment, wanted: wanted)
    }

    /// The number of the store that a selection names; nil where it names none.
    private func number(
        of selection: RunSelection, in run: RunOverview
    ) throws(RunError) -> Int? {
        guard let path = selection.store else { return nil }
        let store = try RunError.ledger { () throws(LedgerError) in
            try dependencies.ledger.store(run: run.id, path: path)
        }
        guard let store else {
            throw .nothingToDo("the run \(run.id) has no store \(path)")
        }
        return store.number
    }

    private func storeCount(of run: String, in state: StoreState) throws(RunError) -> Int {
        try RunError.ledger { () throws(LedgerError) in
            try dependencies.ledger.storeCounts(of: run)[state] ?? 0
        }
    }

    /// Requests of runs that lie beside the stores, because workers do not see the state folder.
    ///
    /// - Throws: `RunError.file` where a root cannot be looked at.
    package func requestsInRoots() throws(RunError) -> [FilePath] {
        try RunError.translating {
            try dependencies.roots.environment.roots.values.flatMap { root in
                try dependencies.environment.files.names(in: root.folder)
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
        let name = ClusterRun.requestSuffix(of: run)
        if requests.contains(where: { $0.description.hasSuffix(name) }) { return true }
        let folders = RunFolders(state: dependencies.state, run: run)
        return try RunError.translating {
            if try FileStatus.ifPresent(folders.request) != nil { return true }
            return try !dependencies.environment.files.abandoned(in: folders.folder).isEmpty
        }
    }

    /// Whether a run that is over has no report of its end: it was killed between the two.
    ///
    /// - Throws: `RunError` where that cannot be looked at.
    package func lacksReport(_ run: RunOverview) throws(RunError) -> Bool {
        let counts = try RunError.ledger { () throws(LedgerError) in
            try dependencies.ledger.storeCounts(of: run.id)
        }
        return try run.lacksReport(counts, state: dependencies.state)
    }
}
