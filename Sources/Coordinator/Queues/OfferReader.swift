import ClusterVocabulary
import Jobs
import RunLedger
import RunService
import StateFolders
import StoreRuns

/// Reads stores from the ledger and makes the offers that the machine asks for.
struct OfferReader: Sendable {
    let ledger: Ledger
    let run: ClusterRun

    /// An offer with the store that it is about.
    struct Offered: Sendable {
        let offer: StoreOffer
        let store: FoundStore
    }

    /// What one reading found.
    struct Page: Sendable {
        var offers: [Offered] = []
        /// Where the next reading goes on.
        var cursor: Int?
        /// Whether there is nothing behind the cursor.
        var isLast = false
    }

    /// States of stores that a run still has to work on.
    static func unfinished(defersSwap: Bool) -> Set<StoreState> {
        defersSwap ? [.waiting, .running] : [.waiting, .running, .validated]
    }

    /// Reads the next stores in the order of their numbers.
    ///
    /// - Parameters:
    ///   - count: how many are wanted.
    ///   - cursor: the number behind which to begin.
    ///   - inside: stores that the machine has.
    /// - Returns: the offers, fewer than wanted where there are no more.
    /// - Throws: `RunError` where the ledger cannot be read.
    func next(
        _ count: Int, after cursor: Int?, but inside: Set<Int>
    ) throws(RunError) -> Page {
        var page = Page(cursor: cursor)
        let states = Self.unfinished(defersSwap: run.defersSwap)
        let limit = min(max(count, 16), 1000)
        while page.offers.count < count {
            let last = page.cursor
            let found = try read { ledger throws(LedgerError) in
                try ledger.stores(of: run.id, in: states, after: last, limit: limit)
            }
            for store in found where page.offers.count < count {
                page.cursor = store.number
                if inside.contains(store.number) { continue }
                page.offers.append(try offer(of: store, isRequested: false))
            }
            if found.count < limit, page.cursor == found.last?.number ?? last {
                page.isLast = true
                return page
            }
        }
        return page
    }

    /// The offers of validated stores whose swap was asked for.
    func swaps(_ numbers: [Int]) throws(RunError) -> [Offered] {
        var offers: [Offered] = []
        for number in numbers {
            let store = try read { ledger throws(LedgerError) in
                try ledger.store(run: run.id, number)
            }
            if let store, store.state == .validated {
                offers.append(try offer(of: store, isRequested: true))
            }
        }
        return offers
    }

    /// The offer of one store; nil where it has come to its end, with its accepted attempts.
    func one(_ number: Int) throws(RunError) -> (offer: Offered?, accepted: [String]) {
        let store = try read { ledger throws(LedgerError) in
            try ledger.store(run: run.id, number)
        }
        let states = Self.unfinished(defersSwap: run.defersSwap)
        if let store, states.contains(store.state) {
            return (try offer(of: store, isRequested: false), [])
        }
        let receipts = try read { ledger throws(LedgerError) in
            try ledger.acceptedReceipts(run: run.id, store: number)
        }
        return (nil, receipts.map(\.attempt))
    }

    /// Numbers of stores in a state, or the one that is named where it has it.
    func numbers(in state: StoreState, store: Int?) throws(RunError) -> [Int] {
        var numbers: [Int] = []
        var last: Int?
        while true {
            let page = try read { ledger throws(LedgerError) in
                try ledger.stores(of: run.id, in: [state], after: last, limit: 1000)
            }
            guard let end = page.last?.number else { return numbers }
            last = end
            numbers += page.map(\.number).filter { store == nil || $0 == store }
        }
    }

    private func offer(
        of store: StoreSummary, isRequested: Bool
    ) throws(RunError) -> Offered {
        let known = try read { ledger throws(LedgerError) in
            try ledger.jobHistories(run: run.id, store: store.number)
        }
        var accepted: [Receipt] = []
        if !known.isEmpty {
            accepted = try read { ledger throws(LedgerError) in
                try ledger.acceptedReceipts(run: run.id, store: store.number)
            }
        }
        let jobs = known.mapValues { record in
            JobHistory(
                epoch: record.epoch, attempts: record.attempts, open: record.open,
                failures: record.failures,
                quarantined: record.givenUp)
        }
        let entry = entry(of: store, isRequested: isRequested)
        var isMoving = false
        if case .swap = entry { isMoving = store.state == .running }
        let offer = StoreOffer(
            key: StoreKey(run: run.id, number: store.number), bytes: store.found.bytes,
            entry: entry, isRunning: store.state != .waiting, isMoving: isMoving,
            accepted: accepted, jobs: jobs)
        return Offered(offer: offer, store: store.found)
    }

    private func entry(of store: StoreSummary, isRequested: Bool) -> StoreEntry {
        if isRequested { return .swap(isRequested: true) }
        if store.state == .validated, !run.defersSwap { return .swap(isRequested: false) }
        do throws(RunError) {
            // A move that was written down is all that is left; one that had begun is gone on
            // with also where swaps wait from now on.
            if store.state == .running,
                try run.defersSwap
                    ? run.mayHaveBegunMove(store.found) : run.hasUnfinishedMove(store.found)
            {
                return .swap(isRequested: true)
            }
        } catch {
            // The swap looks for itself, and builds nothing over what may have moved.
            return .swap(isRequested: true)
        }
        guard store.preparation == nil, !run.isLarge(store.found) else { return .prepare }
        do throws(RunError) {
            return .whole(StorePlan(try run.whole(store.found), run.limits))
        } catch {
            // Its preparation will meet the same, and tell it.
            return .prepare
        }
    }

    private func read<Result>(
        _ body: (Ledger) throws(LedgerError) -> Result
    ) throws(RunError) -> Result {
        do throws(LedgerError) { return try body(ledger) } catch { throw .ledger(error) }
    }
}
