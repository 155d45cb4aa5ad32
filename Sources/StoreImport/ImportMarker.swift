import CoreDataStore
import ModelFiles
import SafeSQLite

/// What of an import is done, as the store's own metadata say it.
///
/// It is written in the transaction of each batch, so that it is true after any crash.
struct ImportMarker: Hashable, Sendable {
    /// The part that is imported in part.
    struct Current: Hashable, Sendable {
        let part: Int
        let position: PartPosition
    }

    /// A part of which all lines are imported.
    struct Finished: Hashable, Sendable {
        /// In bytes.
        let size: Int64
        /// The first eight bytes of its SHA-256, in hexadecimal.
        let digest: String

        init(size: Int64, digest: String) {
            self.size = size
            self.digest = String(digest.prefix(ImportMarker.digestDigits))
        }
    }

    /// The keys that the options gave.
    var keys: [String: String]
    /// Finished parts by their numbers.
    private(set) var finished: [Int: Finished] = [:]
    private(set) var current: Current?

    private static let digestDigits = 16

    init(keys: [String: String]) { self.keys = keys }

    /// Whether no line of any part is imported.
    var isUnused: Bool { finished.isEmpty && current == nil }

    /// Whether all of a part is imported.
    func isFinished(_ part: Int) -> Bool { finished[part] != nil }

    /// Where the import of a part resumes; nil for its beginning.
    func position(in part: Int) -> PartPosition? {
        current.flatMap { $0.part == part ? $0.position : nil }
    }

    /// Notes that a part is imported up to a position, or as a whole.
    ///
    /// A part that is imported in part comes before every other one.
    mutating func advance(_ part: Int, to position: PartPosition, isLast: Bool) {
        assert(current == nil || current?.part == part, "another part is imported in part")
        guard isLast else {
            current = Current(part: part, position: position)
            return
        }
        current = nil
        finished[part] = Finished(size: position.offset, digest: position.digest)
    }

    // MARK: - In metadata

    private static let name = ImportTraces.metadataKey
    private static let version: Int64 = 1

    /// Reads the marker of a store.
    ///
    /// - Returns: nil where the store has none.
    /// - Throws: `ImportError.refused` for one that a later version of Godwit wrote.
    init?(_ metadata: StoreMetadata, store: String) throws(ImportError) {
        guard let list = metadata.properties[Self.name] else { return nil }
        guard list["version"]?.integer64 == Self.version, let bytes = list["finished"]?.bytes,
            bytes.count % Self.finishedBytes == 0
        else {
            throw .refused(
                store: store, reason: "another version of Godwit imported parts into it")
        }
        keys = [:]
        for start in stride(from: 0, to: bytes.count, by: Self.finishedBytes) {
            let (number, part) = Self.read(bytes[start..<(start + Self.finishedBytes)])
            finished[number] = part
        }
        for entry in list["keys"]?.entries ?? [] { keys[entry.key] = entry.value.text }
        guard let part = list["part"]?.integer64, let lines = list["lines"]?.integer64,
            let offset = list["bytes"]?.integer64, let digest = list["digest"]?.text
        else { return }
        current = Current(
            part: Int(part),
            position: PartPosition(lines: Int(lines), offset: offset, digest: digest))
    }

    /// The metadata with the marker.
    func written(to metadata: StoreMetadata) -> StoreMetadata {
        var entries: [PropertyList.Entry] = [
            .init("finished", .data(finishedData)),
            .init(
                "keys",
                .dictionary(
                    keys.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) })),
            .init("version", .integer(Int128(Self.version))),
        ]
        if let current {
            entries += [
                .init("bytes", .integer(Int128(current.position.offset))),
                .init("digest", .string(current.position.digest)),
                .init("lines", .integer(Int128(current.position.lines))),
                .init("part", .integer(Int128(current.part))),
            ]
        }
        return StoreMetadata(
            uuid: metadata.uuid,
            properties: metadata.properties.setting(Self.name, to: .dictionary(entries)))
    }

    /// Of one finished part: its number, its size and its digest.
    private static let finishedBytes = 24

    private var finishedData: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(finished.count * Self.finishedBytes)
        for (number, part) in finished.sorted(by: { $0.key < $1.key }) {
            withUnsafeBytes(of: Int64(number).bigEndian) { bytes += $0 }
            withUnsafeBytes(of: part.size.bigEndian) { bytes += $0 }
            let digest = UInt64(part.digest, radix: 16) ?? 0
            withUnsafeBytes(of: digest.bigEndian) { bytes += $0 }
        }
        return bytes
    }

    private static func read(_ bytes: ArraySlice<UInt8>) -> (Int, Finished) {
        let words = stride(from: bytes.startIndex, to: bytes.endIndex, by: 8).map { start in
            bytes[start..<(start + 8)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        let digits = String(words[2], radix: 16)
        let digest = String(repeating: "0", count: digestDigits - digits.count) + digits
        return (
            Int(truncatingIfNeeded: words[0]),
            Finished(size: Int64(bitPattern: words[1]), digest: digest)
        )
    }
}
