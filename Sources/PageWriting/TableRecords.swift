package import MigrationPlans
import SafeSQLite

/// The records of one table of a file of our own, by ascending rowids.
///
/// The file has no other content than in its main file, and nothing writes it meanwhile. What is
/// damaged all the same ends with an error.
package struct TableRecords {
    /// Where the columns of the current record are; valid while the body runs.
    package struct Row {
        package let rowid: Int64
        /// Serial types by column; NULL for columns that the record has not.
        package let types: UnsafePointer<UInt64>
        /// Where the values of columns begin.
        package let values: UnsafePointer<UnsafePointer<UInt8>?>
    }

    private let file: PageImage
    private let root: UInt32
    /// Columns from the first that are wanted.
    private let columns: Int
    private let window: ReadWindow
    private let overflow: ReadWindow

    /// - Parameters:
    ///   - file: of the table.
    ///   - root: its root page.
    ///   - columns: how many columns, from the first, are wanted.
    package init(_ file: PageImage, root: UInt32, columns: Int) {
        self.file = file
        self.root = root
        self.columns = columns
        window = ReadWindow(file)
        overflow = ReadWindow(file)
    }

    /// Hands all rows to a body, until it returns false.
    ///
    /// - Parameter body: takes a row.
    /// - Returns: whether it had all.
    /// - Throws: `EngineError` for a page that is damaged or cannot be read, and what the body
    ///   throws.
    @discardableResult
    package func forEach(
        _ body: (Row) throws(EngineError) -> Bool
    ) throws(EngineError) -> Bool {
        try forEach(below: root, body)
    }

    /// The inner pages that have leaves below them, in the order of rowids; the root where it is a
    /// leaf.
    ///
    /// - Throws: `EngineError` for a page that is damaged or cannot be read.
    /// - Complexity: one read for each inner page, and for a leaf below it.
    func parts() throws(EngineError) -> [UInt32] {
        var parts: [UInt32] = []
        var left = file.pageCount
        try collect(root, depth: 0, &left, into: &parts)
        return parts
    }

    private func collect(
        _ number: UInt32, depth: Int, _ left: inout UInt32, into parts: inout [UInt32]
    ) throws(EngineError) {
        guard depth < RecordCursor.deepest, left > 0 else { throw file.damaged() }
        left -= 1
        let children = try RecordCursor.children(of: number, try window.page(number), file)
        guard let first = children.first else { return parts.append(number) }
        // All leaves are equally deep.
        let page = try window.page(first)
        guard page[first == 1 ? 100 : 0] == 5 else { return parts.append(number) }
        for child in children { try collect(child, depth: depth + 1, &left, into: &parts) }
    }

    /// Hands the rows below a page to a body, until it returns false.
    ///
    /// - Returns: whether it had all.
    /// - Throws: as for all rows.
    func forEach(
        below page: UInt32, _ body: (Row) throws(EngineError) -> Bool
    ) throws(EngineError) -> Bool {
        let types = UnsafeMutablePointer<UInt64>.allocate(capacity: max(1, columns))
        let values = UnsafeMutablePointer<UnsafePointer<UInt8>?>.allocate(
            capacity: max(1, columns))
        types.initialize(repeating: 0, count: max(1, columns))
        values.initialize(repeating: nil, count: max(1, columns))
        defer {
            types.deallocate()
            values.deallocate()
        }
        let cursor = try RecordCursor(file, below: page, (window, overflow))
        while try cursor.next() {
            // Long values behind the wanted columns are left alone.
            let leaf = cursor.bytesInLeaf
            let start =
                leaf.count == cursor.count || wantedBytes(leaf.start, leaf.count) > leaf.count
                ? try cursor.record() : leaf.start
            guard parse(start, cursor.count, types, values) else { throw file.damaged() }
            guard try body(Row(rowid: cursor.rowid, types: types, values: values)) else {
                return false
            }
        }
        return true
    }

    /// Bytes of a record up to the last wanted column; more than there are where its beginning does
    /// not tell.
    private func wantedBytes(_ record: UnsafePointer<UInt8>, _ count: Int) -> Int {
        var place = 0
        let header = RecordBytes.varint(record, &place)
        guard header <= UInt64(count) else { return .max }
        var end = Int(header)
        for _ in 0..<columns where place < Int(header) {
            let type = RecordBytes.varint(record, &place)
            guard let size = RecordBytes.size(ofType: type), size <= Int(Int32.max) else {
                return .max
            }
            end += size
        }
        return end
    }

    private func parse(
        _ record: UnsafePointer<UInt8>, _ count: Int, _ types: UnsafeMutablePointer<UInt64>,
        _ values: UnsafeMutablePointer<UnsafePointer<UInt8>?>
    ) -> Bool {
        var place = 0
        let header = RecordBytes.varint(record, &place)
        guard header <= UInt64(count) else { return false }
        var content = Int(header)
        var column = 0
        while column < columns, place < Int(header) {
            let type = RecordBytes.varint(record, &place)
            guard let size = RecordBytes.size(ofType: type), size <= count - content else {
                return false
            }
            // SQLite reads what is no number as NULL.
            let isNull = type == 7 && RecordBytes.real(record + content).isNaN
            types[column] = isNull ? 0 : type
            values[column] = record + content
            content += size
            column += 1
        }
        while column < columns {
            types[column] = 0
            values[column] = record
            column += 1
        }
        return place <= Int(header)
    }
}
