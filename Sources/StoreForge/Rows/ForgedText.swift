/// Texts made of words: most of plain ones, some of pieces that software gets wrong.
enum ForgedText {
    private static let words = split(
        "amber birch cedar delta ember fjord grove harbor indigo juniper kestrel lagoon meadow "
            + "nectar orchid pebble quartz river saffron timber umber velvet willow xenon yarrow "
            + "zephyr anchor basalt copper dune estuary flint")

    /// Quotes, combining marks, right-to-left text, surrogate pairs, joined emoji, controls.
    private static let pieces: [[UInt8]] = [
        "'", "\"", "''", "%s", "\\", "\n", "\t", "\r\n", "\u{1}", "\u{7F}", "\u{80}", "é",
        "e\u{301}",
        "ß", "İ", "ı", "Ǆ", "中文", "日本語", "한국어", "עברית", "العربية", "\u{202E}", "\u{FEFF}",
        "\u{FFFD}", "\u{FFFF}", "😀", "👩‍👩‍👧‍👦", "🇩🇪", "\u{10FFFF}", "NULL", "; --",
    ].map { Array($0.utf8) }

    private static func split(_ text: String) -> [[UInt8]] {
        text.split(separator: " ").map { Array($0.utf8) }
    }

    /// Appends a text of a length in bytes.
    static func append(_ length: Int, hash: UInt64, to bytes: inout [UInt8]) {
        let end = bytes.count + length
        let isOdd = hash >> 56 & 7 == 0
        var state = hash
        while bytes.count < end {
            if state < 32 { state = ForgeHash.mix(hash ^ UInt64(bytes.count)) }
            let piece = isOdd ? pieces[Int(state & 31)] : words[Int(state & 31)]
            state >>= 5
            if bytes.count + piece.count < end {
                bytes.append(contentsOf: piece)
                bytes.append(UInt8(ascii: " "))
            } else if isOdd {
                bytes.append(UInt8(ascii: "."))
            } else {
                bytes.append(contentsOf: piece.prefix(end - bytes.count))
            }
        }
    }
}
