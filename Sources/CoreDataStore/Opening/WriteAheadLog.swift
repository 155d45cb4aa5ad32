/// What a `-wal` file says of itself (SQLite file format, section 4).
package enum WriteAheadLog {
    /// What lies beside a database.
    package enum State: Hashable, Sendable {
        /// No file, an empty one, or a header without frames.
        case empty
        /// Frames that belong to the header; the data are part of the store.
        case hasFrames
        /// A file that cannot belong to the database; the text says why.
        case foreign(String)
    }

    /// Bytes to read from the start of the file: its header and the first frame's header.
    package static let prefixLength = 56

    /// Judges a log by its first bytes.
    ///
    /// SQLite silently ignores a log whose header or first frame does not fit, which reads an
    /// older state of the store without a word: such a log is called foreign here.
    ///
    /// - Parameters:
    ///   - prefix: up to 56 bytes from the start.
    ///   - length: of the whole file, in bytes.
    ///   - pageSize: of the database.
    /// - Returns: `.hasFrames` once the first frame's salts fit the header; the frames'
    ///   checksums are not read.
    package static func judge(prefix: [UInt8], length: Int64, pageSize: Int) -> State {
        guard length > 0 else { return .empty }
        guard length >= 32, prefix.count >= 32 else {
            return .foreign("the -wal file is shorter than its header")
        }
        let word = { (at: Int, bigEndian: Bool) -> UInt32 in
            let bytes = prefix[at..<(at + 4)]
            return bigEndian
                ? bytes.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                : bytes.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        let magic = word(0, true)
        guard magic == 0x377F_0682 || magic == 0x377F_0683 else {
            return .foreign("the -wal file has no write-ahead log header")
        }
        guard word(4, true) == 3_007_000 else {
            return .foreign("the -wal file has an unknown version")
        }
        guard Int(word(8, true)) == pageSize else {
            return .foreign("the -wal file has another page size than the database")
        }
        var first: UInt32 = 0
        var second: UInt32 = 0
        for pair in 0..<3 {
            first = first &+ word(pair * 8, magic == 0x377F_0683) &+ second
            second = second &+ word(pair * 8 + 4, magic == 0x377F_0683) &+ first
        }
        guard word(24, true) == first, word(28, true) == second else {
            return .foreign("the -wal file's header does not match its checksum")
        }
        guard length >= 56, prefix.count >= 56 else { return .empty }
        guard word(40, true) == word(16, true), word(44, true) == word(20, true) else {
            return .foreign("the salts of the -wal file's frames do not fit its header")
        }
        return .hasFrames
    }
}
