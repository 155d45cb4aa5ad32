import DurableFiles
import GRDB
import Jobs
import Testing

@testable import RunLedger

/// Why runs and stores are as they are, as ledgers keep it.
@Suite struct ReasonTests {
    private static let reasons: [RunReason] = [
        .paused(.request), .paused(.space("no room: 1 GiB")), .paused(.stopped("a bug")), .resumed,
        .spaceAvailable, .restarted, .storesWait, .replayed, .finished, .cancelled,
        .refused("9 GiB are short"),
    ]

    @Test(arguments: reasons) func aReasonIsReadAsItWasWritten(reason: RunReason) throws {
        let stored = reason.stored
        #expect(RunReason(code: stored.code, text: stored.text) == reason)
        #expect(RunReason(code: stored.code + "x", text: "") == nil)
        try withLedger { ledger in
            try ledger.append(beginning(stores: 1))
            #expect(try ledger.run("r1")?.reason == nil)
            try ledger.append([.runChanged(run: "r1", .paused, reason, at: 3)])
            #expect(try ledger.run("r1")?.reason == reason)
            #expect(try ledger.figures(of: .named(["r1"])).map(\.reason) == [reason])
        }
    }

    @Test func codesDiffer() {
        #expect(Set(Self.reasons.map(\.stored.code)).count == Self.reasons.count)
    }

    @Test func theStatesAndOutcomesOfPrunedStoresAreCounted() throws {
        try withLedger { ledger in
            let ends: [StoreState] = [.done, .done, .failed, .cancelled]
            var records = beginning(stores: 4)
            for (store, end) in ends.enumerated() {
                for state in [.running, end, .pruned] as [StoreState] {
                    records.append(
                        .storeChanged(run: "r1", store: store, state, reason: nil, at: 2))
                }
            }
            records.append(.storeReport(run: "r1", store: 0, .unchanged, "{}"))
            records.append(.storeReport(run: "r1", store: 1, .migrated, "{}"))
            try ledger.append(records)
            let former = try ledger.formerStates(of: "r1", in: .pruned)
            #expect(former == [.done: 2, .failed: 1, .cancelled: 1])
            for outcome in [ReportedOutcome.unchanged, .migrated] {
                #expect(try ledger.stores(of: "r1", in: .pruned, reportedAs: outcome) == 1)
            }
            #expect(try ledger.stores(of: "r1", in: .pruned, reportedAs: .failed) == 0)
        }
    }

    /// Version 3 kept reasons, former states and outcomes in texts for people.
    @Test func textsOfTheThirdVersionBecomeWords() throws {
        let texts: [(state: String, reason: String, now: RunReason?)] = [
            ("paused", "paused on request", .paused(.request)),
            ("paused", "no room: 3 GiB are short", .paused(.space("3 GiB are short"))),
            ("paused", "10 stores failed", .paused(.stopped("10 stores failed"))),
            ("ended", "every store has ended", .finished),
            ("cancelled", "given up by hand", .cancelled),
            ("cancelled", "cancelled on request", .cancelled),
            ("cancelled", "/tmp: 9 GiB are short", .refused("/tmp: 9 GiB are short")),
            ("open", "taken up again", nil), ("open", "", nil),
        ]
        try withFolder { folder in
            let third = LedgerSchema(versions: Array(LedgerSchema.current.versions.prefix(3)))
            let old = try Ledger(folder: folder, holder: LockHolder(text: "t"), schema: third)
            try old.close()
            let queue = try DatabaseQueue(path: old.path.description)
            try queue.write { database in
                for (number, text) in texts.enumerated() {
                    try database.execute(
                        sql: """
                            INSERT INTO run (number, id, request_digest, request, engine, begun_at,
                                state, reason, changed_at)
                            VALUES (?, ?, 'digest', '{}', '1.0', 1, ?, ?, 1)
                            """,
                        arguments: [number + 1, "r\(number)", text.state, text.reason])
                }
                try database.execute(
                    sql: """
                        INSERT INTO store (run, number, path, bytes, state, generation)
                        VALUES (1, 0, x'2F61', 1, 'pruned', 0), (1, 1, x'2F62', 2, 'pruned', 0);
                        INSERT INTO event (run, store, kind, text, at)
                        VALUES (1, 0, 'store', 'running → done', 1),
                            (1, 0, 'store', 'done → pruned', 2),
                            (1, 1, 'store', 'failed → pruned', 2);
                        INSERT INTO store_report (run, store, content)
                        VALUES (1, 0, '{"unchanged":{}}'), (1, 1, '{"failure":{"_0":"bug"}}');
                        """)
            }
            try queue.close()
            let ledger = try openLedger(folder)
            for (number, text) in texts.enumerated() {
                #expect(try ledger.run("r\(number)")?.reason == text.now, "\(text)")
            }
            #expect(
                try ledger.formerStates(of: "r0", in: .pruned) == [.done: 1, .failed: 1])
            #expect(try ledger.stores(of: "r0", in: .pruned, reportedAs: .unchanged) == 1)
            #expect(try ledger.stores(of: "r0", in: .pruned, reportedAs: .failed) == 1)
            try ledger.close()
        }
    }
}
