/// Texts of a store that are no well-formed UTF-8.
///
/// An evaluation reads them with replacement characters. Where it gives such a text unchanged, the
/// text that was read is meant, byte for byte, as where SQL carries it.
package enum IllFormedText {
    /// The first input that a text was read of.
    ///
    /// - Parameters:
    ///   - text: that an evaluation gives, in UTF-8.
    ///   - inputs: places of inputs.
    ///   - bytes: gives those of an input; nil for what is no text.
    /// - Returns: nil for a text without a replacement character, which needs no input.
    /// - Complexity: O(length of all).
    package static func input<Bytes: Collection<UInt8>>(
        of text: some Sequence<UInt8>, among inputs: Range<Int>, bytes: (Int) -> Bytes?
    ) -> Int? {
        guard hasReplacement(text) else { return nil }
        return inputs.first { input in
            bytes(input).map { String(decoding: $0, as: UTF8.self).utf8.elementsEqual(text) }
                ?? false
        }
    }

    private static func hasReplacement(_ text: some Sequence<UInt8>) -> Bool {
        var last: (UInt8, UInt8) = (0, 0)
        for byte in text {
            if byte == 0xBD, last == (0xEF, 0xBF) { return true }
            last = (last.1, byte)
        }
        return false
    }
}
