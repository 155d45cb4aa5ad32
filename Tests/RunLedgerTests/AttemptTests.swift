import Jobs
import RunLedger
import Testing

@Suite struct AttemptTests {
    @Test func aReceiptComesBackWhole() throws {
        try withLedger { ledger in
            try ledger.append(beginning(stores: 1))
            let works: [Work] = [.link(chunk: 0), .copy(chunk: 10), .whole, .copy(chunk: 2)]
            for (number, work) in works.enumerated() {
                try ledger.append([began("a\(number)", epoch: 3, work: work)])
                try ledger.append([.accepted(receipt("a\(number)", epoch: 3, work: work), at: 9)])
            }
            let accepted = try ledger.acceptedReceipts(run: "r1", store: 0)
            #expect(
                accepted.map(\.work) == [
                    .copy(chunk: 2), .copy(chunk: 10), .link(chunk: 0), .whole,
                ])
            #expect(accepted.first == receipt("a3", epoch: 3, work: .copy(chunk: 2)))
            #expect(try ledger.acceptedReceipts(run: "r1", store: 1).isEmpty)
            #expect(try ledger.acceptedReceipts(run: "none", store: 0).isEmpty)
        }
    }

    @Test func theFirstOfTwoAttemptsWins() throws {
        try withLedger { ledger in
            try ledger.append(beginning(stores: 1))
            try ledger.append([began("a"), began("b")])
            try ledger.append([.accepted(receipt("b"), at: 1)])
            for late in ["a", "b"] {
                #expect(
                    try cause { try ledger.append([.accepted(receipt(late), at: 2)]) }
                        == .alreadyAccepted(attempt: "b"))
            }
            #expect(try ledger.acceptedReceipts(run: "r1", store: 0).map(\.attempt) == ["b"])
            let counts = try ledger.attemptCounts(run: "r1")
            #expect(counts.jobs == 1 && counts.attempts == 2 && counts.accepted == 1)
            #expect(counts.failed == 0 && counts.mostForOneJob == 2)
            #expect(counts.afterAcceptance == 0)
            try ledger.append([began("c")])
            #expect(try ledger.attemptsAfterAcceptance(run: "r1") == 1)
            let attempts = try ledger.attempts(run: "r1", store: 0)
            #expect(attempts.map(\.id) == ["a", "b", "c"])
            #expect(attempts.map(\.beganAfterAcceptance) == [false, false, true])
            #expect(attempts.map(\.outcome) == [.begun, .accepted, .begun])
        }
    }

    @Test func aFenceKeepsLateAttemptsOut() throws {
        try withLedger { ledger in
            let work = Work.copy(chunk: 0)
            try ledger.append(beginning(stores: 1) + [began("a", epoch: 1)])
            #expect(try ledger.epoch(run: "r1", store: 0, work: work) == 1)
            try ledger.append([.epochRaised(run: "r1", store: 0, work: work, to: 2)])
            #expect(try ledger.highestEpoch(run: "r1") == 2)
            let stale = LedgerError.Kind.staleEpoch(1, current: 2)
            #expect(
                try cause { try ledger.append([.accepted(receipt("a", epoch: 1), at: 2)]) } == stale
            )
            #expect(try cause { try ledger.append([began("b", epoch: 1)]) } == stale)
            #expect(
                try cause {
                    try ledger.append([.epochRaised(run: "r1", store: 0, work: work, to: 2)])
                } == .staleEpoch(2, current: 2))
            // A beginning with a higher epoch raises the fence by itself.
            try ledger.append([began("c", epoch: 5)])
            #expect(try ledger.epoch(run: "r1", store: 0, work: work) == 5)
            try ledger.append([.accepted(receipt("c", epoch: 5), at: 3)])
        }
    }

    @Test func unknownAndEndedAttemptsAreRefused() throws {
        try withLedger { ledger in
            try ledger.append(beginning(stores: 2) + [began("a", epoch: 1)])
            let unknown = LedgerError.Kind.unknownAttempt(run: "r1", "a")
            for foreign in [
                receipt("a", epoch: 2), receipt("a", epoch: 1, store: 1),
                receipt("a", epoch: 1, work: .copy(chunk: 1)),
            ] {
                #expect(try cause { try ledger.append([.accepted(foreign, at: 2)]) } == unknown)
            }
            #expect(
                try cause { try ledger.append([began("a", work: .link(chunk: 0))]) }
                    == .duplicate("the attempt a in the run r1"))
            let failed = LedgerRecord.attemptFailed(run: "r1", attempt: "a", damaged, at: 3)
            try ledger.append([failed])
            #expect(try cause { try ledger.append([failed]) } == .attemptEnded("a"))
            #expect(
                try cause { try ledger.append([.accepted(receipt("a", epoch: 1), at: 2)]) }
                    == .attemptEnded("a"))
            #expect(
                try cause {
                    try ledger.append([.attemptFailed(run: "r1", attempt: "b", damaged, at: 1)])
                } == .unknownAttempt(run: "r1", "b"))
        }
    }

    @Test func failedJobsAreThoseThatNobodyFinished() throws {
        try withLedger { ledger in
            try ledger.append(beginning(stores: 3))
            for (attempt, store) in [("a", 0), ("b", 1), ("c", 2), ("d", 2)] {
                try ledger.append([
                    began(attempt, store: store),
                    .attemptFailed(run: "r1", attempt: attempt, damaged, at: 3),
                ])
            }
            try ledger.append([began("e", store: 0)])
            try ledger.append([
                began("f", store: 1), .accepted(receipt("f", store: 1), at: 4),
            ])
            let failed = try ledger.failedJobs(run: "r1")
            #expect(failed.map(\.store) == [2] && failed.map(\.failures) == [2])
            #expect(failed.map(\.work) == [.copy(chunk: 0)] && failed.map(\.reason) == [damaged])
            #expect(damaged.decision == .quarantineChunk)
            #expect(try ledger.attemptCounts(run: "r1").failed == 4)
        }
    }

    @Test func aResetMakesProgressHistory() throws {
        try withLedger { ledger in
            let prepared = LedgerRecord.storePrepared(run: "r1", store: 0, preparation())
            try ledger.append(beginning(stores: 1) + [prepared, began("a"), began("b")])
            try ledger.append([.accepted(receipt("a"), at: 2)])
            // The same again, after a reboot: nothing depends on that.
            try ledger.append([.storePrepared(run: "r1", store: 0, preparation(boot: "other"))])
            let changed = LedgerRecord.storePrepared(run: "r1", store: 0, preparation(plan: "new"))
            #expect(try cause { try ledger.append([changed]) } == .progressDepends(store: 0))
            try ledger.append([
                .progressReset(run: "r1", store: 0, reason: "the plan changed", at: 3), changed,
            ])
            let store = try #require(try ledger.store(run: "r1", 0))
            #expect(store.preparation == preparation(plan: "new") && store.resets == 1)
            #expect(try ledger.acceptedReceipts(run: "r1", store: 0).isEmpty)
            #expect(try ledger.epoch(run: "r1", store: 0, work: .copy(chunk: 0)) == nil)
            #expect(
                try cause { try ledger.append([.accepted(receipt("b"), at: 4)]) }
                    == .attemptEnded("b"))
            try ledger.append([began("c"), .accepted(receipt("c"), at: 5)])
            let attempts = try ledger.attempts(run: "r1", store: 0)
            #expect(attempts.map(\.isVoid) == [true, true, false])
            #expect(try ledger.attemptsAfterAcceptance(run: "r1") == 0)
            #expect(try ledger.attemptCounts(run: "r1").accepted == 2)
            let resets = try ledger.events(run: "r1", store: 0)
                .filter { $0.kind == LedgerEvent.Kind.reset }
            #expect(resets.map(\.text) == ["the plan changed"])
        }
    }

    @Test func whatIsDoneIsNotReset() throws {
        try withLedger { ledger in
            try ledger.append(
                beginning(stores: 1) + [
                    .storeChanged(run: "r1", store: 0, .running, reason: nil, at: 2),
                    .storeChanged(run: "r1", store: 0, .done, reason: nil, at: 3),
                ])
            #expect(
                try cause {
                    try ledger.append([
                        .progressReset(run: "r1", store: 0, reason: "source changed", at: 4)
                    ])
                }
                    == .illegalTransition(
                        of: "the progress of store 0 of the run r1", from: "done", to: "reset"))
        }
    }
}
