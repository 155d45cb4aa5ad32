import DurableFiles
import Jobs
import RunLedger
import StateFolders
import Testing

@testable import RunMoves
@testable import StoreRuns

/// Stores that a user takes out of a run.
@Suite("Cancelled stores") struct GivenUpStoreTests {
    private func giveUp(_ lab: RunLab, _ store: FilePath) throws -> Int {
        try CancelRun(lab.selection(store), environment: lab.environment()).run().stores
    }

    @Test func aFailedStoreIsReplayedNoMore() throws {
        try RunLab.run { lab in
            let good = try lab.forgeGood(2)
            let bad = ["0.sqlite", "1.sqlite"].map { lab.path($0) }
            for store in bad { try lab.files.publish(Array("no store".utf8), to: store) }
            let ending = try lab.migrate(bad + good)
            #expect(ending.counts == [.done: 2, .failed: 2])
            #expect(try giveUp(lab, bad[0]) == 1)
            #expect(try lab.standings()[bad[0]]?.state == .cancelled)
            #expect(try lab.replay().replayed == 1)
            #expect(try giveUp(lab, bad[1]) == 1)
            #expect(throws: RunError.self) { try lab.replay() }
            // Once is enough, and what is done is rolled back instead.
            #expect(throws: RunError.self) { try giveUp(lab, bad[1]) }
            #expect(throws: RunError.self) { try giveUp(lab, good[0]) }
            #expect(try lab.standings()[good[0]]?.state == .done)
        }
    }

    /// The run stays, and its other stores are finished by the same command.
    @Test func theOthersGoOn() throws {
        try RunLab.run { lab in
            let stores = try lab.forgeGood(3)
            let before = try lab.content(stores[1])
            try lab.migrate(stores, change: { $0.defersSwap = true })
            #expect(try giveUp(lab, stores[1]) == 1)
            let ending = try lab.migrate(stores)
            #expect(ending.isResumed)
            #expect(ending.counts == [.done: 2, .cancelled: 1])
            #expect(try lab.content(stores[1]) == before)
            #expect(try lab.strays().isEmpty)
            let records = try RunRecords(state: lab.state)
            #expect(try records.run(nil).state == .ended)
            try records.close()
        }
    }

    /// Its last store gone, a run has come to its end.
    @Test func theLastOneEndsTheRun() throws {
        try RunLab.run { lab in
            let stores = try lab.forgeGood(1)
            try lab.migrate(stores, change: { $0.defersSwap = true })
            #expect(try giveUp(lab, stores[0]) == 1)
            let records = try RunRecords(state: lab.state)
            #expect(try records.run(nil).state == .ended)
            #expect(try records.prunedOutcomes(of: "r1").migrated == 0)
            try records.close()
        }
    }

    @Test func prunedRunsKnowWhatTheyDid() throws {
        try RunLab.run { lab in
            let good = try lab.forgeGood(2)
            let bad = lab.path("0.sqlite")
            try lab.files.publish(Array("no store".utf8), to: bad)
            try lab.migrate(good + [bad])
            try lab.migrate(good)
            _ = try PruneRun(
                RunSelection(state: lab.state, run: "r1"), environment: lab.environment()
            ).run(removes: true)
            _ = try PruneRun(
                RunSelection(state: lab.state, run: "r2"), environment: lab.environment()
            ).run(removes: true)
            let records = try RunRecords(state: lab.state)
            #expect(
                try records.prunedOutcomes(of: "r1")
                    == PrunedOutcomes(
                        migrated: 2, unchanged: 0, failed: 1, rolledBack: 0, cancelled: 0))
            #expect(
                try records.prunedOutcomes(of: "r2")
                    == PrunedOutcomes(
                        migrated: 0, unchanged: 2, failed: 0, rolledBack: 0, cancelled: 0))
            try records.close()
        }
    }

    /// What stood last before the prune counts, whatever was migrated once.
    @Test func prunedRunsKnowWhatWasUndone() throws {
        try RunLab.run { lab in
            let stores = try lab.forgeGood(3)
            try lab.migrate(Array(stores[..<2]))
            #expect(try lab.rollBack(stores[0]).allSatisfy { $0.failure == nil })
            try lab.migrate([stores[2]], change: { $0.defersSwap = true })
            #expect(try giveUp(lab, stores[2]) == 1)
            for run in ["r1", "r2"] {
                _ = try PruneRun(
                    RunSelection(state: lab.state, run: run), environment: lab.environment()
                ).run(removes: true)
            }
            let records = try RunRecords(state: lab.state)
            #expect(
                try records.prunedOutcomes(of: "r1")
                    == PrunedOutcomes(
                        migrated: 1, unchanged: 0, failed: 0, rolledBack: 1, cancelled: 0))
            #expect(
                try records.prunedOutcomes(of: "r2")
                    == PrunedOutcomes(
                        migrated: 0, unchanged: 0, failed: 0, rolledBack: 0, cancelled: 1))
            try records.close()
        }
    }
}
