import CoreDataStore
package import ExpressionEvaluation
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
    ///   - source: the schema that is the source.
    ///   - cells: the plan's computed cells, in its order.
    ///   - failures: gets what could not be computed.
    ///   - methods: answers calls of the methods of policies.
    /// - Throws: `StoreError` for a source without metadata.
    package static func register(
        _ connection: Connection, source: SourceSchema, cells: [ComputedCell],
        failures: ValueFailures, methods: PolicyMethods? = nil
    ) throws(StoreError) {
        guard let now = cells.first?.now else { return }
        failures.uuid = try connection.texts(
            "SELECT Z_UUID FROM \(source.prefix)Z_METADATA LIMIT 1"
        ).first
        // One for all rows: it keeps what it compiled. All cells of a plan have one time.
        let evaluators = Evaluators(now: now, methods)
        let programs = cells.map { PlainInputs.program(of: $0) }
        let compute = DatabaseFunction(name.description, pure: true) { arguments in
            let cell = try cell(arguments, in: cells, inputs: nil)
            let program = Int.fromDatabaseValue(arguments[0]).flatMap { programs[$0] }
            return try failures.naming(cell, arguments[1]) { () throws(ExpressionError) in
                let value = try value(of: cell, arguments[2...], program, evaluators)
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
                    throw ExpressionError(.evaluation, "the number is not a 64-bit integer")
                case .double(let number) where !number.isFinite:
                    throw ExpressionError(.evaluation, "the number is not finite")
                case .int64(let number):
                    return try StoredCell.fitting(number, cell.type).databaseValue
                default: return value
                }
            }
        }
        connection.queue.inDatabase {
            $0.add(function: compute)
            $0.add(function: check)
        }
    }

    private static let missing = ExpressionError(
        .evaluation, "it has no value, and the attribute is required")

    /// The cell that a call names.
    private static func cell(
        _ arguments: [DatabaseValue], in cells: [ComputedCell], inputs: Int?
    ) throws -> ComputedCell {
        guard arguments.count >= 2, let number = Int.fromDatabaseValue(arguments[0]),
            cells.indices.contains(number),
            arguments.count == (inputs ?? cells[number].argumentCount) + 2
        else { throw DatabaseError(message: "a computed value is called with other arguments") }
        return cells[number]
    }

    private static func value(
        of cell: ComputedCell, _ arguments: ArraySlice<DatabaseValue>,
        _ program: PlainProgram?, _ evaluators: Evaluators
    ) throws(ExpressionError) -> (any DatabaseValueConvertible)? {
        if let program, let found = PlainInputs(arguments, of: cell).value(of: program) {
            return try found.map { scalar throws(ExpressionError) in
                try StoredCell(scalar, as: cell.type).databaseValue
            }
        }
        if let tree = cell.value.tree {
            let text = arguments.first.flatMap { String.fromDatabaseValue($0) } ?? ""
            let object = try TreeText.object(Array(text.utf8), tree)
            return try replacing(cell, evaluators.trees, ["source": .object(object)])
        }
        var variables: [String: ExpressionValue<Never>] = [:]
        for (number, argument) in arguments.enumerated() {
            variables[ComputedValue.name(of: number)] = input(
                argument, cell.inputs[number].valueType)
        }
        return try replacing(cell, try evaluators.of(cell.policy), variables)
    }

    /// The value of a cell; another one where it cannot be computed, and the mapping says so.
    private static func replacing<Objects: ExpressionObjects>(
        _ cell: ComputedCell, _ evaluator: ExpressionEvaluator<Objects>,
        _ variables: [String: ExpressionValue<Objects.Object>]
    ) throws(ExpressionError) -> (any DatabaseValueConvertible)? {
        guard case .attempt(let first, let other) = cell.value.expression else {
            return try stored(cell.value.expression, cell, evaluator, variables)
        }
        // A value that does not fit the attribute's type has failed as well.
        do throws(ExpressionError) {
            return try stored(first, cell, evaluator, variables)
        } catch {
            guard error.reason == .evaluation else { throw error }
            return try stored(other, cell, evaluator, variables)
        }
    }

    /// What an expression gives, as the cell holds it.
    private static func stored<Objects: ExpressionObjects>(
        _ expression: MappingExpression, _ cell: ComputedCell,
        _ evaluator: ExpressionEvaluator<Objects>,
        _ variables: [String: ExpressionValue<Objects.Object>]
    ) throws(ExpressionError) -> (any DatabaseValueConvertible)? {
        switch try evaluator.value(of: expression, variables: variables) {
        case .null: return nil
        case .scalar(let scalar):
            let stored = try StoredCell(scalar, as: cell.type)
            if case .text(let text) = stored, text.unicodeScalars.contains("\0") {
                throw ExpressionError(.evaluation, "the text contains a NUL")
            }
            return stored.databaseValue
        case .object, .collection:
            throw ExpressionError(.evaluation, "the expression gives no single value")
        }
    }

    /// A value of the source as an expression sees it.
    private static func input(
        _ value: DatabaseValue, _ type: AttributeType
    ) -> ExpressionValue<Never> {
        switch (type, value.storage) {
        case (.string, .blob(let data)):
            return .scalar(.text(String(decoding: data, as: UTF8.self)))
        case (.string, .string(let digits)):
            return .scalar(.data(StoredCell.bytes(Array(digits.utf8)[...]) ?? []))
        default: break
        }
        return StoredCell(value).map { .scalar($0.value(type)) } ?? .null
    }

    /// An evaluator for expressions without calls, and one for each policy.
    private final class Evaluators: Sendable {
        private let plain: ExpressionEvaluator<NoObjects>
        /// For values that read trees of objects.
        let trees: ExpressionEvaluator<TreeObjects>
        private let now: Double
        private let methods: PolicyMethods?
        private let byPolicy = Mutex<[String: ExpressionEvaluator<NoObjects>]>([:])

        init(now: Double, _ methods: PolicyMethods?) {
            self.now = now
            trees = ExpressionEvaluator(TreeObjects(), now: now)
            self.methods = methods
            plain = ExpressionEvaluator(NoObjects(), now: now)
        }

        func of(_ policy: String?) throws(ExpressionError) -> ExpressionEvaluator<NoObjects> {
            guard let policy else { return plain }
            if let known = byPolicy.withLock({ $0[policy] }) { return known }
            guard let call = methods?(policy) else {
                throw ExpressionError(.evaluation, "policy \(policy) is not available")
            }
            let made = ExpressionEvaluator(NoObjects(), now: now, methodCall: call)
            byPolicy.withLock { $0[policy] = made }
            return made
        }
    }
}

/// The schema of a connection that is the source.
package enum SourceSchema: Sendable {
    case main, attached

    fileprivate var prefix: SQLText { self == .main ? "main." : "src." }
}

/// What answers the calls of a policy's methods, by the name of its class; nil for an unknown one.
package typealias PolicyMethods =
    @Sendable (String) -> ExpressionEvaluator<NoObjects>.MethodCall?

extension StoredCell {
    /// A value of SQLite; nil for NULL.
    fileprivate init?(_ value: DatabaseValue) {
        switch value.storage {
        case .null: return nil
        case .int64(let number): self = .integer(number)
        case .double(let number): self = .real(number)
        case .string(let text): self = .text(text)
        case .blob(let data): self = .blob([UInt8](data))
        }
    }

    fileprivate var databaseValue: any DatabaseValueConvertible {
        switch self {
        case .integer(let number): number
        case .real(let number): number
        case .text(let text): text
        case .blob(let bytes): Data(bytes)
        }
    }
}

/// What could not be computed while rows were copied: SQLite's error alone would not tell it from
/// damage.
package final class ValueFailures: Sendable {
    /// The store, for messages; nil where the reader of the failure names it.
    private let store: String?
    private let first = Mutex<String?>(nil)
    private let known = Mutex<String?>(nil)
    /// The UUID of the store that is read, for URIs of its objects.
    fileprivate(set) var uuid: String? {
        get { known.withLock { $0 } }
        set { known.withLock { $0 = newValue } }
    }

    /// - Parameter store: that messages name.
    package init(store: String? = nil) { self.store = store }

    /// Evaluates, and remembers a failure with attribute and object.
    func naming<Value>(
        _ cell: ComputedCell, _ key: DatabaseValue, _ body: () throws(ExpressionError) -> Value
    ) throws -> Value {
        do throws(ExpressionError) {
            return try body()
        } catch {
            let object = Int64.fromDatabaseValue(key).map {
                " of \(ObjectURI(store: uuid ?? "", entity: cell.source, key: $0))"
            }
            let text = "\(cell.name)\(object ?? "") cannot be computed: \(error)"
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
                "\(place)\(text). Nothing was written. Correct the data, or let the mapping give "
                    + "such values: failing: {constant: …}, or default: … where there is none. For "
                    + "an optional attribute, failing: drop counts them as losses")
        }
    }
}
