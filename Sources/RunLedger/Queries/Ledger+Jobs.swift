import Foundation
import GRDB
package import Jobs

// Jobs, attempts and receipts.

extension Ledger {
    /// The receipts of a store that count: accepted, and not void by a reset.
    ///
    /// Ordered by the kind of work, copies before links, and by chunk.
    package func acceptedReceipts(
        run: String, store: Int
    ) throws(LedgerError) -> [Receipt] {
        let contents = try read { database -> [String] in
            guard let run = try Ledger.number(database, run) else { return [] }
            return try String.fetchAll(
                database,
                sql: """
                    SELECT receipt.content FROM store
                    JOIN job ON job.run = store.run AND job.store = store.number
                        AND job.generation = store.generation
                    JOIN receipt ON receipt.attempt = job.accepted
                    WHERE store.run = ? AND store.number = ? ORDER BY job.work, job.chunk
                    """, arguments: [run, store])
        }
        // Decoded outside of the query, so that other readers need not wait.
        return try LedgerError.translating(path, "read") {
            let decoder = JSONDecoder()
            return try contents.map { try decoder.decode(Receipt.self, from: Data($0.utf8)) }
        }
    }

    /// All attempts of a store in the order in which they began, void ones included.
    package func attempts(run: String, store: Int) throws(LedgerError) -> [AttemptSummary] {
        try read { database in
            guard let run = try Ledger.number(database, run) else { return [] }
            return try Row.fetchAll(
                database,
                sql: """
                    SELECT attempt.*, attempt.generation < store.generation AS is_void
                    FROM attempt JOIN store
                        ON store.run = attempt.run AND store.number = attempt.store
                    WHERE attempt.run = ? AND attempt.store = ? ORDER BY attempt.number
                    """, arguments: [run, store]
            ).map { try AttemptSummary(row: $0) }
        }
    }

    /// What was tried of each job of a store; jobs that were never begun are left out.
    ///
    /// - Complexity: O(attempts of the store).
    package func jobHistories(
        run: String, store: Int
    ) throws(LedgerError) -> [Work: JobRecord] {
        try read { database in
            guard let run = try Ledger.number(database, run) else { return [:] }
            var found: [Work: JobRecord] = [:]
            let attempts = try Row.fetchCursor(
                database,
                sql: """
                    SELECT attempt.work, attempt.chunk, attempt.id, attempt.outcome,
                        attempt.failure_code, attempt.failure_text,
                        attempt.generation < store.generation AS is_void,
                        attempt.number > store.forgiven AS counts
                    FROM attempt JOIN store
                        ON store.run = attempt.run AND store.number = attempt.store
                    WHERE attempt.run = ? AND attempt.store = ? ORDER BY attempt.number
                    """, arguments: [run, store])
            while let row = try attempts.next() {
                try found[try Work(row: row), default: JobRecord()].add(row)
            }
            let jobs = try Row.fetchAll(
                database,
                sql: """
                    SELECT job.work, job.chunk, job.epoch, job.given_up_code AS failure_code,
                        job.given_up_text AS failure_text
                    FROM store JOIN job ON job.run = store.run AND job.store = store.number
                        AND job.generation = store.generation
                    WHERE store.run = ? AND store.number = ?
                    """, arguments: [run, store])
            for row in jobs {
                let work = try Work(row: row)
                found[work, default: JobRecord()].epoch = try row.decode(forColumn: "epoch")
                found[work]?.givenUp = try row.failureReason()
            }
            return found
        }
    }

    /// The epoch of a job; nil where no attempt began and nothing was raised since the last reset.
    package func epoch(run: String, store: Int, work: Work) throws(LedgerError) -> Int? {
        try read { database in
            guard let run = try Ledger.number(database, run) else { return nil }
            return try Int.fetchOne(
                database,
                sql: """
                    SELECT job.epoch FROM store
                    JOIN job ON job.run = store.run AND job.store = store.number
                        AND job.generation = store.generation
                    WHERE store.run = ? AND store.number = ? AND job.work = ? AND job.chunk = ?
                    """, arguments: [run, store, work.kind, work.chunk])
        }
    }

    /// The highest epoch of a run's jobs; 0 where there is none.
    ///
    /// - Complexity: O(jobs of the run).
    package func highestEpoch(run: String) throws(LedgerError) -> Int {
        try read { database in
            guard let run = try Ledger.number(database, run) else { return 0 }
            let sql = "SELECT max(epoch) FROM job WHERE run = ?"
            return try Int.fetchOne(database, sql: sql, arguments: [run]) ?? 0
        }
    }

    /// Jobs whose newest attempt failed and that no attempt was accepted for, by store.
    package func failedJobs(run: String) throws(LedgerError) -> [FailedJob] {
        try read { database in
            guard let run = try Ledger.number(database, run) else { return [] }
            return try Row.fetchAll(
                database,
                sql: """
                    SELECT job.store, job.work, job.chunk, job.failures, attempt.failure_code,
                        attempt.failure_text
                    FROM job
                    JOIN store ON store.run = job.run AND store.number = job.store
                        AND store.generation = job.generation
                    JOIN attempt ON attempt.number = job.newest
                    WHERE job.run = ? AND job.failures > 0 AND job.accepted IS NULL
                        AND attempt.outcome = ?
                    ORDER BY job.store, job.work, job.chunk
                    """, arguments: [run, StoredOutcome.failed.rawValue]
            ).map { row in
                guard let reason = try row.failureReason() else {
                    throw UnknownStoredValue(column: "failure_code")
                }
                return FailedJob(
                    store: try row.decode(forColumn: "store"), work: try Work(row: row),
                    failures: try row.decode(forColumn: "failures"), reason: reason)
            }
        }
    }

    /// How many attempts a run had, and how many were work done twice.
    ///
    /// - Complexity: O(jobs of the run).
    package func attemptCounts(run: String) throws(LedgerError) -> AttemptCounts {
        try read { database in
            let row = try Row.fetchOne(
                database,
                sql: """
                    SELECT count(*) AS jobs, coalesce(sum(attempts), 0) AS attempts,
                        count(accepted) AS accepted, coalesce(sum(failures), 0) AS failures,
                        coalesce(sum(redone), 0) AS redone, coalesce(max(attempts), 0) AS most
                    FROM job WHERE run = ? AND attempts > 0
                    """, arguments: [try Ledger.number(database, run)])
            return AttemptCounts(
                jobs: try row?.decode(forColumn: "jobs") ?? 0,
                attempts: try row?.decode(forColumn: "attempts") ?? 0,
                accepted: try row?.decode(forColumn: "accepted") ?? 0,
                failed: try row?.decode(forColumn: "failures") ?? 0,
                afterAcceptance: try row?.decode(forColumn: "redone") ?? 0,
                mostForOneJob: try row?.decode(forColumn: "most") ?? 0)
        }
    }

    /// Attempts that began for a job after it had been accepted; 0 where nothing is done twice.
    ///
    /// Work that a reset made void may be done again and does not count.
    package func attemptsAfterAcceptance(run: String) throws(LedgerError) -> Int {
        try attemptCounts(run: run).afterAcceptance
    }
}

extension AttemptSummary {
    /// A row of `attempt` with `is_void`.
    fileprivate init(row: Row) throws {
        id = try row.decode(forColumn: "id")
        work = try Work(row: row)
        epoch = try row.decode(forColumn: "epoch")
        isVoid = try row.decode(forColumn: "is_void")
        beganAfterAcceptance = try row.decode(forColumn: "is_redone")
        begunAt = try row.decode(forColumn: "begun_at")
        let stored = StoredOutcome(rawValue: try row.decode(Int.self, forColumn: "outcome"))
        switch (stored, try row.failureReason()) {
        case (.begun, _): outcome = .begun
        case (.accepted, _): outcome = .accepted
        case (.failed, let reason?): outcome = .failed(reason)
        case (.failed, nil), (nil, _): throw UnknownStoredValue(column: "outcome")
        }
    }
}
