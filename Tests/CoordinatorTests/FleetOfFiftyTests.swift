import CoreDataStore
import DurableFiles
import Foundation
import Jobs
import RunLedger
import Testing

/// A fleet of which some cannot be migrated: the rest is, and a replay does what failed alone.
@Suite(.serialized) struct FleetOfFiftyTests {
    private static let stores = 50
    private static let large = 50
    private static let damaged = [7, 23, 41]
    /// Chunks of a store that has several; the others are smaller than one.
    private static let shape = ["--chunk-bytes", "256KiB"]
    /// The large store's number in its run: stores are numbered in the order of their names.
    private static let place =
        1 + (1..<stores).count { "s\($0).sqlite" < "s\(large).sqlite" }
    private static let failing = Work.copy(chunk: 2)

    @Test func aReplayRunsTheFailedJobsAlone() throws {
        try ClusterProcess.run { lab in
            try lab.forge(stores: Self.stores - 1, notes: 20)
            try lab.forge(lab.store(Self.large), notes: 3000, seed: 50)
            let expected = try lab.expected(Self.shape)
            let originals = try damage(lab)
            let before = try lab.contents(of: lab.data)

            let ended = try lab.run(
                lab.migration(Self.shape + ClusterProcess.faulty(workers: 3)),
                faults: "trap:\(Self.place):copy-2:*")
            #expect(ended.status == 75, "\(ended.log)")
            let failed = (Self.damaged + [Self.large]).map { "/s\($0).sqlite" }
            let after = try lab.contents(of: lab.data)
            for name in expected.keys.filter({ $0.hasSuffix(".sqlite") }) {
                if failed.contains(name) {
                    #expect(after[name] == before[name], "\(name)")
                } else {
                    #expect(after[name] == expected[name], "\(name)")
                }
            }
            let first = try look(lab)
            #expect(first.failed == Set(Self.damaged + [Self.large]))
            #expect(first.accepted[Self.large]?.isEmpty == false)
            #expect(first.accepted[Self.large]?.contains(Self.failing) == false)

            // The causes are repaired: the pages are back, and the chunk fails no more.
            for (number, bytes) in originals { try bytes.write(to: lab.store(number)) }
            let replay = try lab.run([
                "replay", "--state", lab.ledger.description, "--workers", "2",
            ])
            #expect(replay.status == 0, "\(replay.log)")
            let second = try look(lab)
            #expect(second.failed.isEmpty)
            for number in 1...Self.stores {
                let earlier = first.accepted[number] ?? []
                let missing = (second.accepted[number] ?? []).subtracting(earlier)
                #expect(missing.isEmpty == !first.failed.contains(number), "\(number)")
                if number == Self.large { #expect(missing == [Self.failing]) }
                // Each job that was not accepted once, and no other.
                #expect(
                    second.attempts[number, default: 0] - first.attempts[number, default: 0]
                        == missing.count, "\(number)")
            }
            #expect(try lab.redone() == 0)
            #expect(try lab.contents(of: lab.data) == expected)
            #expect(try lab.strays().isEmpty)
        }
    }

    /// Overwrites one page of some stores.
    ///
    /// - Returns: what they held before.
    private func damage(_ lab: ClusterProcess) throws -> [Int: Data] {
        var originals: [Int: Data] = [:]
        for number in Self.damaged {
            let bytes = try Data(contentsOf: lab.store(number))
            originals[number] = bytes
            var broken = bytes
            let page = 4096
            let start = bytes.count / page / 2 * page
            broken.replaceSubrange(start..<(start + page), with: Data(repeating: 0xA5, count: page))
            try broken.write(to: lab.store(number))
        }
        return originals
    }

    /// What the ledger knows, by the numbers in the stores' names.
    private struct Picture {
        var failed: Set<Int> = []
        var accepted: [Int: Set<Work>] = [:]
        var attempts: [Int: Int] = [:]
    }

    private func look(_ lab: ClusterProcess) throws -> Picture {
        let ledger = try Ledger(reading: lab.ledger)
        let run = try #require(try ledger.newestRun()).id
        var picture = Picture()
        for number in 1...Self.stores {
            let path = FilePath(lab.store(number).path)
            let store = try #require(try ledger.store(run: run, path: path))
            if store.state == .failed { picture.failed.insert(number) }
            let attempts = try ledger.attempts(run: run, store: store.number)
            picture.attempts[number] = attempts.count
            picture.accepted[number] = Set(
                attempts.filter { $0.outcome == .accepted }.map(\.work))
        }
        try ledger.close()
        return picture
    }
}
