package import DurableFiles
package import Jobs
import MigrationEngine
package import RunLedger

/// Begins and finds runs in a ledger.
package struct RunRegistry {
    let ledger: Ledger
    let environment: RunEnvironment

    package init(ledger: Ledger, environment: RunEnvironment) {
        self.ledger = ledger
        self.environment = environment
    }

    /// Stores that are told to the ledger at a time.
    private static let pageSize = 2000

    /// Ends an open run whose stores have all come to their end.
    package func endIfFinished(_ id: String) throws(RunError) {
        let (state, counts) = try RunError.ledger { () throws(LedgerError) in
            (try ledger.run(id)?.state, try ledger.storeCounts(of: id))
        }
        let isFinished = counts.allSatisfy { !$0.key.isUnfinished || $0.value == 0 }
        guard isFinished, state?.isUnfinished == true else { return }
        try change(id, .ended, .finished)
    }

    /// Begins a run, or finds the unfinished one of the same request.
    ///
    /// - Parameters:
    ///   - stores: all of the request.
    ///   - request: its text.
    ///   - digest: of what makes two requests the same.
    ///   - engine: that begins it.
    ///   - known: further records of a store, which the ledger gets together with its name.
    /// - Returns: the run's id, and whether it had begun before; its state is not changed.
    /// - Throws: `RunError.otherRun` where an unfinished run has one of the stores, and
    ///   `.runOfOtherVersion` where another version began that.
    package func begin(
        _ stores: [FoundStore], request: String, digest: String, engine: String,
        known: KnownStore = { _, _ in [] }
    ) throws(RunError) -> (id: String, isResumed: Bool) {
        let runs = try RunError.ledger { () throws(LedgerError) in try ledger.runs() }
        if let open = Self.unfinished(runs, digest) {
            try add(stores, to: open.id, known)
            return (open.id, true)
        }
        if runs.contains(where: { $0.state.isUnfinished }) {
            for store in stores {
                let other = try RunError.ledger { () throws(LedgerError) in
                    try ledger.openRun(ofStore: store.path)
                }
                if let other, other.store.state.isUnfinished {
                    guard other.run.record.engine == engine else {
                        throw .runOfOtherVersion(
                            id: other.run.id, store: store.path, state: ledger.path.parent,
                            engine: other.run.record.engine)
                    }
                    throw .otherRun(
                        id: other.run.id, store: store.path, state: ledger.path.parent)
                }
            }
        }
        let id = "r\(runs.count + 1)"
        try RunError.ledger { () throws(LedgerError) in
            try ledger.append([
                .runBegan(
                    RunRecord(
                        id: id, requestDigest: digest, request: request, engine: engine,
                        begunAt: environment.wallTime()))
            ])
        }
        try tell(stores, to: id, known)
        return (id, false)
    }

    /// Further records of a store of a run, by the run's id.
    package typealias KnownStore = (String, FoundStore) throws(RunError) -> [LedgerRecord]

    /// The unfinished run of a request.
    ///
    /// - Parameter digest: of what makes two requests the same.
    /// - Returns: the run; nil where there is none.
    /// - Throws: `RunError.ledger`.
    package func unfinished(_ digest: String) throws(RunError) -> RunOverview? {
        Self.unfinished(
            try RunError.ledger { () throws(LedgerError) in try ledger.runs() }, digest)
    }

    private static func unfinished(_ runs: [RunOverview], _ digest: String) -> RunOverview? {
        runs.first { $0.state.isUnfinished && $0.record.requestDigest == digest }
    }

    /// Tells the ledger of stores that an unfinished run does not have: a process may have died
    /// before it had reported all, and new ones may have come since.
    private func add(
        _ stores: [FoundStore], to id: String, _ known: KnownStore
    ) throws(RunError) {
        let missing = try RunError.ledger { () throws(LedgerError) in
            var number = try ledger.storeCounts(of: id).values.reduce(0, +)
            var missing: [FoundStore] = []
            for store in stores where try ledger.store(run: id, path: store.path) == nil {
                number += 1
                missing.append(
                    FoundStore(
                        number: number, location: store.location, output: store.output,
                        bytes: store.bytes))
            }
            return missing
        }
        try tell(missing, to: id, known)
    }

    private func tell(
        _ stores: [FoundStore], to id: String, _ known: KnownStore
    ) throws(RunError) {
        for start in stride(from: 0, to: stores.count, by: Self.pageSize) {
            let page = Array(stores[start..<min(start + Self.pageSize, stores.count)])
            var records: [LedgerRecord] = [.storesFound(run: id, page)]
            for store in page { records += try known(id, store) }
            try RunError.ledger { () throws(LedgerError) in try ledger.append(records) }
        }
    }

    /// Changes a run's state.
    package func change(_ id: String, _ state: RunState, _ reason: RunReason) throws(RunError) {
        try RunError.ledger { () throws(LedgerError) in
            try ledger.append([
                .runChanged(run: id, state, reason, at: environment.wallTime())
            ])
        }
    }

    /// A run by its id, or the newest.
    ///
    /// - Throws: `RunError.noRun`, `.ledger`.
    package func find(_ id: String?, state: FilePath) throws(RunError) -> RunOverview {
        let run = try RunError.ledger { () throws(LedgerError) in
            if let id { try ledger.run(id) } else { try ledger.newestRun() }
        }
        guard let run else {
            throw .noRun(id: id, state: state)
        }
        return run
    }
}
