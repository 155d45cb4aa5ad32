import GRDB
import Jobs
import Synchronization

/// What an owner has read of how far runs are, kept up with each commit.
///
/// Used from many threads; it is changed on the queue of the owner's connection alone.
final class RunStatsCache: Sendable {
    private struct State {
        var figures: [String: RunStats] = [:]
        /// The newest runs' ids, the newest first, and how many were asked for.
        var newest: (ids: [String], asked: Int)?
    }

    private let state = Mutex(State())

    /// Runs that are kept at most: beyond, all are forgotten and read again when asked for.
    private static let capacity = 512

    /// What is known of a selection; nil where something of it is not.
    func known(_ selection: RunStats.Selection) -> [RunStats]? {
        state.withLock { state in
            var ids: [String]
            switch selection {
            case .named(let runs): ids = runs
            case .newest(let count):
                guard let newest = state.newest, newest.asked == count else { return nil }
                ids = newest.ids
            }
            var found: [RunStats] = []
            for id in ids {
                guard let figures = state.figures[id] else { return nil }
                found.append(figures)
            }
            return found
        }
    }

    /// Keeps what was read.
    func learn(_ found: [RunStats], _ selection: RunStats.Selection) {
        state.withLock { state in
            if state.figures.count + found.count > Self.capacity { state = State() }
            for figures in found { state.figures[figures.run] = figures }
            if case .newest(let count) = selection {
                state.newest = (found.map(\.run), count)
            }
        }
    }

    /// Reads what batches have changed of what is kept, before their commit.
    ///
    /// - Returns: keeps it, to be called once the commit is done; nil where nothing has changed.
    func changes(
        by batches: [PendingBatch], _ database: Database
    ) throws -> (@Sendable () -> Void)? {
        let (kept, asked) = state.withLock { (Set($0.figures.keys), $0.newest?.asked) }
        var touched: Set<String> = []
        var hasNewRun = false
        for record in batches.lazy.flatMap(\.records) {
            switch record.record {
            case .runBegan: hasNewRun = true
            case .runChanged(let run, _, _, _), .storesFound(let run, _),
                .storeChanged(let run, _, _, _, _):
                touched.insert(run)
            case .requestChanged, .storePrepared, .stageEnded, .attemptBegan, .accepted,
                .attemptFailed, .epochRaised, .jobGivenUp, .progressReset, .reserved, .released,
                .swapStep, .storeReport, .note:
                break
            }
        }
        let changed = try touched.intersection(kept).compactMap {
            try Self.read($0, database)
        }
        var newest: ([RunStats], RunStats.Selection)?
        if hasNewRun, let asked {
            newest = (try Self.read(.newest(asked), database), .newest(asked))
        }
        if changed.isEmpty, newest == nil { return nil }
        return { [newest] in
            self.learn(changed, .named([]))
            if let (found, selection) = newest { self.learn(found, selection) }
        }
    }

    static func read(
        _ selection: RunStats.Selection, _ database: Database
    ) throws -> [RunStats] {
        var ids: [String]
        switch selection {
        case .named(let runs): ids = runs
        case .newest(let count):
            let sql = "SELECT id FROM run ORDER BY number DESC LIMIT ?"
            ids = try String.fetchAll(
                database.cachedStatement(sql: sql), arguments: [max(count, 0)])
        }
        return try ids.compactMap { try read($0, database) }
    }

    private static func read(_ run: String, _ database: Database) throws -> RunStats? {
        let sql = "SELECT number, state, reason_code, reason FROM run WHERE id = ?"
        guard
            let row = try Row.fetchOne(database.cachedStatement(sql: sql), arguments: [run])
        else { return nil }
        let tally = try Row.fetchAll(
            database.cachedStatement(
                sql: "SELECT state, stores, bytes FROM tally WHERE run = ? AND stores > 0"),
            arguments: [try row.decode(Int64.self, forColumn: "number")])
        var stores: [StoreState: Int] = [:]
        var left: Int64 = 0
        for row in tally {
            let state: StoreState = try row.word("state")
            stores[state] = try row.decode(Int.self, forColumn: "stores")
            guard state.isUnfinished else { continue }
            let bytes: Double = try row.decode(forColumn: "bytes")
            left = left.addingReportingOverflow(Int64(exactly: bytes.rounded()) ?? 0).0
        }
        return RunStats(
            run: run, state: try row.word("state"),
            reason: try row.runReason(), stores: stores, bytesLeft: left)
    }
}
