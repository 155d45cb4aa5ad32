import ManagedObjectModel
import SafeSQLite

/// A value as SQLite holds it.
enum PlainValue: Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text([UInt8])
    case blob([UInt8])

    /// The value of a column of the row at hand.
    init(_ statement: Statement, _ column: Int) {
        switch statement.storageClass(column) {
        case 1: self = .integer(statement.integer(column))
        case 2: self = .real(statement.real(column))
        case 3: self = .text(Array(statement.bytes(column)))
        case 4: self = .blob(Array(statement.bytes(column)))
        default: self = .null
        }
    }

    /// A default as a column of its type holds it: numbers of decimals and
    /// dates are integers where they are whole.
    init(_ value: DefaultValue) {
        func number(_ real: Double) -> PlainValue {
            // SQLite leaves the smallest and the largest integer real.
            guard let whole = Int64(exactly: real), whole > .min, whole < .max else {
                return .real(real)
            }
            return .integer(whole)
        }
        switch value {
        case .integer(let integer): self = .integer(integer)
        case .real(let real): self = .real(real)
        case .decimal(let digits): self = number(Double(digits) ?? 0)
        case .boolean(let flag): self = .integer(flag ? 1 : 0)
        case .text(let text), .uri(let text): self = .text(Array(text.utf8))
        case .date(let seconds): self = number(seconds)
        case .data(let bytes), .uuid(let bytes): self = .blob(bytes)
        }
    }

    var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
}
