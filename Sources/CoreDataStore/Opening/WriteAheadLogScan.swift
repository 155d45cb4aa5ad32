import DurableFiles

/// How far SQLite reads a write-ahead log, and what it leaves unread (SQLite file format,
/// section 4).
///
/// SQLite stops without a word at the first frame whose checksum does not fit. Behind the end
/// of a sound log lie only frames of an earlier one, with other salts, and frames of a
/// transaction that was never finished. A frame with the log's own salts that finishes a
/// transaction there was once valid: something before it is damaged, and its rows would be lost.
struct WriteAheadLogScan {
    /// Frames that SQLite reads, unfinished transactions at their end included.
    private(set) var validFrames: Int64 = 0
    /// Finished transactions behind the frame at which SQLite stops.
    private(set) var lostTransactions: Int64 = 0
    /// Whether the log ends in a transaction that SQLite does not read, because the writer died
    /// while it wrote that, or the file was cut or damaged later: frames without one that finishes
    /// them, or a frame of the log's own that is not whole.
    private(set) var endsInTornFrame = false

    private static let frameHeader = 24
    /// Frame headers without any bits behind the end, after which the rest is taken for a hole: a
    /// log that anybody can make as long as the file system allows.
    private static let mostEmptyFrames = 1 << 16

    /// Reads the whole log, whose first bytes `WriteAheadLog` found to be good.
    ///
    /// - Throws: `DurableFileError` when it cannot be read.
    init(_ file: borrowing OpenFile, length: Int64, pageSize: Int) throws(DurableFileError) {
        let head = try file.read(count: 32, at: 0)
        guard head.count == 32 else { return }
        var sum = Checksum(isBigEndian: head[3] & 1 == 1)
        sum.add(head[0..<24])
        let size = Int64(Self.frameHeader + pageSize)
        var isValid = true
        var emptyFrames = 0
        var finishedFrames: Int64 = 0
        var offset: Int64 = 32
        while offset <= length - size {
            let count = isValid ? Int(size) : Self.frameHeader
            let frame = try file.read(count: count, at: offset)
            guard frame.count == count else { break }
            offset += size
            let isOwn = frame[8..<16] == head[16..<24]
            let finishes = isOwn && frame[4..<8].contains { $0 != 0 }
            if isValid {
                sum.add(frame[0..<8])
                sum.add(frame[24...])
                isValid =
                    isOwn && sum.bytes == Array(frame[16..<24])
                    && frame[0..<4].contains { $0 != 0 }
                if isValid { validFrames += 1 } else { endsInTornFrame = isOwn }
                if isValid, finishes { finishedFrames = validFrames }
            } else if finishes {
                lostTransactions += 1
            }
            emptyFrames = frame[0..<Self.frameHeader].allSatisfy { $0 == 0 } ? emptyFrames + 1 : 0
            guard emptyFrames < Self.mostEmptyFrames else { break }
        }
        if validFrames > finishedFrames { endsInTornFrame = true }
        if isValid, offset <= length - Int64(Self.frameHeader) {
            let rest = try file.read(count: Self.frameHeader, at: offset)
            if rest.count == Self.frameHeader, rest[8..<16] == head[16..<24] {
                endsInTornFrame = true
            }
        }
    }

    /// The checksum that runs through a log.
    private struct Checksum {
        let isBigEndian: Bool
        private var first: UInt32 = 0
        private var second: UInt32 = 0

        init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

        /// Adds a number of bytes that is a multiple of 8.
        mutating func add(_ bytes: ArraySlice<UInt8>) {
            bytes.withUnsafeBytes { raw in
                for place in stride(from: 0, to: raw.count - 7, by: 8) {
                    first = first &+ word(raw, place) &+ second
                    second = second &+ word(raw, place + 4) &+ first
                }
            }
        }

        private func word(_ raw: UnsafeRawBufferPointer, _ place: Int) -> UInt32 {
            let word = raw.loadUnaligned(fromByteOffset: place, as: UInt32.self)
            return isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
        }

        /// As a log holds it.
        var bytes: [UInt8] {
            [first, second].flatMap { word in
                (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * $0)) }
            }
        }
    }
}
