import DurableFiles
import SafeSQLite
import Testing

@testable import ValidationScans

@Suite struct ContentHashTests {
    private static let seed = HashSeed("ZITEM.ZNAME")
    private static let key = SplitMix.key(1)

    private static func bytes(
        _ bytes: [UInt8], key: Int64 = 7, storageClass: Int32 = 4, seed: HashSeed = seed,
        hashKey: HashKey = Self.key
    ) -> ContentDigest128 {
        bytes.withUnsafeBytes {
            ContentHash.bytes(seed, hashKey.row(key), storageClass: storageClass, $0)
        }
    }

    @Test func everyBitOfAWordCounts() {
        let values: [UInt64] = [0, 1, 0xFFFF_FFFF_FFFF_FFFF, 0x0123_4567_89AB_CDEF]
        for value in values {
            let before = ContentHash.word(Self.seed, Self.key.row(1), storageClass: 1, value)
            for bit in 0..<64 {
                let after = ContentHash.word(
                    Self.seed, Self.key.row(1), storageClass: 1, value ^ (1 << UInt64(bit)))
                #expect(before.high != after.high)
                #expect(before.low != after.low)
            }
        }
    }

    @Test func aChangedBitChangesAboutHalfOfTheHash() {
        var changed = 0
        for value in 0..<256 as Range<UInt64> {
            let before = ContentHash.word(Self.seed, Self.key.row(3), storageClass: 1, value)
            let after = ContentHash.word(Self.seed, Self.key.row(3), storageClass: 1, value ^ 1)
            changed += (before.high ^ after.high).nonzeroBitCount
            changed += (before.low ^ after.low).nonzeroBitCount
        }
        #expect((60.0...68.0).contains(Double(changed) / 256))
    }

    @Test(arguments: [1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100])
    func everyBitOfBytesCounts(length: Int) {
        var generator = SplitMix(state: UInt64(length))
        let original = (0..<length).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
        let before = Self.bytes(original)
        for place in 0..<(length * 8) {
            var changed = original
            changed[place / 8] ^= 1 << UInt8(place % 8)
            #expect(Self.bytes(changed) != before)
        }
    }

    @Test func lengthsTellApart() {
        var seen: Set<ContentDigest128> = []
        for length in 0..<100 {
            #expect(seen.insert(Self.bytes([UInt8](repeating: 0, count: length))).inserted)
        }
    }

    @Test func classesTellApart() {
        let row = Self.key.row(7)
        let hashes: [ContentDigest128] = [
            ContentHash.word(Self.seed, row, storageClass: 5, 0),
            ContentHash.word(Self.seed, row, storageClass: 1, 0),
            ContentHash.real(Self.seed, row, 0), Self.bytes([], storageClass: 3),
            Self.bytes([], storageClass: 4), Self.bytes([0x61], storageClass: 3),
            Self.bytes([0x61], storageClass: 4),
            ContentHash.word(Self.seed, row, storageClass: 1, 2),
            ContentHash.real(Self.seed, row, 2),
        ]
        #expect(Set(hashes).count == hashes.count)
        #expect(ContentHash.real(Self.seed, row, -0.0) == ContentHash.real(Self.seed, row, 0))
    }

    @Test func keysAndColumnsTellApart() {
        let other = HashSeed("ZITEM.ZTITLE")
        #expect(Self.bytes([1, 2, 3], key: 1) != Self.bytes([1, 2, 3], key: 2))
        #expect(Self.bytes([1, 2, 3]) != Self.bytes([1, 2, 3], seed: other))
    }

    @Test func sumsNoticeSwappedRowsAndColumns() {
        let other = HashSeed("ZITEM.ZTITLE")
        func sum(_ cells: [(HashSeed, Int64, UInt64)]) -> [UInt64] {
            var sum = CellSum()
            for (seed, key, value) in cells {
                let digest = ContentHash.word(seed, Self.key.row(key), storageClass: 1, value)
                sum.add(high: digest.high, low: digest.low)
            }
            return [sum.high, sum.low]
        }
        let before = sum([(Self.seed, 1, 10), (Self.seed, 2, 20)])
        #expect(before == sum([(Self.seed, 2, 20), (Self.seed, 1, 10)]))
        #expect(before != sum([(Self.seed, 1, 20), (Self.seed, 2, 10)]))
        #expect(
            sum([(Self.seed, 1, 10), (other, 1, 20)]) != sum([(Self.seed, 1, 20), (other, 1, 10)]))
        // A doubled row does not cancel out, as it would with XOR.
        #expect(sum([(Self.seed, 1, 10), (Self.seed, 1, 10)]) != [0, 0])
    }

    @Test(arguments: [0, 1, 5, 15, 16, 17, 31, 32, 33, 64, 1000])
    func piecesHashAsAWhole(length: Int) {
        var generator = SplitMix(state: 99)
        let whole = (0..<length).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
        for cut in [1, 3, 16, 20] {
            var hash = StreamingHash(Self.seed, Self.key.row(7))
            var at = 0
            while at < length {
                let end = min(length, at + cut)
                whole[at..<end].withUnsafeBytes { hash.update($0) }
                at = end
            }
            #expect(hash.finish(storageClass: 4) == Self.bytes(whole))
        }
    }

    /// What is no integer has no number that an integer or other bytes can be made to have.
    @Test func numbersOfOtherClassesAreSecret() throws {
        let connection = try Connection(path: "numbers", mode: .memory)
        let row = try connection.prepare("SELECT 12, 12.5, 22.5, '12', x'3132', NULL, '12 '")
        #expect(try row.step())
        let numbers = (0..<7).map { RawRow(row).wholeNumber($0, Self.key) }
        #expect(numbers[0] == 12)
        #expect(numbers[1] + 10 == numbers[2])
        #expect(Set(numbers).count == 7)
        #expect(numbers[1...].allSatisfy { $0 >= 1 << 61 })
        #expect(numbers[5] == Self.key.nothing)
        let other = SplitMix.key(2)
        for column in 1..<7 { #expect(RawRow(row).wholeNumber(column, other) != numbers[column]) }
    }

    @Test func anotherKeyMakesOtherHashes() {
        let other = SplitMix.key(2)
        for length in [0, 1, 16, 40] {
            let text = [UInt8](repeating: 0x61, count: length)
            let pair = (Self.bytes(text), Self.bytes(text, hashKey: other))
            #expect(pair.0.high != pair.1.high && pair.0.low != pair.1.low)
        }
        let words = [Self.key, other].map {
            ContentHash.word(Self.seed, $0.row(1), storageClass: 1, 7)
        }
        #expect(words[0].high != words[1].high && words[0].low != words[1].low)
    }

    /// One block that once made both lanes zero whatever came before it.
    @Test func noBlockForgetsWhatCameBefore() {
        let block: [UInt8] = [0xE703_7ED1_A0B4_28DB, 0x5899_65CC_7537_4CC3].flatMap { word in
            withUnsafeBytes(of: (word as UInt64).littleEndian, Array.init)
        }
        let before = ["0123456789abcdef", "fedcba9876543210"].map { Array($0.utf8) }
        #expect(Self.bytes(before[0] + block) != Self.bytes(before[1] + block))
    }

    @Test func everyPartOfALinkCounts() {
        func link(
            _ owner: Int64, _ target: Int64, _ entity: Int64 = 0, _ first: Int64? = nil,
            _ second: Int64? = nil
        ) -> ContentDigest128 {
            ContentHash.link(
                Self.seed, Self.key.link(owner, target), entity: entity, ownerOrder: first,
                targetOrder: second)
        }
        let hashes = [
            link(1, 2), link(2, 1), link(1, 2, 3), link(1, 3), link(1, 2, 0, 0),
            link(1, 2, 0, nil, 0),
            link(1, 2, 0, 0, 0), link(1, 2, 0, 2048), link(1, 2, 0, nil, 2048),
        ]
        #expect(Set(hashes).count == hashes.count)
    }
}

/// A small source of numbers.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    static func key(_ seed: UInt64) -> HashKey {
        var generator = SplitMix(state: seed)
        return HashKey(from: &generator)
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
