import Testing

@testable import ValidationScans

@Suite struct SipHashTests {
    /// From the reference implementation's vectors for 128 bits: the key 00 to 0f, messages of
    /// the bytes from 00 on.
    @Test(arguments: [
        (0, "a3817f04ba25a8e66df67214c7550293"), (1, "da87c1d86b99af44347659119b22fc45"),
        (8, "3b62a9ba6258f5610f83e264f31497b4"), (15, "5493e99933b0a8117e08ec0f97cfc3d9"),
        (63, "5150d1772f50834a503e069a973fbd7c"),
    ])
    func agreesWithTheReference(length: Int, expected: String) {
        let message = (0..<UInt8(length)).map { $0 }
        let hash = message.withUnsafeBytes {
            SipHash.hash($0, key: (0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908))
        }
        let bytes = [hash.0, hash.1].flatMap { word in
            withUnsafeBytes(of: word.littleEndian, Array.init)
        }
        let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        #expect(digits.joined() == expected)
    }

    /// The steps that rows and links take are those of a message of their words.
    @Test func wordsAreAMessageOfBytes() {
        var state = SipHash((3, 5))
        state.add(0x0102_0304_0506_0708)
        let words = state.finish(last: 8 << 56)
        let bytes: [UInt8] = [8, 7, 6, 5, 4, 3, 2, 1]
        #expect(bytes.withUnsafeBytes { SipHash.hash($0, key: (3, 5)) } == words)
    }
}
