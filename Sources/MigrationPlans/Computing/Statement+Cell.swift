package import MappingExpressions
package import SafeSQLite

extension Statement {
    /// Binds a cell; nil as NULL.
    ///
    /// - Throws: `StoreError` with SQLite's message.
    package func bind(_ cell: StoredCell?, at parameter: Int) throws(StoreError) {
        switch cell {
        case nil: try bindNull(at: parameter)
        case .integer(let number): try bind(number, at: parameter)
        case .real(let number): try bind(number, at: parameter)
        case .text(let text): try bind(text, at: parameter)
        case .blob(let bytes): try bind(bytes, at: parameter)
        }
    }

    /// A column of the row; nil for NULL.
    package func cell(_ column: Int) -> StoredCell? {
        switch storageClass(column) {
        case 1: .integer(integer(column))
        case 2: .real(real(column))
        case 3: .text(text(column) ?? "")
        case 4: .blob(blob(column) ?? [])
        default: nil
        }
    }
}
