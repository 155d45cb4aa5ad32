import CoreDataStore
import MigrationPlans
import SafeSQLite
import Testing

@testable import MigrationPlanning

/// How tables with many entities are cut into chunks of one entity each, small ones together.
@Suite struct ChunkPlannerTests {
    private static let table = "ZTHING"

    /// A table whose entities, numbered from 1, have so many rows of a hundred bytes each.
    private func chunks(rows: [Int64], limit: Int64?) -> [Chunk] {
        let count = rows.reduce(0, +)
        var facts = StoreFacts()
        facts.tables[Self.table] = StoreFacts.Table(
            rows: Dictionary(uniqueKeysWithValues: zip(1..., rows)), highestKey: count,
            lowestKey: 1)
        let buckets = stride(from: Int64(10), through: count, by: 10).map { key in
            TableProfile.Bucket(upper: key == count ? nil : key, bytes: 1000, rows: 10)
        }
        facts.profiles[Self.table] = TableProfile(buckets: buckets)
        let entities = (1...Int64(rows.count)).map { number in
            EntityFeed(
                source: "E\(number)", sourceNumber: number, destination: "E\(number)",
                destinationNumber: number, pass: Int(number) - 1)
        }
        let feed = Feed(
            sourceTable: Self.table, destinationTable: Self.table, offset: 0, layer: 0,
            entities: entities,
            columns: [])
        return ChunkPlanner(facts: facts, partition: .entity, limit: limit)
            .chunks(feeds: [feed], joins: [])
    }

    /// The entities of each chunk, and which keys of them it takes.
    private func selections(_ chunks: [Chunk]) throws -> [(numbers: [Int64], keys: KeyRange)] {
        try chunks.map { chunk in
            guard case .entities(let numbers, let keys) = chunk.selection else {
                throw EngineError.internalError("a chunk of keys alone")
            }
            return (numbers, keys)
        }
    }

    /// Expects every entity with rows once, whole or cut into ranges that follow each other.
    private func expectEachOnce(_ chunks: [Chunk], rows: [Int64]) throws {
        var parts: [Int64: [KeyRange]] = [:]
        for (numbers, keys) in try selections(chunks) {
            #expect(!numbers.isEmpty && Set(numbers).count == numbers.count)
            // Only whole entities share a chunk.
            if numbers.count > 1 { #expect(keys == .all) }
            for number in numbers { parts[number, default: []].append(keys) }
        }
        #expect(Set(parts.keys) == Set(zip(1..., rows).filter { $0.1 > 0 }.map(\.0)))
        for (number, ranges) in parts {
            #expect(ranges.first?.lower == nil && ranges.last?.upper == nil, "entity \(number)")
            for (range, next) in zip(ranges, ranges.dropFirst()) {
                #expect(range.upper.map { $0 + 1 } == next.lower, "entity \(number)")
            }
        }
    }

    @Test func manySmallEntitiesShareChunks() throws {
        let rows = [Int64](repeating: 20, count: 400)
        let chunks = chunks(rows: rows, limit: 20_000)
        try expectEachOnce(chunks, rows: rows)
        // Entities of 2,000 bytes: ten a chunk.
        #expect(try selections(chunks).map(\.numbers.count) == [Int](repeating: 10, count: 40))
        #expect(chunks.allSatisfy { $0.bytes == 20_000 })
        #expect(try selections(chunks).flatMap(\.numbers) == Array(1...400))
    }

    @Test func aLargeEntityAmongThemIsCut() throws {
        var rows = [Int64](repeating: 20, count: 100)
        rows[6] = 3_000
        rows[7] = 0
        let chunks = chunks(rows: rows, limit: 20_000)
        try expectEachOnce(chunks, rows: rows)
        let large = try selections(chunks).filter { $0.numbers.contains(7) }
        #expect(large.count >= 10 && large.allSatisfy { $0.numbers == [7] })
        #expect(try selections(chunks).allSatisfy { !$0.numbers.contains(8) })
        // The last group holds what is left.
        let shared = chunks.filter { chunk in
            guard case .entities(let numbers, _) = chunk.selection else { return false }
            return numbers != [7]
        }
        #expect(shared.dropLast().allSatisfy { (20_000..<22_000).contains($0.bytes) })
        #expect(shared.count == 10)
    }

    @Test func fewEntitiesHaveTheirOwnChunks() throws {
        let rows = [Int64](repeating: 20, count: 24)
        let chunks = chunks(rows: rows, limit: 20_000)
        try expectEachOnce(chunks, rows: rows)
        #expect(try selections(chunks).map(\.numbers) == (1...24).map { [$0] })
    }

    /// However small the limit is, about as many chunks as are merged at most.
    @Test(arguments: [1, 100, 4096] as [Int64])
    func theirNumberIsBounded(limit: Int64) throws {
        var rows = [Int64](repeating: 7, count: 2_000)
        rows[0] = 90_000
        rows[1_999] = 40_000
        let chunks = chunks(rows: rows, limit: limit)
        try expectEachOnce(chunks, rows: rows)
        #expect((250...260).contains(chunks.count), "\(chunks.count)")
    }

    @Test func withoutALimitThereIsOneChunk() {
        let chunks = chunks(rows: [5, 5, 10], limit: nil)
        #expect(chunks.map(\.selection) == [.keys(.all)])
    }
}
