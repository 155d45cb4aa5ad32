import MappingExpressions
import Testing

/// Texts of stores, as strings and back.
@Suite struct StoredTextTests {
    @Test(
        arguments: [
            [], [0x61], [0x61, 0x00, 0x62], [0xFF], [0xFE, 0x61], [0x61, 0xC3], [0xC3, 0xA9],
            [0xEF, 0xBF, 0xBD], [0xED, 0xA0, 0x80], [0xF0, 0x9F, 0x98, 0x80],
            [0xF4, 0x8F, 0xBF, 0xBF],
            [0xEF, 0x9E, 0x80, 0xFF], [0xEF, 0x9F, 0xBF], [0xEF, 0xA0, 0x80],
            [0xF5, 0x80, 0x80, 0x80],
            [0xE2, 0x82], [0xC0, 0xAF], [0xF4, 0x90, 0x80, 0x80], [0x65, 0xCC, 0x81, 0x80],
        ] as [[UInt8]])
    func sameBytesComeBack(bytes: [UInt8]) {
        #expect(StoredText.bytes(StoredText.string(bytes)) == bytes)
    }

    @Test func randomBytesComeBack() {
        var random = SystemRandomNumberGenerator()
        let parts: [[UInt8]] = [
            [0x61], [0xC3, 0xA9], [0xFF], [0x80], [0xEF, 0x9E, 0x80], [0xEF], [0x9F], [0xE2, 0x82],
            [0x00], [0xF0, 0x9F, 0x98, 0x80], [0xCC, 0x81],
        ]
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0..<8, using: &random)).flatMap { _ in
                parts.randomElement(using: &random) ?? []
            }
            #expect(StoredText.bytes(StoredText.string(bytes)) == bytes, "\(bytes)")
        }
    }

    @Test func wellFormedTextsStayWhatTheyAre() {
        for text in ["", "a", "é", "😀", "a\u{FFFD}b", "\u{10FFFF}", "\u{F700}", "\u{F800}"] {
            #expect(StoredText.string(Array(text.utf8)) == text)
            #expect(StoredText.bytes(text) == Array(text.utf8))
        }
    }

    @Test func differentBytesAreDifferentStrings() {
        let texts: [[UInt8]] = [[0xFF], [0xFE], [0xEF, 0xBF, 0xBD], [0xEF, 0x9F, 0xBF]]
        #expect(Set(texts.map { StoredText.string($0) }).count == texts.count)
    }

    /// A constant that looks like a byte is compared with texts of stores as it is.
    @Test func constantsAreReadAlike() {
        let constant = "a\u{F780}"
        #expect(StoredText.string(constant) == StoredText.string(Array(constant.utf8)))
        #expect(StoredText.bytes(StoredText.string(constant)) == Array(constant.utf8))
    }
}
