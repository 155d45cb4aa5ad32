import Foundation
import GRDB
import ManagedObjectModel
import MappingExpressions
import MappingModel
import MigrationPlanning
import SafeSQLite

/// An SQL function that evaluates the expressions of mappings that SQL cannot.
///
/// Its arguments are the number of a computed cell of the plan, the key of the row, for messages,
/// and the values of the cell's inputs.
enum ValueFunction {
    /// Known to the guard of connections by its first letters (`CSQLite`).
    static let name: StaticString = "godwit_value"

    /// Makes the function known to a connection.
    static func register(_ connection: Connection, cells: [ComputedCell]) {
        guard !cells.isEmpty else { return }
        let function = DatabaseFunction(name.description, pure: true) { arguments in
            guard arguments.count >= 2, let number = Int.fromDatabaseValue(arguments[0]),
                cells.indices.contains(number), let key = Int64.fromDatabaseValue(arguments[1]),
                arguments.count == cells[number].inputs.count + 2
            else { throw DatabaseError(message: "a computed value is called with other arguments") }
            do throws(ExpressionError) {
                return try value(of: cells[number], arguments[2...])
            } catch {
                throw DatabaseError(
                    message: "\(cells[number].name) of the object with key \(key) cannot be "
                        + "computed: \(error)")
            }
        }
        connection.queue.inDatabase { $0.add(function: function) }
    }

    private static func value(
        of cell: ComputedCell, _ arguments: ArraySlice<DatabaseValue>
    ) throws(ExpressionError) -> (any DatabaseValueConvertible)? {
        var variables: [String: ExpressionValue<Never>] = [:]
        for (number, argument) in arguments.enumerated() {
            variables[ComputedValue.name(of: number)] = input(
                argument, cell.inputs[number].valueType)
        }
        let evaluator = ExpressionEvaluator(NoObjects(), now: cell.now)
        let value = try evaluator.value(of: cell.value.expression, variables: variables)
        switch value {
        case .null: return nil
        case .scalar(let scalar): return try stored(scalar, cell.type)
        case .object, .collection:
            throw ExpressionError(.evaluation, "the expression gives no single value")
        }
    }

    /// A value of the source as an expression sees it.
    private static func input(
        _ value: DatabaseValue, _ type: AttributeType
    ) -> ExpressionValue<Never> {
        switch (value.storage, type) {
        case (.null, _): .null
        case (.int64(let number), .boolean): .scalar(.boolean(number != 0))
        case (.int64(let number), .double), (.int64(let number), .float):
            .scalar(.real(Double(number)))
        case (.int64(let number), .date): .scalar(.date(Double(number)))
        case (.int64(let number), .decimal): .scalar(.decimal(String(number)))
        case (.int64(let number), _): .scalar(.integer(number))
        case (.double(let number), .date): .scalar(.date(number))
        case (.double(let number), .decimal): .scalar(.decimal("\(number)"))
        case (.double(let number), _): .scalar(.real(number))
        case (.string(let text), .uri): .scalar(.uri(text))
        case (.string(let text), _): .scalar(.text(text))
        case (.blob(let data), .uuid): .scalar(.uuid([UInt8](data)))
        case (.blob(let data), _): .scalar(.data([UInt8](data)))
        }
    }

    /// A result as the column of an attribute holds it.
    private static func stored(
        _ value: DefaultValue, _ type: AttributeType
    ) throws(ExpressionError) -> any DatabaseValueConvertible {
        switch (value, type) {
        case (.integer(let number), .boolean): return number != 0
        case (.real(let number), .boolean): return number != 0
        case (.boolean(let flag), _): return flag
        case (.integer(let number), .double), (.integer(let number), .float):
            return Double(number)
        case (.real(let number), .integer16), (.real(let number), .integer32),
            (.real(let number), .integer64):
            guard let whole = Int64(exactly: number.rounded(.towardZero)) else {
                throw ExpressionError(.evaluation, "the number is no 64-bit integer")
            }
            return whole
        case (.integer(let number), _): return number
        case (.real(let number), _): return number
        case (.decimal(let text), _):
            guard let number = Double(text) else {
                throw ExpressionError(.evaluation, "the decimal number is too large")
            }
            return number
        case (.text(let text), _), (.uri(let text), _): return text
        case (.date(let seconds), _): return seconds
        case (.data(let bytes), _), (.uuid(let bytes), _): return Data(bytes)
        }
    }
}
