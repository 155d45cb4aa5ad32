import GRDBSQLite
package import SafeSQLite
import StorePages

/// The current row of a statement on SQLite's own handle, or of a cursor over pages: what the loops
/// over cells use.
///
/// A cell is fetched once and then asked; calls of `Statement` from another module would cost as
/// much as the hash. The statement or the cursor must outlive the row.
package struct RawRow {
    private let statement: OpaquePointer?
    private let cells: UnsafeMutablePointer<PageCell>?

    package init(_ statement: Statement) {
        self.statement = statement.pointer
        cells = nil
    }

    init(_ cells: UnsafeMutablePointer<PageCell>) {
        statement = nil
        self.cells = cells
    }

    /// One cell.
    ///
    /// Connections are used by one thread at a time, so that the value needs no
    /// protection.
    @inline(__always)
    func cell(_ column: Int) -> RawCell {
        if let cells { return RawCell(pointer: nil, cell: cells[column]) }
        let column = Int32(truncatingIfNeeded: column)
        return RawCell(pointer: sqlite3_column_value(statement, column), cell: PageCell())
    }

    /// The integer of a cell; for NULL 0.
    @inline(__always)
    package func integer(_ column: Int) -> Int64 { cell(column).integer }

    /// Whether a cell is NULL.
    @inline(__always)
    package func isNull(_ column: Int) -> Bool { cell(column).storageClass == 5 }

    /// The integer of a key's column; what is no integer gives a number that follows from its
    /// bytes and the validation's secret, and that no integer in a file can be meant to have.
    @inline(__always)
    func wholeNumber(_ column: Int, _ key: HashKey) -> Int64 {
        let cell = cell(column)
        return cell.storageClass == 1 ? cell.integer : key.number(of: cell)
    }
}

/// One cell of a row, valid until the next step.
struct RawCell {
    fileprivate let pointer: OpaquePointer?
    fileprivate let cell: PageCell

    /// SQLite's storage class: 1 integer, 2 real, 3 text, 4 blob, 5 NULL.
    @inline(__always)
    var storageClass: Int32 {
        pointer.map { sqlite3_value_type($0) } ?? cell.storageClass
    }

    /// The value of an integer; for NULL 0.
    @inline(__always)
    var integer: Int64 {
        if let pointer { return sqlite3_value_int64(pointer) }
        return cell.storageClass == 1 ? cell.integer : 0
    }

    /// The value of a real.
    @inline(__always)
    var real: Double { pointer.map { sqlite3_value_double($0) } ?? cell.real }

    /// The bytes of a text or blob.
    @inline(__always)
    var bytes: UnsafeRawBufferPointer {
        guard let pointer else { return cell.bytes }
        guard let start = sqlite3_value_blob(pointer) else {
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(pointer)))
    }
}

/// One pass over rows or entries of a file: from its pages, or by SQLite where these do not serve.
struct RowPass {
    private enum Reader {
        case statement(Statement)
        case table(TableCursor)
        case index(IndexCursor)
    }

    private let reader: Reader
    /// The row that was read last.
    let row: RawRow

    init(_ statement: Statement) {
        reader = .statement(statement)
        row = RawRow(statement)
    }

    init(_ cursor: TableCursor) {
        reader = .table(cursor)
        row = RawRow(cursor.cells)
    }

    init(_ cursor: IndexCursor) {
        reader = .index(cursor)
        row = RawRow(cursor.cells)
    }

    /// Reads the next row; false behind the last one.
    @inline(__always)
    func step() throws(StoreError) -> Bool {
        switch reader {
        case .statement(let statement): try statement.step()
        case .table(let cursor): try cursor.step()
        case .index(let cursor): try cursor.step()
        }
    }
}
