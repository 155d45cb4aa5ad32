import CoreDataStore
import DurableFiles
import Jobs
import MigrationEngine
import RunLedger
import Synchronization
import Threads

/// Hands the stores of a run to its slots until none is left, and keeps count.
package final class RunFeeder: Sendable {
    private let context: RunContext
    private let mover: StoreMover
    private let tally = Mutex(Tally())

    private struct Tally {
        var failures = 0
        /// What ends the run as a whole: the ledger, or a disk that stays full.
        var fatal: RunError?
        var isCutShort = false
    }

    /// Bytes up to which a store is migrated by one slot in one go.
    package static let smallLimit = PlanOptions.wholeLimit
    /// Stores and bytes that travel in one batch.
    static let batchStores = 16
    static let batchBytes: Int64 = 16 << 20

    init(_ context: RunContext) {
        self.context = context
        mover = StoreMover(context)
    }

    /// Works on every unfinished store of the run.
    ///
    /// - Throws: what ends the run as a whole.
    func feed() throws(RunError) {
        let large = BoundedMailbox<FoundStore>(capacity: 2)
        let driver: OwnedThread
        do throws(ThreadError) {
            driver = try OwnedThread(name: "large stores") {
                while let store = large.receive() { self.migrateLarge(store) }
            }
        } catch {
            throw .engine(.internalError("threads cannot be started: \(error)"))
        }
        let result: Swift.Result<Void, RunError>
        do throws(RunError) {
            result = .success(try hand(to: large))
        } catch {
            result = .failure(error)
        }
        large.close()
        driver.join()
        try result.get()
    }

    /// Goes through the ledger page by page: memory does not grow with the fleet.
    private func hand(to large: BoundedMailbox<FoundStore>) throws(RunError) {
        let states: Set<StoreState> =
            context.request.defersSwap
            ? [.waiting, .running] : [.waiting, .running, .validated]
        var last: Int?
        var batch: [StoreSummary] = []
        var bytes: Int64 = 0
        while true {
            let page = try context.read { ledger throws(LedgerError) in
                try ledger.stores(of: context.id, in: states, after: last, limit: 500)
            }
            guard let end = page.last?.number else { break }
            last = end
            for store in page where !isOver {
                if isLarge(store.found) {
                    large.send(store.found)
                    continue
                }
                batch.append(store)
                bytes += store.found.bytes
                if batch.count == Self.batchStores || bytes >= Self.batchBytes {
                    submit(batch)
                    batch = []
                    bytes = 0
                }
            }
        }
        if !batch.isEmpty { submit(batch) }
    }

    private func isLarge(_ store: FoundStore) -> Bool {
        switch context.request.options.strategy {
        case .partitioned: true
        case .whole: false
        case nil: store.bytes > Self.smallLimit
        }
    }

    /// Whether no further store is to be begun.
    private var isOver: Bool {
        tally.withLock { tally in
            if tally.fatal != nil { return true }
            guard let limit = context.request.failureLimit, tally.failures >= limit else {
                return false
            }
            tally.isCutShort = true
            return true
        }
    }

    private func submit(_ batch: [StoreSummary]) {
        context.slots.submit(to: RunContext.Lane.small.rawValue) { _ in
            if !self.isOver { self.migrateBatch(batch) }
        }
    }
}

// MARK: - Stores

extension RunFeeder {
    private func begin(_ stores: [StoreSummary]) throws(RunError) {
        let fresh = stores.filter { $0.state == .waiting }
        guard !fresh.isEmpty else { return }
        try context.record(
            fresh.map { store in
                .storeChanged(
                    run: context.id, store: store.number, .running, reason: nil,
                    at: context.environment.wallTime())
            })
    }

    /// Migrates small stores one after the other; the ledger is told of all at once.
    private func migrateBatch(_ stores: [StoreSummary]) {
        do throws(RunError) {
            try begin(stores)
            var moves: [StoreMover.Recorded] = []
            var built: [BuiltStore] = []
            var left: [StoreSummary] = []
            for store in stores {
                guard !isOver else {
                    left.append(store)
                    continue
                }
                do throws(RunError) {
                    if let unfinished = try mover.resumable(store.found) {
                        moves.append(unfinished)
                    } else {
                        built.append(try build(store.found, slots: 1))
                    }
                } catch {
                    try fail(store.found, error)
                }
            }
            try finish(built, moves)
            try putBack(left)
        } catch {
            end(with: error)
        }
    }

    /// Lets stores that were begun wait again.
    private func putBack(_ stores: [StoreSummary]) throws(RunError) {
        let begun = stores.filter { $0.state == .waiting }
        guard !begun.isEmpty else { return }
        try context.record(
            begun.map { store in
                .storeChanged(
                    run: context.id, store: store.number, .waiting, reason: nil,
                    at: context.environment.wallTime())
            })
    }

    private func migrateLarge(_ found: FoundStore) {
        guard !isOver else { return }
        do throws(RunError) {
            let summary = try context.read { ledger throws(LedgerError) in
                try ledger.store(run: context.id, found.number)
            }
            guard let summary else { return }
            try begin([summary])
            do throws(RunError) {
                if let unfinished = try mover.resumable(found) {
                    try finish([], [unfinished])
                } else {
                    try finish([try build(found, slots: context.request.slots)], [])
                }
            } catch {
                try fail(found, error)
            }
        } catch {
            end(with: error)
        }
    }

    /// Builds a store, waiting for room as often as it takes, and once more where its progress
    /// turns out to be void.
    private func build(_ found: FoundStore, slots: Int) throws(RunError) -> BuiltStore {
        var isSecond = false
        while true {
            let run = try StoreRun(found, context: context, slots: slots)
            do throws(RunError) {
                return try run.build()
            } catch {
                if error.isOutOfSpace, context.request.waitsForRoom {
                    try waitForRoom(error, at: run.places)
                } else if error.code.decision == .planAgain, !isSecond {
                    isSecond = true
                    try run.forget("\(error)")
                } else {
                    throw error
                }
            }
        }
    }

    /// Moves a store, waiting for room as often as it takes.
    private func moveWithRoom(_ store: StoreMover.Recorded) throws(RunError) -> StoreResult {
        while true {
            do throws(RunError) {
                return try mover.move(store)
            } catch {
                guard error.isOutOfSpace, context.request.waitsForRoom else { throw error }
                try waitForRoom(error, at: store.places)
            }
        }
    }

    private func tell(_ found: FoundStore, _ event: RunEvent) {
        context.observe(.progress(store: found.number, path: found.path, event))
    }

    /// Moves stores and closes their accounts.
    private func finish(
        _ built: [BuiltStore], _ unfinished: [StoreMover.Recorded]
    ) throws(RunError) {
        for store in built { tell(store.found, .began(.publish, jobs: 0)) }
        var recorded = unfinished
        do throws(RunError) {
            for (found, move) in try mover.record(built) {
                switch move {
                case .success(let move): recorded.append(move)
                case .failure(let error): try fail(found, error)
                }
            }
        } catch {
            if case .ledger = error { throw error }
            for store in built { try fail(store.found, error) }
        }
        guard !context.request.defersSwap else {
            for store in recorded {
                context.observe(
                    .ended(
                        store: store.found.number, path: store.found.path,
                        .deferred(store.move.result)))
            }
            return
        }
        var records: [LedgerRecord] = []
        var done: [(StoreMover.Recorded, StoreResult)] = []
        for store in recorded {
            do throws(RunError) {
                let start = context.environment.clock()
                var result = try moveWithRoom(store)
                result.seconds[.publish] = context.environment.clock() - start
                tell(store.found, .ended(.publish))
                records += try mover.done(store, result)
                done.append((store, result))
            } catch {
                try fail(store.found, error)
            }
        }
        try mover.syncNames(of: done.map(\.0))
        if !records.isEmpty { try context.record(records) }
        for (store, result) in done {
            var result = result
            mover.clean(store, &result)
            context.observe(
                .ended(store: store.found.number, path: store.found.path, .done(result)))
        }
    }
}

// MARK: - Failures

extension RunFeeder {
    /// Closes the account of a store that failed; what ends the whole run goes on.
    private func fail(_ found: FoundStore, _ error: RunError) throws(RunError) {
        switch error {
        case .alreadyThere: return try skip(found)
        case .ledger, .stopped: throw error
        default: if error.isOutOfSpace { throw error }
        }
        try context.record([
            .storeChanged(
                run: context.id, store: found.number, .failed,
                reason: FailureReason(code: error.code, text: "\(error)"),
                at: context.environment.wallTime()),
            .storeReport(
                run: context.id, store: found.number,
                try StoreRecord.failure(FailureCause(error)).text()),
        ])
        tally.withLock { $0.failures += 1 }
        context.observe(.ended(store: found.number, path: found.path, .failed(error)))
        // Mending a store's data changes it, and nothing that was made of it counts any more.
        if error.isFailedSync {
            try StoreRun(found, context: context, slots: 1).forget("\(error)")
        } else {
            let isKept = try canGoOn(found, after: error)
            if !isKept { discard(found) }
        }
    }

    /// Whether a replay could go on with what was made of a store.
    private func canGoOn(
        _ found: FoundStore, after error: RunError
    ) throws(RunError) -> Bool {
        guard error.code.decision == .retry else { return false }
        let summary = try context.read { ledger throws(LedgerError) in
            try ledger.store(run: context.id, found.number)
        }
        if summary?.preparation != nil { return true }
        return try mover.unfinished(found) != nil
    }

    /// Closes the account of a store that needs no migration.
    private func skip(_ found: FoundStore) throws(RunError) {
        try context.record([
            .storeReport(run: context.id, store: found.number, try StoreRecord.unchanged.text()),
            .storeChanged(
                run: context.id, store: found.number, .done, reason: nil,
                at: context.environment.wallTime()),
        ])
        discard(found)
        context.observe(.ended(store: found.number, path: found.path, .unchanged))
    }

    /// Removes what a failed store left.
    private func discard(_ found: FoundStore) {
        do throws(RunError) {
            let places = try StoreRun(found, context: context, slots: 1).places
            try RunError.translating { try places.removeAll(context.files) }
        } catch {
            // The store's own failure is what counts; prune removes what is left.
            return
        }
    }

    private func end(with error: RunError) {
        tally.withLock { $0.fatal = $0.fatal ?? error }
        context.slots.cancellation.cancel()
    }

    /// Waits until the disk has room again; the run is paused meanwhile, with the reason.
    private func waitForRoom(_ error: RunError, at places: StorePlaces) throws(RunError) {
        let watch = RoomWatch(context: context)
        try watch.wait(for: error, beside: places)
    }

    /// Closes the run.
    func end(isResumed: Bool) throws(RunError) -> RunEnding {
        let (fatal, isCutShort) = tally.withLock { ($0.fatal, $0.isCutShort) }
        if let fatal { throw fatal }
        let counts = try context.read { ledger throws(LedgerError) in
            try ledger.storeCounts(of: context.id)
        }
        if counts.allSatisfy({ !$0.key.isUnfinished || $0.value == 0 }) {
            try RunBook(ledger: context.ledger, environment: context.environment).change(
                context.id, .ended, "every store has come to its end")
        }
        return RunEnding(
            id: context.id, counts: counts, isResumed: isResumed, isCutShort: isCutShort)
    }
}
