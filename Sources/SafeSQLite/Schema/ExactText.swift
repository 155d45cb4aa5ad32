import Glibc

extension StringProtocol {
    /// Whether a text has the bytes of another one, as SQLite compares texts.
    ///
    /// `==` of Swift takes canonically equivalent texts for equal: "é" in one code point and in
    /// two, or "K" and the Kelvin sign.
    /// - Complexity: O(n) in the bytes.
    @inlinable
    package func isExactly(_ other: some StringProtocol) -> Bool {
        // A comparison of two texts would find those equal that Unicode calls equivalent.
        let isEqual = utf8.withContiguousStorageIfAvailable { own in
            other.utf8.withContiguousStorageIfAvailable { own.hasBytes($0) }
        }
        return (isEqual ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}

extension String {
    /// Whether the bytes of a word stand in the text: to Swift, a letter with an accent behind it
    /// is another letter.
    /// - Complexity: O(n · m) in the bytes.
    func hasBytes(of word: String) -> Bool {
        var (text, word) = (self, word)
        return text.withUTF8 { text in
            word.withUTF8 { word in
                guard text.count >= word.count else { return false }
                return (0...text.count - word.count).contains { place in
                    UnsafeBufferPointer(rebasing: text[place..<place + word.count])
                        .hasBytes(word)
                }
            }
        }
    }
}

extension Optional where Wrapped: StringProtocol {
    /// Whether both are nil, or both have the same bytes.
    package func isExactly(_ other: Wrapped?) -> Bool {
        switch (self, other) {
        case (nil, nil): true
        case (let text?, let other?): text.isExactly(other)
        default: false
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether both hold the same bytes.
    @usableFromInline
    package func hasBytes(_ other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard count == other.count else { return false }
        guard let start = baseAddress, let otherStart = other.baseAddress else { return true }
        return memcmp(start, otherStart, count) == 0
    }
}
