import SafeSQLite

/// What is wanted of the records of a tree.
package struct RecordShape: Hashable, Sendable {
    /// Columns that are stored.
    package let fields: Int
    /// The column that is another name of the rowid, nil where there is none (file format §2.3).
    package let keyField: Int?
    /// Columns of REAL affinity, in which SQLite stores whole numbers as integers.
    package let reals: Set<Int>
    /// Columns whose values are wanted, in the order of the cells that they give.
    ///
    /// `key` stands for the rowid.
    package let values: [Int]
    /// Columns that are tested for null, in the order of the cells behind those of the values: 1
    /// where there is a value, else 0.
    package let tests: [Int]

    /// What stands for the rowid among the values.
    package static let key = -1

    /// - Parameters:
    ///   - fields: columns that are stored.
    ///   - keyField: the column that is another name of the rowid.
    ///   - reals: columns of REAL affinity.
    ///   - values: columns whose values are wanted.
    ///   - tests: columns that are tested for null.
    package init(
        fields: Int, keyField: Int?, reals: Set<Int>, values: [Int], tests: [Int] = []
    ) {
        self.fields = fields
        self.keyField = keyField
        self.reals = reals
        self.values = values
        self.tests = tests
    }
}

/// Takes records apart (file format §2.1), as many of their columns as are wanted.
final class RecordDecoder {
    /// What becomes of one column.
    private struct Column {
        /// The cell of its value; −1 where it is not wanted.
        var value: Int32 = -1
        var test: Int32 = -1
        var isReal = false
    }

    /// The cells of the record that was read last.
    let cells: UnsafeMutablePointer<PageCell>
    private let cellCount: Int
    private let columns: UnsafeMutablePointer<Column>
    /// Columns up to the last that is wanted.
    private let wanted: Int
    /// Columns up to the last whose value is wanted.
    private let valued: Int
    private let keyCells: [Int]
    private let file: PageFile
    private let overflow: PageWindow
    private var payload = PageBytes(0)
    /// Bytes of records that were brought together so far.
    private var gathered: Int64 = 0

    /// - Returns: nil for columns that are named twice, or that the tree has not.
    init?(_ shape: RecordShape, _ file: PageFile) {
        let columns = [Column](repeating: Column(), count: shape.fields)
        var filled = columns
        var keyCells: [Int] = []
        for (cell, column) in shape.values.enumerated() {
            if column == RecordShape.key || column == shape.keyField {
                keyCells.append(cell)
                continue
            }
            guard filled.indices.contains(column), filled[column].value < 0 else { return nil }
            filled[column].value = Int32(cell)
            filled[column].isReal = shape.reals.contains(column)
        }
        for (place, column) in shape.tests.enumerated() {
            guard filled.indices.contains(column), filled[column].test < 0,
                column != shape.keyField
            else { return nil }
            filled[column].test = Int32(shape.values.count + place)
        }
        cellCount = shape.values.count + shape.tests.count
        wanted = (filled.lastIndex { $0.value >= 0 || $0.test >= 0 } ?? -1) + 1
        valued = (filled.lastIndex { $0.value >= 0 } ?? -1) + 1
        self.columns = .allocate(capacity: max(1, filled.count))
        self.columns.initialize(from: filled, count: filled.count)
        cells = .allocate(capacity: max(1, cellCount))
        cells.initialize(repeating: PageCell(), count: max(1, cellCount))
        self.keyCells = keyCells
        self.file = file
        overflow = PageWindow(file)
    }

    deinit {
        columns.deallocate()
        cells.deallocate()
    }

    /// Takes the record of a table's leaf cell apart.
    ///
    /// - Parameters:
    ///   - page: of the cell.
    ///   - place: of the record in its page.
    ///   - count: bytes of the record.
    ///   - local: bytes of it in the page.
    ///   - rowid: of the row.
    /// - Returns: whether it is a record.
    /// - Throws: `StoreError` where its overflow pages cannot be read.
    @inline(__always)
    func row(
        _ page: UnsafePointer<UInt8>, _ place: Int, count: Int, local: Int, rowid: Int64
    ) throws(StoreError) -> Bool {
        for cell in keyCells {
            cells[cell].storageClass = 1
            cells[cell].word = UInt64(bitPattern: rowid)
        }
        return try record(page, place, count: count, local: local) != nil
    }

    /// Takes a record apart.
    ///
    /// - Returns: the columns that were read; nil where it is no record.
    @inline(__always)
    func record(
        _ page: UnsafePointer<UInt8>, _ place: Int, count: Int, local: Int
    ) throws(StoreError) -> Int? {
        if local == count { return fields(page + place, count: count, available: count) }
        // What is wanted may all be in the page.
        if let found = fields(page + place, count: count, available: local) { return found }
        guard try gather(page, place, count: count, local: local) else { return nil }
        return fields(UnsafePointer(payload.start), count: count, available: count)
    }

    /// Reads the wanted columns of a record of which some bytes are there.
    ///
    /// - Returns: the columns that were read; nil where it is no record, or more bytes are needed.
    @inline(__always)
    private func fields(
        _ start: UnsafePointer<UInt8>, count: Int, available: Int
    ) -> Int? {
        var place = 0
        let header = Varint.read(start, &place)
        guard header >= place, header <= available else { return nil }
        var content = header
        var column = 0
        let (columns, cells, wanted, valued) = (columns, cells, wanted, valued)
        while place < header, column < wanted {
            let type = Varint.read(start, &place)
            let size = Self.size(of: type)
            guard size >= 0, size <= count - content else { return nil }
            let known = columns[column]
            if known.value >= 0 {
                guard content + size <= available else { return nil }
                Self.store(type, start + content, size, known.isReal, &cells[Int(known.value)])
            }
            if known.test >= 0 {
                // What is no number is NULL to SQLite (file format §2.1).
                guard type != 7 || content + size <= available else { return nil }
                let isNull =
                    type == 0 || type == 10 || type == 11
                    || (type == 7 && Double(bitPattern: Self.long(start + content)).isNaN)
                cells[Int(known.test)].storageClass = 1
                cells[Int(known.test)].word = isNull ? 0 : 1
            }
            content += size
            column += 1
        }
        guard place <= header else { return nil }
        // A record may have fewer columns than its table: the others are NULL.
        var missing = column
        while missing < max(wanted, valued) {
            if columns[missing].value >= 0 {
                cells[Int(columns[missing].value)] = PageCell()
            }
            if columns[missing].test >= 0 {
                cells[Int(columns[missing].test)].storageClass = 1
                cells[Int(columns[missing].test)].word = 0
            }
            missing += 1
        }
        return column
    }

    /// The bytes of a value of a serial type; −1 for no type.
    ///
    /// SQLite reads the types 10 and 11, which no file has, as NULL.
    @inline(__always)
    private static func size(of type: Int) -> Int {
        if type >= 12 { return (type - 12) >> 1 }
        switch type {
        case 0, 8...11: return 0
        case 1...4: return type
        case 5: return 6
        case 6, 7: return 8
        default: return -1
        }
    }

    @inline(__always)
    private static func store(
        _ type: Int, _ bytes: UnsafePointer<UInt8>, _ size: Int, _ isReal: Bool,
        _ cell: inout PageCell
    ) {
        switch type {
        case 0, 10, 11: cell = PageCell()
        case 1...6:
            let value = Int64(bitPattern: long(bytes)) >> Int64(64 - 8 * size)
            Self.store(value, isReal, &cell)
        case 7:
            let word = long(bytes)
            // SQLite reads what is no number as NULL (file format §2.1).
            let isNumber = !Double(bitPattern: word).isNaN
            cell.storageClass = isNumber ? 2 : 5
            cell.word = isNumber ? word : 0
        case 8, 9: Self.store(Int64(type - 8), isReal, &cell)
        default:
            cell.storageClass = type & 1 == 1 ? 3 : 4
            cell.count = size
            cell.word = UInt64(UInt(bitPattern: bytes))
        }
    }

    /// Eight bytes, of which those behind the value do not count; there are as many.
    @inline(__always)
    private static func long(_ bytes: UnsafePointer<UInt8>) -> UInt64 {
        UnsafeRawPointer(bytes).loadUnaligned(as: UInt64.self).bigEndian
    }

    @inline(__always)
    private static func store(_ value: Int64, _ isReal: Bool, _ cell: inout PageCell) {
        cell.storageClass = isReal ? 2 : 1
        cell.word = isReal ? Double(value).bitPattern : UInt64(bitPattern: value)
    }

    /// Brings the bytes of a record together that lie in overflow pages (file format §1.6).
    ///
    /// - Returns: whether the chain has as many bytes as the record.
    private func gather(
        _ page: UnsafePointer<UInt8>, _ place: Int, count: Int, local: Int
    ) throws(StoreError) -> Bool {
        // No chain is longer than the file, so that no number in a page makes memory grow beyond.
        // Nor have all records together more bytes than it.
        gathered += Int64(count)
        guard gathered <= file.pageCount * Int64(file.pageSize) else { return false }
        if payload.count < count { payload = PageBytes(count + count / 8) }
        let start = payload.start
        start.update(from: page + place, count: local)
        var next = Int64(Varint.word(page + place + local))
        var filled = local
        while filled < count {
            guard next > 0, next <= file.pageCount else { return false }
            if filled & 0xFF_FFFF < file.usable { try overflow.checkStop() }
            let more = try overflow.page(next)
            let size = min(count - filled, file.usable - 4)
            (start + filled).update(from: more + 4, count: size)
            filled += size
            next = Int64(Varint.word(more))
        }
        // An earlier record may have been longer.
        (start + filled).update(repeating: 0, count: PageWindow.padding)
        return true
    }
}

/// Numbers in pages.
enum Varint {
    /// A number of one to nine bytes (file format §1.6, "varint"), negative beyond `Int`.
    ///
    /// There are nine bytes behind the place.
    @inline(__always)
    static func read(_ bytes: UnsafePointer<UInt8>, _ place: inout Int) -> Int {
        let first = bytes[place]
        if first < 0x80 {
            place += 1
            return Int(first)
        }
        let second = bytes[place + 1]
        if second < 0x80 {
            place += 2
            return Int(first & 0x7F) << 7 | Int(second)
        }
        return long(bytes, &place)
    }

    /// The number of bytes of a record, negative for a number that SQLite never writes there.
    ///
    /// Of a record's length SQLite reads seven bits of a ninth byte, and 32 bits in all
    /// (`btreeParseCellPtr`): what has more than five bytes has two meanings.
    @inline(__always)
    static func length(_ bytes: UnsafePointer<UInt8>, _ place: inout Int) -> Int {
        let start = place
        let count = read(bytes, &place)
        return place - start <= 5 ? count : -1
    }

    private static func long(_ bytes: UnsafePointer<UInt8>, _ place: inout Int) -> Int {
        var value = 0
        for _ in 0..<8 {
            let byte = bytes[place]
            place += 1
            value = value << 7 | Int(byte & 0x7F)
            if byte < 0x80 { return value }
        }
        value = value << 8 | Int(bytes[place])
        place += 1
        return value
    }

    /// A number of two bytes.
    @inline(__always)
    static func short(_ bytes: UnsafePointer<UInt8>) -> Int { Int(bytes[0]) << 8 | Int(bytes[1]) }

    /// A number of four bytes.
    @inline(__always)
    static func word(_ bytes: UnsafePointer<UInt8>) -> Int {
        short(bytes) << 16 | short(bytes + 2)
    }
}
