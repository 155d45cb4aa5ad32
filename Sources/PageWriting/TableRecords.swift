import DurableFiles
import MigrationPlans
import SafeSQLite

/// The records of one table of a file of our own, by ascending rowids.
///
/// The file has no other content than in its main file, and nothing writes it meanwhile. What is
/// damaged all the same ends with an error.
struct TableRecords {
    /// Where the columns of the current record are; valid while the body runs.
    struct Row {
        let rowid: Int64
        /// Serial types by column; NULL for columns that the record has not.
        let types: UnsafePointer<UInt64>
        /// Where the values of columns begin.
        let values: UnsafePointer<UnsafePointer<UInt8>?>
    }

    private let file: PageImage
    private let root: UInt32
    /// Columns from the first that are wanted.
    private let columns: Int
    private let window: ReadWindow
    private let overflow: ReadWindow

    private static let deepest = 40

    /// - Parameters:
    ///   - file: of the table.
    ///   - root: its root page.
    ///   - columns: how many columns, from the first, are wanted.
    init(_ file: PageImage, root: UInt32, columns: Int) {
        self.file = file
        self.root = root
        self.columns = columns
        window = ReadWindow(file)
        overflow = ReadWindow(file)
    }

    /// Hands all rows to a body, until it returns false.
    ///
    /// - Returns: whether it had all.
    /// - Throws: `EngineError` for a page that is damaged or cannot be read, and what the body
    ///   throws.
    @discardableResult
    func forEach(
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
        guard depth < Self.deepest, left > 0 else { throw file.damaged() }
        left -= 1
        let children = try children(of: number, try window.page(number))
        guard let first = children.first else { return parts.append(number) }
        // All leaves are equally deep.
        let page = try window.page(first)
        guard page[first == 1 ? 100 : 0] == 5 else { return parts.append(number) }
        for child in children { try collect(child, depth: depth + 1, &left, into: &parts) }
    }

    /// The children of an inner page; none for a leaf.
    private func children(
        of number: UInt32, _ page: UnsafePointer<UInt8>
    ) throws(EngineError) -> [UInt32] {
        let start = number == 1 ? 100 : 0
        guard page[start] == 5 else { return [] }
        let cells = Int(RecordBytes.number(page + start + 3, 2))
        let first = start + 12
        guard first + 2 * cells <= file.usable else { throw file.damaged() }
        var children: [UInt32] = []
        children.reserveCapacity(cells + 1)
        for cell in 0..<cells {
            let place = Int(RecordBytes.number(page + first + 2 * cell, 2))
            guard place >= first, place + 4 <= file.usable else { throw file.damaged() }
            children.append(RecordBytes.number(page + place, 4))
        }
        children.append(RecordBytes.number(page + start + 8, 4))
        return children
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
        let gathered = GrowingBytes()
        // An overflow page belongs to one record.
        var overflowing = Int(file.pageCount) * file.pageSize
        var left = file.pageCount
        return try visit(page, depth: 0, &left) {
            (record, count, local, rowid) throws(EngineError) in
            var start = record
            if local < count {
                overflowing -= count - local
                guard overflowing >= 0 else { throw file.damaged() }
                try gather(record, count, local, into: gathered)
                start = UnsafePointer(gathered.start)
            }
            guard parse(start, count, types, values) else { throw file.damaged() }
            return try body(Row(rowid: rowid, types: types, values: values))
        }
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

    private func visit(
        _ number: UInt32, depth: Int, _ left: inout UInt32,
        _ body: (UnsafePointer<UInt8>, Int, Int, Int64) throws(EngineError) -> Bool
    ) throws(EngineError) -> Bool {
        guard depth < Self.deepest, left > 0 else { throw file.damaged() }
        left -= 1
        let page = try window.page(number)
        let start = number == 1 ? 100 : 0
        let cells = Int(RecordBytes.number(page + start + 3, 2))
        let first = start + (page[start] == 13 ? 8 : 12)
        guard first + 2 * cells <= file.usable else { throw file.damaged() }
        switch page[start] {
        case 13:
            // What several cells have in common would become many times as much.
            var room = file.usable
            for cell in 0..<cells {
                var place = Int(RecordBytes.number(page + first + 2 * cell, 2))
                guard place >= first, place + 4 <= file.usable else { throw file.damaged() }
                let count = RecordBytes.varint(page, &place)
                let rowid = Int64(bitPattern: RecordBytes.varint(page, &place))
                guard count > 0, count <= UInt64(Int32.max) else { throw file.damaged() }
                let local = file.format.local(Int(count), most: file.format.mostOfLeaf)
                room -= local
                guard place + local + (local < Int(count) ? 4 : 0) <= file.usable, room >= 0 else {
                    throw file.damaged()
                }
                guard try body(page + place, Int(count), local, rowid) else { return false }
            }
        case 5:
            for child in try children(of: number, page) {
                guard try visit(child, depth: depth + 1, &left, body) else { return false }
            }
        default: throw file.damaged()
        }
        return true
    }

    private func gather(
        _ record: UnsafePointer<UInt8>, _ count: Int, _ local: Int, into bytes: GrowingBytes
    ) throws(EngineError) {
        guard count <= Int(file.pageCount) * file.pageSize else { throw file.damaged() }
        bytes.removeAll()
        bytes.append(record, local)
        var next = RecordBytes.number(record + local, 4)
        while bytes.count < count {
            let page = try overflow.page(next)
            bytes.append(page + 4, min(count - bytes.count, file.usable - 4))
            next = RecordBytes.number(page, 4)
        }
    }
}
