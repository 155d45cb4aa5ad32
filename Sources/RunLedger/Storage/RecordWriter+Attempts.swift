import GRDB
import Jobs

// Attempts, their fences and their ends.

/// How an attempt's row says that it ended.
enum StoredOutcome: Int {
    case begun = 0
    case accepted = 1
    case failed = 2
}

extension RecordWriter {
    /// Begins an attempt of a job.
    func begin(
        _ id: String, of job: StoredJob, epoch: Int, by worker: String?, _ at: Int64
    ) throws {
        try require(
            !id.isEmpty && epoch >= 0 && job.work.chunk >= 0,
            "an attempt without an id, or with a negative epoch or chunk")
        let found = try fence(of: job)
        if let found, epoch < found.epoch {
            throw fault(.staleEpoch(epoch, current: found.epoch))
        }
        let isRedone = found?.accepted != nil
        try insert(
            """
            INSERT INTO attempt (
                run, store, generation, work, chunk, id, epoch, begun_at, is_redone, outcome,
                worker)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)
            """, job.key + [id, epoch, at, isRedone, worker],
            or: "the attempt \(id) in the run \(job.place.runName)")
        try execute(
            """
            INSERT INTO job (
                run, store, generation, work, chunk, epoch, newest, attempts, redone)
            VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?)
            ON CONFLICT DO UPDATE SET
                epoch = excluded.epoch, newest = excluded.newest, attempts = attempts + 1,
                redone = redone + excluded.redone
            """, job.key + [epoch, database.lastInsertedRowID, isRedone])
    }

    /// Accepts a receipt by compare-and-set on job, epoch and not yet accepted.
    mutating func accept(_ receipt: Receipt, content: String, _ at: Int64) throws {
        let job = StoredJob(
            place: try place(receipt.run, receipt.store), work: receipt.work)
        let unknown = fault(.unknownAttempt(run: receipt.run, receipt.attempt))
        guard let attempt = try attempt(receipt.attempt, in: job.place.run),
            attempt.store == receipt.store, attempt.work == receipt.work,
            attempt.epoch == receipt.epoch
        else { throw unknown }
        guard attempt.generation == job.place.generation else {
            throw fault(.attemptEnded(receipt.attempt))
        }
        guard let fence = try fence(of: job) else { throw unknown }
        if let accepted = fence.accepted { throw fault(.alreadyAccepted(attempt: accepted)) }
        guard receipt.epoch >= fence.epoch else {
            throw fault(.staleEpoch(receipt.epoch, current: fence.epoch))
        }
        guard attempt.outcome == .begun else { throw fault(.attemptEnded(receipt.attempt)) }
        try execute(
            "UPDATE attempt SET outcome = ?, ended_at = ? WHERE number = ?",
            [StoredOutcome.accepted.rawValue, at, attempt.number])
        try execute(
            """
            UPDATE job SET accepted = ?
            WHERE run = ? AND store = ? AND generation = ? AND work = ? AND chunk = ?
            """, [attempt.number] + job.key)
        try execute(
            "INSERT INTO receipt (attempt, content) VALUES (?, ?)", [attempt.number, content])
    }

    /// Ends an attempt that failed.
    func fail(
        _ id: String, in run: Int64, named name: String, _ reason: FailureReason, _ at: Int64
    ) throws {
        guard let attempt = try attempt(id, in: run) else {
            throw fault(.unknownAttempt(run: name, id))
        }
        guard attempt.outcome == .begun else { throw fault(.attemptEnded(id)) }
        try execute(
            """
            UPDATE attempt SET outcome = ?, failure_code = ?, failure_text = ?, ended_at = ?
            WHERE number = ?
            """,
            [
                StoredOutcome.failed.rawValue, reason.cause.rawValue, reason.text, at,
                attempt.number,
            ])
        try execute(
            """
            UPDATE job SET failures = failures + 1
            WHERE run = ? AND store = ? AND generation = ? AND work = ? AND chunk = ?
            """,
            [
                run, attempt.store, attempt.generation, attempt.work.kind,
                attempt.work.chunk,
            ])
    }

    /// Raises a job's fence.
    func raise(_ job: StoredJob, to epoch: Int) throws {
        try require(job.work.chunk >= 0 && epoch >= 0, "a negative chunk or epoch")
        if let found = try fence(of: job), epoch <= found.epoch {
            throw fault(.staleEpoch(epoch, current: found.epoch))
        }
        try execute(
            """
            INSERT INTO job (run, store, generation, work, chunk, epoch)
            VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET epoch = excluded.epoch
            """, job.key + [epoch])
    }

    /// Notes that a job is not to be tried again.
    func giveUp(_ job: StoredJob, _ reason: FailureReason) throws {
        try require(job.work.chunk >= 0, "a negative chunk")
        try execute(
            """
            INSERT INTO job (
                run, store, generation, work, chunk, epoch, given_up_code, given_up_text)
            VALUES (?, ?, ?, ?, ?, 0, ?, ?) ON CONFLICT DO UPDATE SET
                given_up_code = excluded.given_up_code, given_up_text = excluded.given_up_text
            """, job.key + [reason.cause.rawValue, reason.text])
    }

    /// Forgives earlier failures of a store's jobs: their failure counts start again from zero.
    func forgive(_ place: StorePlace) throws {
        try execute(
            """
            UPDATE job SET given_up_code = NULL, given_up_text = NULL
            WHERE run = ? AND store = ? AND generation = ? AND given_up_code IS NOT NULL
            """, [place.run, place.store, place.generation])
        try execute(
            """
            UPDATE store SET forgiven =
                coalesce((SELECT max(number) FROM attempt WHERE run = ? AND store = ?), 0)
            WHERE run = ? AND number = ?
            """, [place.run, place.store, place.run, place.store])
    }

    private struct Fence {
        let epoch: Int
        /// The accepted attempt's id.
        let accepted: String?
    }

    private func fence(of job: StoredJob) throws -> Fence? {
        let found = try row(
            """
            SELECT job.epoch AS epoch, attempt.id AS accepted
            FROM job LEFT JOIN attempt ON attempt.number = job.accepted
            WHERE job.run = ? AND job.store = ? AND job.generation = ? AND job.work = ?
                AND job.chunk = ?
            """, job.key)
        guard let found else { return nil }
        return Fence(
            epoch: try found.decode(Int.self, forColumn: "epoch"),
            accepted: try found.decode(String?.self, forColumn: "accepted"))
    }

    private struct StoredAttempt {
        let number: Int64
        let store: Int
        let generation: Int
        let work: Work
        let epoch: Int
        let outcome: StoredOutcome
    }

    private func attempt(_ id: String, in run: Int64) throws -> StoredAttempt? {
        let found = try row(
            """
            SELECT number, store, generation, work, chunk, epoch, outcome
            FROM attempt WHERE run = ? AND id = ?
            """, [run, id])
        guard let found else { return nil }
        let outcome = StoredOutcome(rawValue: try found.decode(Int.self, forColumn: "outcome"))
        guard let outcome else { throw fault(.damaged(reason: "an unknown end of an attempt")) }
        return StoredAttempt(
            number: try found.decode(Int64.self, forColumn: "number"),
            store: try found.decode(Int.self, forColumn: "store"),
            generation: try found.decode(Int.self, forColumn: "generation"),
            work: try Work(row: found), epoch: try found.decode(Int.self, forColumn: "epoch"),
            outcome: outcome)
    }
}
