import CSQLite
import GRDBSQLite

/// A compiled statement on the raw handle: what hot row loops use.
///
/// Columns and parameters follow SQLite: columns from 0, parameters from 1. Pointers that
/// accessors lend are valid until the next step.
package final class Statement {
    /// SQLite's statement, for loops that cannot afford a call between modules for each cell; it
    /// lives as long as this object.
    package let pointer: OpaquePointer
    private let connection: Connection
    // Lives as long as the connection; asked for through that, it costs as much as a short row.
    private let budget: OpaquePointer

    init(_ pointer: OpaquePointer, connection: Connection) {
        self.pointer = pointer
        self.connection = connection
        budget = connection.budget
    }

    deinit { sqlite3_finalize(pointer) }

    /// Goes to the next row.
    ///
    /// - Returns: whether there is one.
    /// - Throws: `StoreError` with SQLite's message.
    package func step() throws(StoreError) -> Bool {
        let code = godwit_sqlite_budget_step(budget, pointer)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw connection.failure(code)
        }
    }

    /// Runs the statement to its end and makes it ready for another run.
    package func run() throws(StoreError) {
        while try step() {}
        reset()
    }

    /// Makes the statement ready for another run; bindings stay.
    package func reset() { sqlite3_reset(pointer) }

    /// The number of columns of a row.
    package var columnCount: Int { Int(sqlite3_column_count(pointer)) }

    /// SQLite's storage class of a value: 1 integer, 2 real, 3 text, 4 blob, 5 NULL.
    @inline(__always)
    package func storageClass(_ column: Int) -> Int32 {
        sqlite3_column_type(pointer, Int32(truncatingIfNeeded: column))
    }

    /// Whether a value is NULL.
    @inline(__always)
    package func isNull(_ column: Int) -> Bool { storageClass(column) == SQLITE_NULL }

    /// A value as an integer, converted as SQLite does.
    @inline(__always)
    package func integer(_ column: Int) -> Int64 {
        sqlite3_column_int64(pointer, Int32(truncatingIfNeeded: column))
    }

    /// A value as a real number, converted as SQLite does.
    @inline(__always)
    package func real(_ column: Int) -> Double {
        sqlite3_column_double(pointer, Int32(truncatingIfNeeded: column))
    }

    /// A value as text; nil for NULL.
    ///
    /// Invalid UTF-8 is repaired: for names, not for users' data.
    package func text(_ column: Int) -> String? {
        guard let start = sqlite3_column_text(pointer, Int32(column)) else { return nil }
        let count = Int(sqlite3_column_bytes(pointer, Int32(column)))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// The most bytes that a name in a file may have; reports quote names.
    static let nameLimit = 1024

    /// A text that is a name.
    ///
    /// - Throws: `StoreError.notAStore` for one that is longer than any that people give or that
    ///   is not UTF-8.
    package func name(_ column: Int) throws(StoreError) -> String {
        let count = Int(sqlite3_column_bytes(pointer, Int32(column)))
        guard count <= Self.nameLimit else {
            throw .notAStore(
                path: connection.path, reason: "it holds a name of \(count) bytes")
        }
        return try exactText(column, "name") ?? ""
    }

    /// A text whose bytes count; nil for NULL.
    ///
    /// `subject`: what it is, for the error.
    /// - Throws: `StoreError.notAStore` for one that is not UTF-8.
    func exactText(_ column: Int, _ subject: String) throws(StoreError) -> String? {
        guard let start = sqlite3_column_text(pointer, Int32(column)) else { return nil }
        let count = Int(sqlite3_column_bytes(pointer, Int32(column)))
        let bytes = UnsafeBufferPointer(start: start, count: count)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .notAStore(
                path: connection.path, reason: "it holds a \(subject) that is not UTF-8")
        }
        return text
    }

    /// The bytes of a text or blob, lent until the next step; empty for NULL.
    @inline(__always)
    package func bytes(_ column: Int) -> UnsafeRawBufferPointer {
        let index = Int32(truncatingIfNeeded: column)
        guard let start = sqlite3_column_blob(pointer, index) else {
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        let count = Int(sqlite3_column_bytes(pointer, index))
        return UnsafeRawBufferPointer(start: start, count: count)
    }

    /// The bytes of a text or blob, copied; nil for NULL.
    package func blob(_ column: Int) -> [UInt8]? {
        isNull(column) ? nil : Array(bytes(column))
    }

    /// Binds an integer.
    package func bind(_ value: Int64, at parameter: Int) throws(StoreError) {
        try check(sqlite3_bind_int64(pointer, Int32(parameter), value))
    }

    /// Binds a real number.
    package func bind(_ value: Double, at parameter: Int) throws(StoreError) {
        try check(sqlite3_bind_double(pointer, Int32(parameter), value))
    }

    /// Binds NULL.
    package func bindNull(at parameter: Int) throws(StoreError) {
        try check(sqlite3_bind_null(pointer, Int32(parameter)))
    }

    /// Binds a text.
    package func bind(_ value: String, at parameter: Int) throws(StoreError) {
        var copy = value
        let code = copy.withUTF8 { bytes in
            // A nil start would bind NULL; the empty text needs an address.
            bytes.withMemoryRebound(to: CChar.self) { characters in
                sqlite3_bind_text64(
                    pointer, Int32(parameter), characters.baseAddress ?? emptyText,
                    UInt64(characters.count), Statement.copied, UInt8(SQLITE_UTF8))
            }
        }
        try check(code)
    }

    /// Binds bytes of UTF-8 as text; they are copied.
    package func bindText(
        _ value: UnsafeRawBufferPointer, at parameter: Int
    ) throws(StoreError) {
        let characters = value.assumingMemoryBound(to: CChar.self)
        // A nil start would bind NULL; the empty text needs an address.
        try check(
            sqlite3_bind_text64(
                pointer, Int32(truncatingIfNeeded: parameter),
                characters.baseAddress ?? emptyText, UInt64(characters.count), Statement.copied,
                UInt8(SQLITE_UTF8)))
    }

    /// Binds a blob, which is copied.
    package func bind(_ value: UnsafeRawBufferPointer, at parameter: Int) throws(StoreError) {
        guard let start = value.baseAddress, !value.isEmpty else {
            try check(sqlite3_bind_zeroblob(pointer, Int32(parameter), 0))
            return
        }
        try check(
            sqlite3_bind_blob64(
                pointer, Int32(parameter), start, UInt64(value.count), Statement.copied))
    }

    /// Binds a blob, which is copied.
    package func bind(_ value: [UInt8], at parameter: Int) throws(StoreError) {
        var failed: StoreError?
        value.withUnsafeBytes { bytes in
            do throws(StoreError) { try bind(bytes, at: parameter) } catch { failed = error }
        }
        if let failed { throw failed }
    }

    /// Binds a column of another statement's current row, storage class and bytes unchanged.
    @inline(__always)
    package func bindValue(
        at parameter: Int, from other: Statement, column: Int
    ) throws(StoreError) {
        try check(
            sqlite3_bind_value(
                pointer, Int32(truncatingIfNeeded: parameter),
                sqlite3_column_value(other.pointer, Int32(truncatingIfNeeded: column))))
    }

    private func check(_ code: Int32) throws(StoreError) {
        guard code == SQLITE_OK else { throw connection.failure(code) }
    }

    // SQLITE_TRANSIENT: SQLite makes its own copy.
    private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}

/// An address for the empty text, which must not be bound as NULL.
nonisolated(unsafe) private let emptyText: UnsafePointer<CChar> = {
    let place = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
    place.initialize(to: 0)
    return UnsafePointer(place)
}()
