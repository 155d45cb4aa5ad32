import ManagedObjectModel
import ModelFiles
import TestSupport
import Testing

@Suite("Binary property lists")
struct BinaryPropertyListTests {
    /// One of every type, with the widths at which their encoding changes.
    private static let everything: PropertyList = .dictionary([
        .init("null", .null), .init("yes", .boolean(true)), .init("no", .boolean(false)),
        .init(
            "integers",
            .array(
                [
                    0, 255, 256, 65_535, 65_536, 4_294_967_295, 4_294_967_296, -1,
                    Int128(Int64.min), Int128(Int64.max), Int128(UInt64.max), .min, .max,
                ].map { .integer($0) })),
        .init("real", .real(0.1)), .init("shortReal", .shortReal(0.1)),
        .init("one", .integer(1)), .init("wholeReal", .real(1)), .init("minusZero", .real(-0.0)),
        .init("zero", .real(0)), .init("date", .date(1)),
        .init("data", .data(Array(0...255))), .init("noData", .data([])),
        .init("ascii", .string("plain")), .init("empty", .string("")),
        .init("fifteen", .string("123456789012345")),
        .init("wide", .string("Größe 😀")), .init("composed", .string("\u{E9}")),
        .init("decomposed", .string("e\u{301}")), .init("broken", .brokenString([0xD800, 65])),
        .init("uids", .array([.uid(0), .uid(256), .uid(65_536), .uid(.max)])),
        .init("set", .set([.integer(1), .array([])])), .init("clé", .dictionary([])),
    ])

    /// A state for each object that a trailer claims would take gigabytes.
    @Test func moreObjectsThanAnyModelHas() {
        var bytes = Array("bplist00".utf8) + [0xD0]
        let count = 2 << 20
        bytes += [8] + [UInt8](repeating: 0, count: count - 1)
        bytes += [0, 0, 0, 0, 0, 0, 1, 4]
        for number in [count, 0, 9] {
            bytes += (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
        }
        #expect(throws: ModelError.self) { try BinaryPropertyList.read(bytes) }
    }

    @Test("Every type comes back as it was, in the same bytes")
    func roundTrip() throws {
        let bytes = BinaryPropertyList.write(Self.everything)
        let read = try BinaryPropertyList.read(bytes)
        #expect(read == Self.everything)
        #expect(BinaryPropertyList.write(read) == bytes)
        #expect(read["minusZero"].map { "\($0)" } != read["zero"].map { "\($0)" })
        #expect(read["composed"]?.text?.utf8.count == 2)
        #expect(read["decomposed"]?.text?.utf8.count == 3)
    }

    @Test("Small documents have the bytes that the format asks for")
    func golden() {
        let bytes = BinaryPropertyList.write(.array([.string("a"), .string("a"), .uid(1)]))
        var expected = Array("bplist00".utf8)
        expected += [0xA3, 1, 1, 2, 0x51, 0x61, 0x80, 1, 8, 12, 14]
        expected += [0, 0, 0, 0, 0, 0, 1, 1]
        expected += [0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16]
        #expect(bytes == expected)
    }

    @Test("A key is replaced in its place, added at the end, or removed")
    func setting() {
        let list = PropertyList.dictionary([.init("a", .integer(1)), .init("b", .null)])
        #expect(
            list.setting("a", to: .boolean(true)).entries
                == [.init("a", .boolean(true)), .init("b", .null)])
        #expect(list.setting("c", to: .null).entries?.map(\.key) == ["a", "b", "c"])
        #expect(list.setting("a", to: nil).entries?.map(\.key) == ["b"])
        #expect(PropertyList.null.setting("a", to: .null) == .null)
    }

    /// A document of objects at known offsets, all references and offsets one byte wide.
    private static func document(_ objects: [[UInt8]]) -> [UInt8] {
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets.append(UInt8(bytes.count))
            bytes += object
        }
        let start = UInt8(bytes.count)
        let zeros = [UInt8](repeating: 0, count: 7)
        return bytes + offsets + [0, 0, 0, 0, 0, 0, 1, 1] + zeros + [UInt8(objects.count)]
            + zeros + [0] + zeros + [start]
    }

    @Test(
        "Documents that contradict themselves are refused",
        arguments: [
            [[0xA1, 0]],  // contains itself
            [[0xA1, 1], [0xA1, 0]],  // a circle of two
            [[0xA1, 9]],  // a reference to nothing
            [[0x5F, 0x10, 200, 65]],  // text beyond the end
            [[0x5F, 0x13, 0x7F, 255, 255, 255, 255, 255, 255, 255]],  // a huge count
            [[0xAF, 0x13, 0x80, 0, 0, 0, 0, 0, 0, 0]],  // a count beyond 63 bits
            [[0x51, 0x80]],  // ASCII that is none
            [[0xD1, 1, 1], [0x10, 5]],  // a number as a key
            [[0xD2, 1, 1, 1, 1], [0x51, 65]],  // a key twice
            [[0x70]], [[0x15]], [[0x01]], [[0x21, 0]], [[0x88, 0, 0, 0, 0, 0, 0, 0, 0, 0]],
        ] as [[[UInt8]]])
    func refused(objects: [[UInt8]]) {
        #expect(throws: ModelError.self) {
            try BinaryPropertyList.read(Self.document(objects))
        }
    }

    @Test("Shared objects are allowed as long as they unfold to little")
    func sharing() throws {
        let shared = Self.document([[0xA2, 1, 1], [0xA2, 2, 2], [0x51, 65]])
        let read = try BinaryPropertyList.read(shared)
        let pair = PropertyList.array([.string("A"), .string("A")])
        #expect(read == .array([pair, pair]))

        // 40 levels, each listing the next one twice: 2^40 leaves from 200 bytes.
        var levels = (1...40).map { [0xA2, UInt8($0), UInt8($0)] }
        levels.append([0x09])
        #expect(throws: ModelError.self) {
            try BinaryPropertyList.read(Self.document(levels))
        }
    }

    @Test("Nesting ends at the limit, also through objects that were seen before")
    func depth() throws {
        func chain(_ depth: Int) -> PropertyList {
            (1..<depth).reduce(PropertyList.integer(1)) { inner, _ in .array([inner]) }
        }
        let limit = BinaryPropertyList.depthLimit
        let deepest = BinaryPropertyList.write(chain(limit))
        #expect(try BinaryPropertyList.read(deepest) == chain(limit))
        #expect(throws: ModelError.self) {
            try BinaryPropertyList.read(BinaryPropertyList.write(chain(limit + 1)))
        }
        // Object 0 lists the end of the chain first, so that its tail is known by then.
        var objects = (0..<200).map { [0xA1, UInt8($0 + 1)] }
        objects[0] = [0xA2, 100, 1]
        objects.append([0x09])
        #expect(throws: ModelError.self) {
            try BinaryPropertyList.read(Self.wide(objects))
        }
    }

    /// Like `document`, with offsets of two bytes.
    private static func wide(_ objects: [[UInt8]]) -> [UInt8] {
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets += [UInt8(bytes.count >> 8), UInt8(bytes.count & 255)]
            bytes += object
        }
        let start = bytes.count
        let zeros = [UInt8](repeating: 0, count: 7)
        return bytes + offsets + [0, 0, 0, 0, 0, 0, 2, 1] + zeros + [UInt8(objects.count)]
            + zeros + [0] + zeros.dropLast() + [UInt8(start >> 8), UInt8(start & 255)]
    }

    @Test("Cut off at any byte, a document is refused")
    func truncation() {
        let bytes = BinaryPropertyList.write(Self.everything)
        for end in bytes.indices {
            #expect(throws: ModelError.self) {
                try BinaryPropertyList.read(Array(bytes[..<end]))
            }
        }
    }

    @Test("What is read from altered bytes can be written and read again", arguments: 1...8)
    func alteration(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let bytes = BinaryPropertyList.write(Self.everything)
        var accepted = 0
        for _ in 0..<2000 {
            var altered = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: altered.indices, using: &random)
                altered[place] = UInt8.random(in: 0...255, using: &random)
            }
            guard let read = try? BinaryPropertyList.read(altered) else { continue }
            accepted += 1
            let written = BinaryPropertyList.write(read)
            #expect(BinaryPropertyList.write(try BinaryPropertyList.read(written)) == written)
        }
        #expect(accepted > 0)
    }

    @Test(
        "The metadata of every store comes back with all values and types",
        .enabled(if: Fixtures.available, Fixtures.absence))
    func metadata() throws {
        let stores = try FixtureArchives.stores()
        #expect(stores.count >= 76)
        for store in stores {
            let read = try BinaryPropertyList.read(store.metadata)
            #expect(read["NSStoreType"] == .string("SQLite"))
            let written = BinaryPropertyList.write(read)
            #expect(try BinaryPropertyList.read(written) == read)
            // Apple's writer numbers objects in another order, and repeats some in one store.
            #expect(written.count <= store.metadata.count, "\(store.name)")
        }
    }
}
