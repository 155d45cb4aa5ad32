/// The words of a statement by their bytes, so that two texts can differ in blanks alone.
enum StatementWords {
    /// Splits a statement at its blanks, except at those in quotes and comments.
    ///
    /// - Complexity: O(n) in the bytes.
    static func of(_ sql: String) -> [[UInt8]] {
        var words: [[UInt8]] = []
        var word: [UInt8] = []
        var bytes = sql.utf8.makeIterator()
        var next = bytes.next()
        while let byte = next {
            next = bytes.next()
            if isBlank(byte) {
                if !word.isEmpty { words.append(word) }
                word = []
                continue
            }
            word.append(byte)
            guard let end = ConstraintCheck.end(of: byte, before: next) else { continue }
            var last: UInt8 = 0
            while let inside = next {
                next = bytes.next()
                word.append(inside)
                if inside == end.last, end.count == 1 || last == end.first { break }
                last = inside
            }
        }
        if !word.isEmpty { words.append(word) }
        return words
    }

    /// What SQLite skips between words.
    private static func isBlank(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"), 0x0C:
            true
        default: false
        }
    }
}
