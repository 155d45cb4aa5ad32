import DurableFiles
import Foundation
import Jobs
import MigrationEngine
import RunLedger
import RunSupport
import StateFolders
import Testing

@testable import StoreRuns

/// What failed, and nothing else, runs again.
@Suite("Replays") struct ReplayTests {
    /// Stores that were cut short, with their whole bytes.
    private func addBroken(_ count: Int, _ lab: RunLab) throws -> [FilePath: [UInt8]] {
        var whole: [FilePath: [UInt8]] = [:]
        for number in 1...count {
            let store = try lab.forge("broken-\(number).sqlite", seed: UInt64(number))
            let bytes = try lab.files.contents(of: store, limit: 1 << 30)
            whole[store] = bytes
            try replace(store, Array(bytes.prefix(bytes.count / 2)), lab)
        }
        return whole
    }

    private func replace(_ store: FilePath, _ bytes: [UInt8], _ lab: RunLab) throws {
        try lab.files.remove(store)
        try lab.files.publish(bytes, to: store)
    }

    @Test func replayRunsExactlyWhatFailed() throws {
        try RunLab.run { lab in
            let good = try lab.forgeGood()
            let whole = try addBroken(4, lab)
            let broken = whole.keys.sorted()
            let stores = good + broken
            #expect(try lab.migrate(stores).counts == [.done: good.count, .failed: 4])
            let done = try lab.identities(good)
            for store in broken.prefix(3) { try replace(store, whole[store] ?? [], lab) }
            let first = NoticeLog(stores)
            let (ending, count) = try lab.replay(watch: first.watch)
            #expect(count == 4 && ending.isResumed)
            #expect(ending.counts == [.done: good.count + 3, .failed: 1])
            #expect(first.touched == Set(broken) && first.ended.count == 4)
            // Neither another file nor another content under the names of those that were done.
            #expect(try lab.identities(good) == done)

            try replace(broken[3], whole[broken[3]] ?? [], lab)
            let repaired = try lab.identities(broken.prefix(3))
            let second = NoticeLog(stores)
            let (last, rest) = try lab.replay(watch: second.watch)
            #expect(rest == 1 && last.counts == [.done: stores.count])
            #expect(second.touched == [broken[3]])
            #expect(try lab.identities(good + broken.prefix(3)) == done.merging(repaired) { $1 })
            #expect(throws: RunError.self) { try lab.replay() }
            let records = try RunRecords(state: lab.state)
            #expect(try records.runs().map(\.state) == [.ended])
            try records.close()
            #expect(try lab.leftovers().isEmpty)
            #expect(try lab.rollBack().count == stores.count)
            for (store, bytes) in whole {
                #expect(try lab.files.contents(of: store, limit: 1 << 30) == bytes)
            }
        }
    }

    @Test func oneStoreCanBeReplayedAlone() throws {
        try RunLab.run { lab in
            let good = try lab.forgeGood(2)
            let whole = try addBroken(2, lab)
            let broken = whole.keys.sorted()
            try lab.migrate(good + broken)
            for (store, bytes) in whole { try replace(store, bytes, lab) }
            let log = NoticeLog(good + broken)
            let (ending, count) = try lab.replay(broken[1], watch: log.watch)
            #expect(count == 1 && log.touched == [broken[1]])
            #expect(ending.counts == [.done: 3, .failed: 1])
            #expect(try lab.files.contents(of: broken[0], limit: 1 << 30) == whole[broken[0]])
            #expect(throws: RunError.self) { try lab.replay(good[0]) }
        }
    }
}
