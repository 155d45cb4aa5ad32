import CoreDataStore
import DurableFiles
import Jobs
import MigrationEngine
import RunLedger
import Synchronization
import Threads

/// Hands the stores of a run to its slots until none is left, and keeps count.
package final class RunFeeder: Sendable {
    let context: RunContext
    let mover: StoreMover
    private let space: RunSpace
    let tally = Mutex(Tally())
    /// Lets one small store at a time try again for room: two that each take half of it would
    /// both fail for ever.
    private let turn = BoundedMailbox<Bool>(capacity: 1)

    struct Tally {
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

    /// The stores that are meant; nil for all that are unfinished.
    private let only: Set<Int>?

    init(_ context: RunContext, only: Set<Int>? = nil) {
        self.context = context
        self.only = only
        mover = StoreMover(context)
        space = RunSpace(context: context)
        turn.send(true)
    }

    /// Works on every unfinished store of the run, once there is room for all of them.
    ///
    /// - Throws: what ends the run as a whole.
    func feed() throws(RunError) {
        try space.reserve()
        let left = try context.read { ledger throws(LedgerError) in
            try ledger.extent(of: context.id, in: states)
        }
        context.observe(.begun(stores: only?.count ?? left.stores, bytes: left.bytes))
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

    /// The states of stores that are still to be worked on.
    private var states: Set<StoreState> {
        context.request.defersSwap ? [.waiting, .running] : [.waiting, .running, .validated]
    }

    /// Goes through the ledger page by page: memory does not grow with the fleet.
    private func hand(to large: BoundedMailbox<FoundStore>) throws(RunError) {
        let states = states
        var last: Int?
        var batch: [StoreSummary] = []
        var bytes: Int64 = 0
        while true {
            let page = try context.read { ledger throws(LedgerError) in
                try ledger.stores(of: context.id, in: states, after: last, limit: 500)
            }
            guard let end = page.last?.number else { break }
            last = end
            for store in page where !isOver && only?.contains(store.number) != false {
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
        do throws(DurableFileError) {
            return try StoreMeasure.isLarge(store, context.request.options)
        } catch {
            // Whatever is wrong with its files shows when the store is opened.
            return false
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
        context.slots?.submit(to: RunContext.Lane.small.rawValue) { _ in
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
            do throws(RunError) {
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
            } catch {
                if error.isOutOfSpace { finishWithoutRoom(built, moves) }
                throw error
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
            try context.record(try space.began(found))
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
        var hasTurn = false
        defer { if hasTurn { turn.send(true) } }
        while true {
            let run = try StoreRun(found, context: context, slots: slots)
            do throws(RunError) {
                return try run.build()
            } catch {
                if error.isOutOfSpace {
                    let watch = RoomWatch(context: context)
                    let finding = try watch.look(beside: run.places)
                    // What was written and cannot be gone on with only keeps others from room.
                    if error.isFailedSync { try run.forget("\(error)") }
                    guard context.request.waitsForRoom else {
                        discard(found)
                        throw error
                    }
                    if try !isPrepared(found) { discard(found) }
                    if slots == 1, !hasTurn { hasTurn = turn.receive() != nil }
                    try watch.wait(for: error, since: finding)
                } else if error.code.decision == .planAgain, !isSecond {
                    isSecond = true
                    try run.forget("\(error)")
                } else {
                    throw error
                }
            }
        }
    }

    /// Whether jobs were accepted, or may have been, that the store goes on with.
    func isPrepared(_ found: FoundStore) throws(RunError) -> Bool {
        try context.read { ledger throws(LedgerError) in
            try ledger.store(run: context.id, found.number)?.preparation != nil
        }
    }

    /// Moves a store, waiting for room as often as it takes.
    private func moveWithRoom(_ store: StoreMover.Recorded) throws(RunError) -> StoreResult {
        while true {
            do throws(RunError) {
                return try mover.move(store)
            } catch {
                guard error.isOutOfSpace, !error.isFailedSync, context.request.waitsForRoom else {
                    throw error
                }
                let watch = RoomWatch(context: context)
                try watch.wait(for: error, since: try watch.look(beside: store.places))
            }
        }
    }

    /// Moves what was built before the disk was full, which takes next to nothing, and removes
    /// what cannot be moved.
    private func finishWithoutRoom(_ built: [BuiltStore], _ moves: [StoreMover.Recorded]) {
        do throws(RunError) {
            try finish(built, moves)
        } catch {
            for store in built {
                do throws(RunError) {
                    if try mover.unfinished(store.found) == nil { discard(store.found) }
                } catch {
                    continue
                }
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
            let moves = try context.whenThereIsRoom { () throws(RunError) in
                try mover.record(built)
            }
            for (found, move) in moves {
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
            try context.record(
                recorded.map { space.ended($0.found) } + unfinished.map { mover.waits($0.found) })
            for store in recorded {
                context.observe(
                    .ended(
                        store: store.found.number, path: store.found.path,
                        .deferred(store.result)))
            }
            return
        }
        try move(recorded)
    }

    /// Gives results their names; what was moved is recorded whatever becomes of the rest.
    private func move(_ recorded: [StoreMover.Recorded]) throws(RunError) {
        var done: [(StoreMover.Recorded, StoreResult)] = []
        var fatal: RunError?
        for store in recorded where fatal == nil {
            do throws(RunError) {
                let start = context.environment.clock()
                var result = try moveWithRoom(store)
                result.seconds[.publish] = context.environment.clock() - start
                tell(store.found, .ended(.publish))
                done.append((store, result))
            } catch {
                do throws(RunError) { try settle(store, error) } catch { fatal = error }
            }
        }
        let unsynced = mover.syncNames(of: done.map(\.0))
        if !unsynced.isEmpty {
            for (store, _) in done {
                if let error = failure(of: store, unsynced) { leave(store.found, error) }
            }
            done.removeAll { failure(of: $0.0, unsynced) != nil }
        }
        var records: [LedgerRecord] = []
        for (store, result) in done {
            records += try mover.done(store, result) + [space.ended(store.found)]
        }
        if !records.isEmpty { try context.record(records) }
        for (store, result) in done {
            var result = result
            mover.clean(store, &result)
            context.observe(
                .ended(store: store.found.number, path: store.found.path, .done(result)))
        }
        if let fatal { throw fatal }
    }

    private func failure(
        of store: StoreMover.Recorded, _ unsynced: [FilePath: RunError]
    ) -> RunError? {
        guard case .publish(let plan) = store.way else { return nil }
        return unsynced[plan.output.parent]
    }

    /// Closes the account of a store whose move met an error, as far as it can be closed.
    private func settle(_ store: StoreMover.Recorded, _ error: RunError) throws(RunError) {
        // The result has the store's name, or is about to: the same command ends it.
        if try mover.hasBegun(store) { return leave(store.found, error) }
        try mover.voidUnlessBegun(store, after: error)
        try fail(store.found, error)
    }
}
