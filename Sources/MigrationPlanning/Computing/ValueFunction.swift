import Foundation
import GRDB
import ManagedObjectModel
import MappingExpressions
import MappingModel
package import SafeSQLite
import Synchronization

/// An SQL function that evaluates the expressions of mappings that SQL cannot.
///
/// Its arguments are the number of a computed cell of the plan, the key of the row, for messages,
/// and the values of the cell's inputs.
package enum ValueFunction {
    /// Known to the guard of connections by its first letters (`CSQLite`).
    static let name: StaticString = "godwit_value"
    /// The function that passes a value on, and fails for one that may not be: its arguments are
    /// the number of a computed cell, the key of the row, whether the value must be an integer,
    /// and the value.
    static let checkName: StaticString = "godwit_checked"

    /// Makes the functions known to a connection.
    ///
    /// - Parameters:
    ///   - connection: that copies.
    ///   - cells: the plan's computed cells, in its order.
    ///   - failures: gets what could not be computed.
    package static func register(
        _ connection: Connection, cells: [ComputedCell], failures: ValueFailures
    ) {
        guard let now = cells.first?.now else { return }
        // One for all rows: it keeps what it compiled. All cells of a plan have one time.
        let evaluator = ExpressionEvaluator(NoObjects(), now: now)
        let compute = DatabaseFunction(name.description, pure: true) { arguments in
            let cell = try cell(arguments, in: cells, inputs: nil)
            return try failures.naming(cell, arguments[1]) { () throws(ExpressionError) in
                let value = try value(of: cell, arguments[2...], evaluator)
                if value == nil, cell.isRequired { throw missing }
                return value
            }
        }
        let check = DatabaseFunction(
            checkName.description, argumentCount: 4, pure: true
        ) { arguments in
            let cell = try cell(arguments, in: cells, inputs: 2)
            let value = arguments[3]
            return try failures.naming(cell, arguments[1]) { () throws(ExpressionError) in
                switch value.storage {
                case .null where cell.isRequired: throw missing
                case .double where Bool.fromDatabaseValue(arguments[2]) == true:
                    throw ExpressionError(.evaluation, "the number is no 64-bit integer")
                case .double(let number) where !number.isFinite:
                    throw ExpressionError(.evaluation, "the number is not finite")
                case .int64(let number): return try fitting(number, cell.type).databaseValue
                default: return value
                }
            }
        }
        connection.queue.inDatabase {
            $0.add(function: compute)
            $0.add(function: check)
        }
    }

    /// A whole number that the attribute's type can hold.
    private static func fitting(
        _ number: Int64, _ type: AttributeType
    ) throws(ExpressionError) -> Int64 {
        guard let range = type.integerRange, !range.contains(number) else { return number }
        throw ExpressionError(.evaluation, "the number does not fit the type \(type)")
    }

    private static let missing = ExpressionError(
        .evaluation, "it has no value, and the attribute is required")

    /// The cell that a call names.
    private static func cell(
        _ arguments: [DatabaseValue], in cells: [ComputedCell], inputs: Int?
    ) throws -> ComputedCell {
        guard arguments.count >= 2, let number = Int.fromDatabaseValue(arguments[0]),
            cells.indices.contains(number),
            arguments.count == (inputs ?? cells[number].inputs.count) + 2
        else { throw DatabaseError(message: "a computed value is called with other arguments") }
        return cells[number]
    }

    private static func value(
        of cell: ComputedCell, _ arguments: ArraySlice<DatabaseValue>,
        _ evaluator: ExpressionEvaluator<NoObjects>
    ) throws(ExpressionError) -> (any DatabaseValueConvertible)? {
        var variables: [String: ExpressionValue<Never>] = [:]
        for (number, argument) in arguments.enumerated() {
            variables[ComputedValue.name(of: number)] = input(
                argument, cell.inputs[number].valueType)
        }
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
        case (.boolean(let flag), .boolean), (.boolean(let flag), .integer16),
            (.boolean(let flag), .integer32), (.boolean(let flag), .integer64):
            return flag
        case (.boolean(let flag), .double), (.boolean(let flag), .float): return flag ? 1.0 : 0.0
        case (.integer(let number), .double), (.integer(let number), .float):
            return Double(number)
        case (.real(let number), .integer16), (.real(let number), .integer32),
            (.real(let number), .integer64):
            guard let whole = Int64(exactly: number.rounded(.towardZero)) else {
                throw ExpressionError(.evaluation, "the number is no 64-bit integer")
            }
            return try fitting(whole, type)
        case (.integer(let number), .integer16), (.integer(let number), .integer32),
            (.integer(let number), .integer64), (.integer(let number), .decimal):
            return try fitting(number, type)
        case (.real(let number), .double), (.real(let number), .float),
            (.real(let number), .decimal):
            guard number.isFinite else { throw ExpressionError(.evaluation, "no finite number") }
            return number
        case (.decimal(let text), .decimal), (.decimal(let text), .double),
            (.decimal(let text), .float):
            guard let number = Double(text) else {
                throw ExpressionError(.evaluation, "the decimal number is too large")
            }
            return number
        case (.text(let text), .string), (.uri(let text), .uri): return text
        case (.date(let seconds), .date) where seconds.isFinite: return seconds
        case (.data(let bytes), .binary), (.data(let bytes), .transformable),
            (.uuid(let bytes), .uuid):
            return Data(bytes)
        default:
            throw ExpressionError(.evaluation, "the value is of another type than \(type)")
        }
    }
}

/// What could not be computed while rows were copied: SQLite's error alone would not tell it from
/// damage.
package final class ValueFailures: Sendable {
    /// The store, for messages; nil where the reader of the failure names it.
    private let store: String?
    private let first = Mutex<String?>(nil)

    /// - Parameter store: that messages name.
    package init(store: String? = nil) { self.store = store }

    /// Evaluates, and remembers a failure with attribute and object.
    func naming<Value>(
        _ cell: ComputedCell, _ key: DatabaseValue, _ body: () throws(ExpressionError) -> Value
    ) throws -> Value {
        do throws(ExpressionError) {
            return try body()
        } catch {
            let object = Int64.fromDatabaseValue(key).map { " of the object with key \($0)" } ?? ""
            let text = "\(cell.name)\(object) cannot be computed: \(error)"
            first.withLock { if $0 == nil { $0 = text } }
            throw DatabaseError(message: text)
        }
    }

    /// Runs a statement; a value that could not be computed is a fault of data or mapping.
    ///
    /// - Throws: `EngineError.dataRefused` for such a value, else what the body throws.
    package func translating<Value>(
        _ body: () throws(EngineError) -> Value
    ) throws(EngineError) -> Value {
        do throws(EngineError) {
            return try body()
        } catch {
            guard let text = first.withLock({ $0 }) else { throw error }
            let place = store.map { "\($0): " } ?? ""
            throw .dataRefused(
                "\(place)\(text). Nothing was written; correct the data, or the expression in "
                    + "the mapping")
        }
    }
}
