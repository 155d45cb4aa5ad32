import GRDBSQLite
import SafeSQLite

/// The current row of a statement on SQLite's own handle: what the loops over cells use.
///
/// A cell is fetched once and then asked; calls of `Statement` from another module would cost as
/// much as the hash. The statement must outlive the row.
struct RawRow {
    private let pointer: OpaquePointer

    init(_ statement: Statement) { pointer = statement.pointer }

    /// One cell.
    ///
    /// Connections are used by one thread at a time, so that the value needs no
    /// protection.
    @inline(__always)
    func cell(_ column: Int) -> RawCell {
        RawCell(pointer: sqlite3_column_value(pointer, Int32(truncatingIfNeeded: column)))
    }

    @inline(__always)
    func integer(_ column: Int) -> Int64 { cell(column).integer }

    @inline(__always)
    func isNull(_ column: Int) -> Bool { cell(column).storageClass == 5 }

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

    /// SQLite's storage class: 1 integer, 2 real, 3 text, 4 blob, 5 NULL.
    @inline(__always)
    var storageClass: Int32 { sqlite3_value_type(pointer) }

    @inline(__always)
    var integer: Int64 { sqlite3_value_int64(pointer) }

    @inline(__always)
    var real: Double { sqlite3_value_double(pointer) }

    /// The bytes of a text or blob; of a number, those of its text.
    @inline(__always)
    var bytes: UnsafeRawBufferPointer {
        guard let start = sqlite3_value_blob(pointer) else {
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(pointer)))
    }
}
