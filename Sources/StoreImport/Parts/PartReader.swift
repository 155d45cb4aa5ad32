import Crypto
import DurableFiles

/// How far a part is imported.
struct PartPosition: Hashable, Sendable {
    /// Lines before it.
    var lines: Int
    /// Bytes before it.
    var offset: Int64
    /// SHA-256 of these bytes, in hexadecimal.
    var digest: String
}

/// Some lines of a part that follow each other.
struct PartLines: Sendable {
    struct Line: Sendable {
        /// Counted from 1.
        let number: Int
        let text: [UInt8]
    }

    /// The number of the first line.
    let firstLine: Int
    /// Those that are not blank.
    let lines: [Line]
    /// Behind the last line.
    let end: PartPosition
    /// Whether the part ends with them.
    let isLast: Bool
}

/// Reads the lines of a part in batches; memory is bounded by a batch and the longest line.
struct PartReader: ~Copyable {
    private let file: OpenFile
    private let path: FilePath
    private var hash = SHA256()
    private var lines = 0
    /// Of the first byte of the buffer that belongs to no line yet.
    private var offset: Int64 = 0
    private var buffer: [UInt8] = []
    /// Bytes of the buffer that lines before have taken.
    private var taken = 0
    private var isAtEnd = false

    /// The longest line, in bytes.
    static let lineLimit = 64 << 20
    private static let pieceBytes = 1 << 20

    /// Opens a part at its beginning.
    ///
    /// - Throws: `ImportError.file`.
    init(_ path: FilePath, _ files: DurableFileSystem) throws(ImportError) {
        file = try Self.open(path, files)
        self.path = path
    }

    private static func open(
        _ path: FilePath, _ files: DurableFileSystem
    ) throws(ImportError) -> OpenFile {
        do throws(DurableFileError) {
            return try files.openForReading(path)
        } catch {
            throw .file(error)
        }
    }

    /// Goes from the beginning to a position.
    ///
    /// - Throws: `ImportError.changedPart` where other bytes come before the position.
    mutating func skip(to position: PartPosition) throws(ImportError) {
        while offset < position.offset {
            let count = min(Int64(Self.pieceBytes), position.offset - offset)
            let piece = try read(count: Int(count), at: offset)
            guard !piece.isEmpty else { break }
            hash.update(data: piece)
            offset += Int64(piece.count)
        }
        lines = position.lines
        guard offset == position.offset, digest == position.digest else {
            throw .changedPart(path: path.description, line: position.lines)
        }
    }

    private var digest: String {
        hash.finalize().map { byte in
            let text = String(byte, radix: 16)
            return byte < 16 ? "0" + text : text
        }.joined()
    }

    /// The next lines.
    ///
    /// - Parameters:
    ///   - count: of lines that are not blank, at most.
    ///   - bytes: after which there are enough.
    /// - Returns: none at the end of the part.
    /// - Throws: `ImportError.line` for a line that is too long, `.file`.
    mutating func next(count: Int, bytes: Int) throws(ImportError) -> PartLines {
        let first = lines + 1
        var found: [PartLines.Line] = []
        var length = 0
        while found.count < count, length < bytes, let line = try nextLine() {
            length += line.count
            guard !Self.isBlank(line) else { continue }
            found.append(PartLines.Line(number: lines, text: line))
        }
        return PartLines(
            firstLine: first, lines: found,
            end: PartPosition(lines: lines, offset: offset, digest: digest),
            isLast: isAtEnd && taken == buffer.count)
    }

    /// The bytes of the next line, without its end; nil behind the last one.
    private mutating func nextLine() throws(ImportError) -> [UInt8]? {
        var searched = taken
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                return take(through: end + 1, upTo: end)
            }
            searched = buffer.count
            if isAtEnd {
                guard taken < buffer.count else { return nil }
                return take(through: buffer.count, upTo: buffer.count)
            }
            guard buffer.count - taken <= Self.lineLimit else {
                throw .line(
                    part: path.description, line: lines + 1,
                    reason: "it has more than \(Self.lineLimit >> 20) MiB", resumesAt: lines + 1)
            }
            searched -= taken
            try fill()
        }
    }

    private mutating func take(through next: Int, upTo end: Int) -> [UInt8] {
        let line = Array(buffer[taken..<end])
        buffer[taken..<next].withUnsafeBytes { hash.update(bufferPointer: $0) }
        offset += Int64(next - taken)
        lines += 1
        taken = next
        return line
    }

    /// Reads more behind what no line has taken, which moves to the front of the buffer.
    private mutating func fill() throws(ImportError) {
        buffer.removeFirst(taken)
        taken = 0
        let piece = try read(count: Self.pieceBytes, at: offset + Int64(buffer.count))
        isAtEnd = piece.count < Self.pieceBytes
        buffer += piece
    }

    private func read(count: Int, at place: Int64) throws(ImportError) -> [UInt8] {
        do throws(DurableFileError) {
            return try file.read(count: count, at: place)
        } catch {
            throw .file(error)
        }
    }

    private static func isBlank(_ line: [UInt8]) -> Bool {
        line.allSatisfy { $0 == UInt8(ascii: " ") || $0 == 9 || $0 == 13 }
    }
}
