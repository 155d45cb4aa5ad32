import CoreDataStore
import DurableFiles
import SafeSQLite

/// A text or binary value of a source that is attached as `src`, read piece by piece from its row
/// or from its file of external data.
final class SourceBytes {
    private let pieces: ValuePieces
    /// The bytes before the value that tell where it lies.
    private let prefix: Int64
    /// Holds the value where the row holds a reference to it.
    private let file: OpenFile?

    /// Opens the value; nil where there is none.
    ///
    /// - Parameters:
    ///   - column: of the value.
    ///   - table: of the source.
    ///   - key: of the row.
    ///   - connection: with the source attached.
    ///   - support: the folder of the source's external data.
    /// - Throws: `StoreError` or `DurableFileError` for what cannot be read.
    init?(
        _ column: ColumnLayout, of table: String, key: Int64, _ connection: Connection,
        support: FilePath?
    ) throws {
        let found = try ValuePieces(
            connection, schema: "src", table: table, column: column.name, key: key)
        guard let found else { return nil }
        var reference = ExternalReference.malformed
        if column.isExternal, !found.isText {
            let start = try found.bytes(
                from: 0, count: Int64(ExternalReference.referenceLength + 1))
            reference = start.withUnsafeBytes { ExternalReference($0) }
        }
        pieces = found
        prefix = reference == .inline ? 1 : 0
        // What only looks like a reference is a value of its own.
        guard case .file(let name) = reference else {
            file = nil
            return
        }
        guard let support else {
            throw PolicyFailure("a reference to external data cannot be read")
        }
        file = try DurableFileSystem().openForReading(support.appending(name))
    }

    /// A piece; fewer bytes at the end of the value.
    ///
    /// `offset`, `count`: not below 0.
    func bytes(from offset: Int64, count: Int64) throws -> [UInt8] {
        if file != nil {
            let size = try file?.status().size ?? 0
            let length = min(count, max(0, size - offset))
            return try file?.read(count: Int(clamping: length), at: offset) ?? []
        }
        let (start, isBeyond) = offset.addingReportingOverflow(prefix)
        return isBeyond ? [] : try pieces.bytes(from: start, count: count)
    }
}
