import ManagedObjectModel
import ModelFiles
import TestSupport
import Testing

@Suite("Raw DEFLATE")
struct DeflateTests {
    @Test("Bytes come back, whatever their number", arguments: [0, 1, 65_535, 65_536, 1_000_000])
    func roundTrip(count: Int) throws {
        var random = SeededGenerator(seed: UInt64(count))
        let bytes = (0..<count).map { _ in UInt8.random(in: 0...15, using: &random) }
        #expect(try Deflate.inflate(Deflate.compress(bytes)) == bytes)
    }

    @Test("A stream of one stored block needs no zlib header")
    func golden() throws {
        #expect(try Deflate.inflate([1, 2, 0, 0xFD, 0xFF, 72, 105]) == Array("Hi".utf8))
        #expect(try Deflate.inflate([3, 0]) == [])
    }

    @Test("Cut off or broken streams are refused")
    func broken() throws {
        let compressed = try Deflate.compress(Array("a text, a text, another text".utf8))
        for end in compressed.indices {
            #expect(throws: ModelError.self) {
                try Deflate.inflate(Array(compressed[..<end]))
            }
        }
        #expect(throws: ModelError.self) { try Deflate.inflate([0xFF, 0xFF]) }
    }

    @Test("Output beyond the limit is refused, output at the limit is not")
    func limit() throws {
        let bytes = [UInt8](repeating: 7, count: 300_000)
        let compressed = try Deflate.compress(bytes)
        #expect(try Deflate.inflate(compressed, limit: bytes.count) == bytes)
        #expect(throws: ModelError.self) {
            try Deflate.inflate(compressed, limit: bytes.count - 1)
        }
    }
}
