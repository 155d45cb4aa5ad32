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

    /// The keys that the options gave.
    var keys: [String: String]
    /// Numbers of finished parts: ranges in order that do not touch.
    private(set) var finished: [ClosedRange<Int>] = []
    private(set) var current: Current?

    init(keys: [String: String]) { self.keys = keys }

    /// Whether no line of any part is imported.
    var isUnused: Bool { finished.isEmpty && current == nil }

    /// Whether all of a part is imported.
    func isFinished(_ part: Int) -> Bool { finished.contains { $0.contains(part) } }

    /// Where the import of a part resumes; nil for its beginning.
    func position(in part: Int) -> PartPosition? {
        current.flatMap { $0.part == part ? $0.position : nil }
    }

    /// Notes that a part is imported up to a position, or as a whole.
    mutating func advance(_ part: Int, to position: PartPosition, isLast: Bool) {
        guard isLast else {
            current = Current(part: part, position: position)
            return
        }
        current = nil
        let below = finished.filter { $0.upperBound < part }
        let above = finished.filter { $0.lowerBound > part }
        var joined = part...part
        var left = below
        var right = above
        if let last = below.last, last.upperBound == part - 1 {
            joined = last.lowerBound...part
            left.removeLast()
        }
        if let first = above.first, first.lowerBound == part + 1 {
            joined = joined.lowerBound...first.upperBound
            right.removeFirst()
        }
        finished = left + [joined] + right
    }

    // MARK: - In metadata

    private static let name = "GodwitImport"
    private static let version: Int64 = 1

    /// Reads the marker of a store.
    ///
    /// - Returns: nil where the store has none.
    /// - Throws: `ImportError.refused` for one that a later version of Godwit wrote.
    init?(_ metadata: StoreMetadata, store: String) throws(ImportError) {
        guard let list = metadata.properties[Self.name] else { return nil }
        guard list["version"]?.integer64 == Self.version, let text = list["finished"]?.text,
            let finished = Self.ranges(text)
        else {
            throw .refused(
                store: store, reason: "another version of Godwit imported parts into it")
        }
        self.finished = finished
        keys = [:]
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
            .init("finished", .string(text)),
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

    /// `1-12,14`.
    private var text: String {
        finished.map { range in
            range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound)"
        }.joined(separator: ",")
    }

    private static func ranges(_ text: String) -> [ClosedRange<Int>]? {
        var ranges: [ClosedRange<Int>] = []
        for part in text.split(separator: ",") {
            let ends = part.split(separator: "-").map { Int($0) }
            guard (1...2).contains(ends.count), let first = ends[0],
                let last = ends[ends.count - 1],
                first <= last, first > ranges.last?.upperBound ?? -1
            else { return nil }
            ranges.append(first...last)
        }
        return ranges
    }
}
