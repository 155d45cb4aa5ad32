import DurableFiles
import GRDB
import Jobs
import RunLedger
import Testing

/// Jobs that are given up, failures that are forgiven, and who made an attempt.
@Suite struct GivenUpTests {
    private let work = Work.copy(chunk: 0)

    private func failed(_ attempt: String, _ code: FailureCause = .crashed) -> LedgerRecord {
        .attemptFailed(run: "r1", attempt: attempt, FailureReason(code, "t"), at: 6)
    }

    private func changed(_ states: StoreState...) -> [LedgerRecord] {
        states.map { .storeChanged(run: "r1", store: 0, $0, reason: nil, at: 7) }
    }

    private func history(_ ledger: Ledger) throws -> JobRecord? {
        try ledger.jobHistories(run: "r1", store: 0)[work]
    }

    @Test func aJobIsGivenUpUntilItsStoreWaitsAgain() throws {
        try withFolder { folder in
            var ledger = try openLedger(folder)
            let reason = FailureReason(.timedOut, "it loops")
            try ledger.append(
                beginning(stores: 1) + changed(.running) + [
                    began("a", epoch: 1), failed("a"), began("b", epoch: 1), failed("b"),
                    .jobGivenUp(run: "r1", store: 0, work: work, reason),
                ])
            try ledger.close()
            ledger = try openLedger(folder)
            #expect(try history(ledger)?.givenUp == reason)
            #expect(try history(ledger)?.failures == 2)
            #expect(try history(ledger)?.attempts == 2)
            #expect(try ledger.failedJobs(run: "r1").map(\.failures) == [2])

            try ledger.append(changed(.failed))
            #expect(try history(ledger)?.givenUp == reason)
            try ledger.append(changed(.waiting))
            #expect(try history(ledger)?.givenUp == nil)
            #expect(try history(ledger)?.failures == 0)
            // The number of the next attempt and the fence are not forgotten.
            #expect(try history(ledger)?.attempts == 2)
            #expect(try history(ledger)?.epoch == 1)
            try ledger.append(changed(.running) + [began("c", epoch: 1), failed("c")])
            #expect(try history(ledger)?.failures == 1)
            try ledger.close()
        }
    }

    @Test func aJobWithoutAttemptsCanBeGivenUp() throws {
        try withLedger { ledger in
            let reason = FailureReason(.bug, "t")
            try ledger.append(
                beginning(stores: 1) + [
                    .jobGivenUp(run: "r1", store: 0, work: work, reason)
                ])
            #expect(try history(ledger)?.givenUp == reason)
            #expect(try history(ledger)?.attempts == 0)
            try ledger.append(
                changed(.running) + [.progressReset(run: "r1", store: 0, reason: "x", at: 8)])
            #expect(try history(ledger)?.givenUp == nil)
            #expect(throws: LedgerError.self) {
                try ledger.append([.jobGivenUp(run: "r1", store: 9, work: work, reason)])
            }
            #expect(throws: LedgerError.self) {
                try ledger.append([.jobGivenUp(run: "r9", store: 0, work: work, reason)])
            }
        }
    }

    @Test func onlyWhatSpeaksAgainstTheJobCounts() throws {
        try withLedger { ledger in
            try ledger.append(beginning(stores: 1) + changed(.running))
            for (number, code) in FailureCause.allCases.enumerated() {
                try ledger.append([began("a\(number)", epoch: 1), failed("a\(number)", code)])
            }
            let counting = FailureCause.allCases.count(where: \.countsAgainstJob)
            #expect(try history(ledger)?.failures == counting)
            #expect((1..<FailureCause.allCases.count).contains(counting))
            #expect(try history(ledger)?.attempts == FailureCause.allCases.count)
            try ledger.append([began("x", epoch: 1), began("y", epoch: 1)])
            #expect(try history(ledger)?.open == ["x", "y"])
        }
    }

    private func workers(_ path: FilePath) throws -> [String: String?] {
        let queue = try DatabaseQueue(path: path.description)
        defer { do { try queue.close() } catch { Issue.record(error) } }
        return try queue.read { database in
            var found: [String: String?] = [:]
            for row in try Row.fetchAll(database, sql: "SELECT id, worker FROM attempt") {
                found[row["id"]] = row["worker"] as String?
            }
            return found
        }
    }

    @Test func attemptsNameTheirWorker() throws {
        try withFolder { folder in
            let ledger = try openLedger(folder)
            try ledger.append(
                beginning(stores: 1) + [
                    .attemptBegan(
                        run: "r1", store: 0, work: work, attempt: "a", epoch: 1, at: 5,
                        worker: "w1"),
                    began("b", epoch: 1),
                ])
            try ledger.close()
            #expect(try workers(ledger.path) == ["a": "w1", "b": nil])
        }
    }

    @Test func aLedgerOfTheFirstVersionIsGoneOnWith() throws {
        try withFolder { folder in
            let first = LedgerSchema(versions: [try #require(LedgerSchema.current.versions.first)])
            let old = try Ledger(folder: folder, holder: LockHolder(text: "t"), schema: first)
            try old.close()
            let queue = try DatabaseQueue(path: old.path.description)
            try queue.write { database in
                // What its program wrote of a run, and of two attempts, one of which failed.
                try database.execute(
                    sql: """
                        INSERT INTO run (number, id, request_digest, request, engine, begun_at,
                            state, reason, changed_at)
                        VALUES (1, 'r1', 'digest', '{}', '1.0', 1, 'open', '', 1);
                        INSERT INTO store (run, number, path, bytes, state, generation)
                        VALUES (1, 0, x'2F61', 10, 'running', 0), (1, 1, x'2F62', 20, 'waiting', 0);
                        INSERT INTO job (run, store, generation, work, chunk, epoch, newest,
                            attempts, failures)
                        VALUES (1, 0, 0, 'copy', 0, 3, 2, 2, 1);
                        INSERT INTO attempt (number, run, store, generation, work, chunk, id,
                            epoch, begun_at, is_redone, outcome, failure_code, failure_text)
                        VALUES (1, 1, 0, 0, 'copy', 0, 'a', 3, 5, 0, 2, 9, 'crashed'),
                            (2, 1, 0, 0, 'copy', 0, 'b', 3, 5, 0, 0, NULL, NULL);
                        """)
            }
            try queue.close()
            let ledger = try openLedger(folder)
            #expect(try ledger.storeCounts(of: "r1") == [.running: 1, .waiting: 1])
            let known = try #require(try history(ledger))
            #expect(known.epoch == 3 && known.attempts == 2 && known.open == ["b"])
            #expect(known.failures == 1 && known.givenUp == nil)
            try ledger.append([
                .accepted(receipt("b", epoch: 3), at: 9), began("c", epoch: 4, store: 1),
            ])
            #expect(try ledger.acceptedReceipts(run: "r1", store: 0).map(\.attempt) == ["b"])
            try ledger.append(changed(.failed, .waiting))
            #expect(try history(ledger)?.failures == 0)
            try ledger.close()
            #expect(try workers(ledger.path) == ["a": nil, "b": nil, "c": nil])
        }
    }
}
