/// What happened in a simulation, as a hash and, where asked for, as lines of text.
///
/// The hash is FNV-1a of 64 bits over words and the bytes of texts: nothing of it depends on the
/// process, which Swift's own hashes do.
package struct SimulationTrace: Sendable {
    package private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    /// Empty where lines are not kept.
    package private(set) var lines: [String] = []
    package let keepsLines: Bool
    /// Lines that were written, kept or not.
    package private(set) var count = 0

    package init(keepsLines: Bool) { self.keepsLines = keepsLines }

    /// Adds what happened at a time; `line` must be made of values that are equal in every run.
    mutating func note(_ time: Int64, _ line: String) {
        fold(UInt64(bitPattern: time))
        fold(line)
        count += 1
        if keepsLines { lines.append("\(time) \(line)") }
    }

    /// Adds a word to the hash alone.
    package mutating func fold(_ word: UInt64) {
        hash = (hash ^ word) &* 0x0000_0100_0000_01B3
        hash ^= hash >> 32
    }

    /// Adds a text to the hash alone.
    mutating func fold(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            var word: UInt64 = 0
            var place = 0
            for byte in bytes {
                word = word << 8 | UInt64(byte)
                place += 1
                if place == 8 {
                    fold(word)
                    word = 0
                    place = 0
                }
            }
            fold(word ^ UInt64(bytes.count) << 56)
        }
    }
}
