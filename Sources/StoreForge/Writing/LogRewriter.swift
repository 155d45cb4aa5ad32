/// Gives a write-ahead log salts that follow from a seed, in place of SQLite's random ones, and
/// computes its checksums again (SQLite file format, section 4).
struct LogRewriter {
    private var bytes: [UInt8]
    private var first: UInt32 = 0
    private var second: UInt32 = 0
    private let isBigEndian: Bool

    /// - Returns: the log, or nil for bytes that are none or whose frames are not all of one
    ///   transaction's log.
    static func rewrite(_ bytes: [UInt8], salts: UInt64) -> [UInt8]? {
        guard bytes.count >= 32 else { return nil }
        var rewriter = LogRewriter(bytes)
        let pageSize = Int(rewriter.word(8))
        guard rewriter.word(0) & ~1 == 0x377F_0682, (512...65536).contains(pageSize),
            (bytes.count - 32) % (24 + pageSize) == 0
        else { return nil }
        rewriter.run(salts: salts, pageSize: pageSize)
        return rewriter.bytes
    }

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
        isBigEndian = bytes[3] & 1 == 1
    }

    private mutating func run(salts: UInt64, pageSize: Int) {
        let oldSalts = Array(bytes[16..<24])
        putSalts(salts, at: 16)
        checksum(0..<24)
        putChecksum(at: 24)
        var frame = 32
        while frame < bytes.count {
            // What is left of an earlier log ends the frames that count.
            guard Array(bytes[(frame + 8)..<(frame + 16)]) == oldSalts else {
                bytes.removeSubrange(frame...)
                return
            }
            putSalts(salts, at: frame + 8)
            checksum(frame..<(frame + 8))
            checksum((frame + 24)..<(frame + 24 + pageSize))
            putChecksum(at: frame + 16)
            frame += 24 + pageSize
        }
    }

    private func word(_ at: Int) -> UInt32 {
        bytes[at..<(at + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private mutating func put(_ word: UInt32, at place: Int) {
        for byte in 0..<4 {
            bytes[place + byte] = UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * byte))
        }
    }

    private mutating func putSalts(_ salts: UInt64, at place: Int) {
        put(UInt32(truncatingIfNeeded: salts >> 32), at: place)
        put(UInt32(truncatingIfNeeded: salts), at: place + 4)
    }

    private mutating func putChecksum(at place: Int) {
        put(first, at: place)
        put(second, at: place + 4)
    }

    private mutating func checksum(_ range: Range<Int>) {
        for place in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
            first = first &+ (isBigEndian ? word(place) : word(place).byteSwapped) &+ second
            second =
                second &+ (isBigEndian ? word(place + 4) : word(place + 4).byteSwapped) &+ first
        }
    }
}
