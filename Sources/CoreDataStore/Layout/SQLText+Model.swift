package import ManagedObjectModel
package import SafeSQLite

/// What a model says, as pieces of SQL.
extension SQLText {
    /// A default value as SQL writes it into a column: booleans as 0 and 1, dates as seconds
    /// since 2001, UUIDs as 16 bytes; nil for a value that is no number.
    package static func literal(_ value: DefaultValue) -> SQLText? {
        switch value {
        case .integer(let number): return "\(number)"
        case .real(let number), .date(let number): return real(number)
        case .decimal(let text): return Double(text).flatMap(real)
        case .boolean(let flag): return flag ? "1" : "0"
        case .text(let text), .uri(let text): return self.text(text)
        case .data(let bytes), .uuid(let bytes): return blob(bytes)
        }
    }

    /// The declared type of a column.
    package static func type(_ type: ColumnType) -> SQLText {
        switch type {
        case .integer: "INTEGER"
        case .decimal: "DECIMAL"
        case .float: "FLOAT"
        case .varchar: "VARCHAR"
        case .timestamp: "TIMESTAMP"
        case .blob: "BLOB"
        }
    }

    /// The operator of a comparison.
    package static func comparison(_ comparison: Predicate.Comparison) -> SQLText {
        switch comparison {
        case .lessThan: "<"
        case .lessThanOrEqual: "<="
        case .greaterThan: ">"
        case .greaterThanOrEqual: ">="
        case .equal: "="
        case .notEqual: "<>"
        }
    }
}
