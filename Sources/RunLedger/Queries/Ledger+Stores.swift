package import DurableFiles
import Foundation
import GRDB
package import Jobs

// Runs and stores.

extension Ledger {
    /// The run that began last of those that did something or still have to; where none did, the
    /// one that began last.
    ///
    /// A run that found every store migrated already, or that was given up before it had begun
    /// with any, did nothing.
    ///
    /// - Complexity: O(runs since the one that is found) at least.
    package func newestRun() throws(LedgerError) -> RunOverview? {
        try read { database in
            let idle: [StoreState] = [.waiting, .done, .cancelled]
            let busy = StoreState.allCases.filter { !idle.contains($0) }.map(\.rawValue)
            let places = databaseQuestionMarks(count: busy.count)
            let row =
                try Row.fetchOne(
                    database,
                    sql: """
                        SELECT \(RunOverview.columns) FROM run
                        WHERE run.state IN (?, ?)
                            OR EXISTS (SELECT 1 FROM swap_step WHERE swap_step.run = run.number)
                            OR EXISTS (
                                SELECT 1 FROM store
                                WHERE store.run = run.number AND store.state IN (\(places)))
                        ORDER BY run.number DESC LIMIT 1
                        """,
                    arguments: StatementArguments(
                        [RunState.open.rawValue, RunState.paused.rawValue] + busy))
                ?? Row.fetchOne(
                    database,
                    sql: "SELECT \(RunOverview.columns) FROM run ORDER BY number DESC LIMIT 1")
            return try row.map { try RunOverview(row: $0) }
        }
    }

    /// The run of an id.
    package func run(_ id: String) throws(LedgerError) -> RunOverview? {
        try read { database in
            let sql = "SELECT \(RunOverview.columns) FROM run WHERE id = ?"
            return try Row.fetchOne(database, sql: sql, arguments: [id])
                .map { try RunOverview(row: $0) }
        }
    }

    /// All runs, the newest first.
    package func runs() throws(LedgerError) -> [RunOverview] {
        try read { database in
            let sql = "SELECT \(RunOverview.columns) FROM run ORDER BY number DESC"
            return try Row.fetchAll(database, sql: sql).map { try RunOverview(row: $0) }
        }
    }

    /// The newest open or paused run that holds a store, whatever the store's state in it.
    ///
    /// - Complexity: O(log stores) for each run that holds it.
    package func openRun(ofStore path: FilePath) throws(LedgerError) -> OpenStore? {
        try read { database in
            let row = try Row.fetchOne(
                database,
                sql: """
                    SELECT \(RunOverview.columns), store.run AS run_number, store.number AS store
                    FROM store JOIN run ON run.number = store.run
                    WHERE store.path = ? AND run.state IN (?, ?)
                    ORDER BY store.run DESC LIMIT 1
                    """,
                arguments: [
                    Data(path.bytes), RunState.open.rawValue, RunState.paused.rawValue,
                ])
            guard let row else { return nil }
            let number = try row.decode(Int64.self, forColumn: "run_number")
            let store = try row.decode(Int.self, forColumn: "store")
            guard let summary = try Ledger.store(database, number, store) else { return nil }
            return OpenStore(run: try RunOverview(row: row), store: summary)
        }
    }

    /// Stores of a run in the order of their numbers, a page at a time.
    ///
    /// The next page begins after the last number of this one. A run that is not known has no
    /// stores; `states` nil is all of them.
    ///
    /// - Complexity: O(states × limit × log stores).
    package func stores(
        of run: String, in states: Set<StoreState>? = nil, after number: Int? = nil,
        limit: Int = 1000
    ) throws(LedgerError) -> [StoreSummary] {
        try read { database in
            guard limit > 0, let run = try Ledger.number(database, run) else { return [] }
            let after = number ?? -1
            guard let states else {
                return try Ledger.stores(
                    database, "store.number > ? ORDER BY store.number LIMIT ?",
                    [run, after, limit])
            }
            // One index range a state: a page costs the same wherever it lies.
            let found = try states.flatMap { state in
                try Ledger.stores(
                    database,
                    "store.state = ? AND store.number > ? ORDER BY store.number LIMIT ?",
                    [run, state.rawValue, after, limit])
            }
            return Array(found.sorted { $0.number < $1.number }.prefix(limit))
        }
    }

    /// How many stores of a run have each state; states without stores are left out.
    ///
    /// - Complexity: O(1).
    package func storeCounts(of run: String) throws(LedgerError) -> [StoreState: Int] {
        try read { database in
            guard let run = try Ledger.number(database, run) else { return [:] }
            let rows = try Row.fetchAll(
                database,
                sql: "SELECT state, stores FROM tally WHERE run = ? AND stores > 0",
                arguments: [run])
            var counts: [StoreState: Int] = [:]
            for row in rows {
                counts[try row.word("state")] = try row.decode(Int.self, forColumn: "stores")
            }
            return counts
        }
    }

    /// How many stores of a run are in some states, and the bytes that they had when they were
    /// found.
    ///
    /// - Complexity: O(stores).
    package func extent(
        of run: String, in states: Set<StoreState>
    ) throws(LedgerError) -> (stores: Int, bytes: Int64) {
        try read { database in
            guard let run = try Ledger.number(database, run) else { return (0, 0) }
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT state, count(*) AS stores, total(bytes) AS bytes FROM store
                    WHERE run = ? GROUP BY state
                    """, arguments: [run])
            var (stores, bytes) = (0, 0.0)
            for row in rows where states.contains(try row.word("state")) {
                stores += try row.decode(Int.self, forColumn: "stores")
                bytes += try row.decode(Double.self, forColumn: "bytes")
            }
            return (stores, Int64(min(max(bytes, 0), 9e18)))
        }
    }

    /// How many stores of a run that are in a state came to it from which others.
    ///
    /// - Complexity: O(stores).
    package func formerStates(
        of run: String, in state: StoreState
    ) throws(LedgerError) -> [StoreState: Int] {
        try read { database in
            guard let run = try Ledger.number(database, run) else { return [:] }
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT former_state, count(*) AS stores FROM store
                    WHERE run = ? AND state = ? AND former_state IS NOT NULL GROUP BY former_state
                    """,
                arguments: [run, state.rawValue])
            return try rows.reduce(into: [:]) { former, row in
                former[try row.word("former_state")] = try row.decode(forColumn: "stores")
            }
        }
    }

    /// How many stores of a run are in a state and have a report of an outcome.
    ///
    /// - Complexity: O(stores).
    package func stores(
        of run: String, in state: StoreState, reportedAs outcome: ReportedOutcome
    ) throws(LedgerError) -> Int {
        try read { database in
            guard let run = try Ledger.number(database, run) else { return 0 }
            return try Int.fetchOne(
                database,
                sql: """
                    SELECT count(*) FROM store
                    JOIN store_report ON store_report.run = store.run
                        AND store_report.store = store.number
                    WHERE store.run = ? AND store.state = ? AND store_report.outcome = ?
                    """,
                arguments: [run, state.rawValue, outcome.rawValue]) ?? 0
        }
    }

    /// Bytes of a run's stores that have not come to their end, as they were found.
    ///
    /// - Complexity: O(1).
    package func unfinishedBytes(of run: String) throws(LedgerError) -> Int64 {
        try read { database in
            guard let run = try Ledger.number(database, run) else { return 0 }
            let states = StoreState.allCases.filter(\.isUnfinished).map(\.rawValue)
            return try states.reduce(Int64(0)) { sum, state in
                let sql = "SELECT bytes FROM tally WHERE run = ? AND state = ?"
                let bytes = try Double.fetchOne(database, sql: sql, arguments: [run, state]) ?? 0
                return sum.addingReportingOverflow(Int64(exactly: bytes.rounded()) ?? 0).0
            }
        }
    }

    /// One store of a run by its number.
    package func store(run: String, _ number: Int) throws(LedgerError) -> StoreSummary? {
        try read { database in
            guard let run = try Ledger.number(database, run) else { return nil }
            return try Ledger.store(database, run, number)
        }
    }

    /// One store of a run by its path, compared byte for byte.
    package func store(run: String, path: FilePath) throws(LedgerError) -> StoreSummary? {
        try read { database in
            guard let run = try Ledger.number(database, run) else { return nil }
            return try Ledger.stores(
                database, "store.path = ?", [run, Data(path.bytes)]
            ).first
        }
    }

    /// What the report shows of a store; nil where nothing was written.
    package func storeReport(run: String, store: Int) throws(LedgerError) -> String? {
        try read { database in
            guard let run = try Ledger.number(database, run) else { return nil }
            return try String.fetchOne(
                database, sql: "SELECT content FROM store_report WHERE run = ? AND store = ?",
                arguments: [run, store])
        }
    }

    /// What the report shows of these stores, by their numbers, without those of which nothing was
    /// written.
    ///
    /// - Complexity: one statement, of at most a few hundred stores.
    package func storeReports(
        run: String, stores: [Int]
    ) throws(LedgerError) -> [Int: String] {
        guard !stores.isEmpty else { return [:] }
        return try read { database in
            guard let run = try Ledger.number(database, run) else { return [:] }
            let places = Array(repeating: "?", count: stores.count).joined(separator: ",")
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT store, content FROM store_report
                    WHERE run = ? AND store IN (\(places))
                    """,
                arguments: [run] + StatementArguments(stores))
            var texts: [Int: String] = [:]
            while let row = try rows.next() { texts[row[0]] = row[1] }
            return texts
        }
    }

    /// Seconds spent in each stage by a store, or by all stores of the run together.
    ///
    /// - Complexity: O(stores) for all stores.
    package func stageSeconds(
        run: String, store: Int? = nil
    ) throws(LedgerError) -> [Stage: Double] {
        try read { database in
            guard let run = try Ledger.number(database, run) else { return [:] }
            var arguments: StatementArguments = [run]
            if let store { arguments += [store] }
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT stage, total(milliseconds) / 1000 AS seconds FROM stage_time
                    WHERE run = ? \(store == nil ? "" : "AND store = ?") GROUP BY stage
                    """, arguments: arguments)
            var seconds: [Stage: Double] = [:]
            for row in rows {
                seconds[try row.word("stage")] = try row.decode(Double.self, forColumn: "seconds")
            }
            return seconds
        }
    }

    /// The number that rows know a run by.
    static func number(_ database: Database, _ run: String) throws -> Int64? {
        try Int64.fetchOne(database, sql: "SELECT number FROM run WHERE id = ?", arguments: [run])
    }

    private static func store(
        _ database: Database, _ run: Int64, _ number: Int
    ) throws -> StoreSummary? {
        try stores(database, "store.number = ?", [run, number]).first
    }

    private static func stores(
        _ database: Database, _ condition: String, _ arguments: StatementArguments
    ) throws -> [StoreSummary] {
        let sql = """
            SELECT \(StoreSummary.columns) FROM \(StoreSummary.join)
            WHERE store.run = ? AND \(condition)
            """
        return try Row.fetchAll(
            database.cachedStatement(sql: sql), arguments: arguments
        ).map { try StoreSummary(row: $0) }
    }
}
