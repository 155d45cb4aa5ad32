import CoreDataStore
package import ExpressionEvaluation
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
        let plain = cells.map { PlainCell($0) }
        try SQLFunction.add(name.description, to: connection, isPure: true) { arguments in
            let number = arguments.count > 0 ? arguments.integer(0) : -1
            if number >= 0, number < plain.count,
                let known = plain[Int(number)]?.result(arguments, from: first)
            {
                return known
            }
            let cell = try Self.cell(arguments, in: cells, inputs: nil)
            return try failures.naming(cell, arguments) { () throws(ExpressionError) in
                let value = try value(of: cell, arguments, evaluators)
                if case .null = value, cell.isRequired { throw missing }
                return value
            }
        }
        try SQLFunction.add(
            checkName.description, to: connection, argumentCount: 4, isPure: true
        ) { arguments in
            let cell = try Self.cell(arguments, in: cells, inputs: 2)
            return try failures.naming(cell, arguments) { () throws(ExpressionError) in
                switch arguments.storageClass(3) {
                case 5 where cell.isRequired: throw missing
                case 2 where arguments.integer(2) != 0:
                    throw ExpressionError(.evaluation, "the number is not a 64-bit integer")
                case 2 where !arguments.real(3).isFinite:
                    throw ExpressionError(.evaluation, "the number is not finite")
                case 1: return .integer(try StoredCell.fitting(arguments.integer(3), cell.type))
                default: return .argument(3)
                }
            }
        }
    }

    private static let missing = ExpressionError(
        .evaluation, "it has no value, and the attribute is required")

    /// The cell that a call names.
    private static func cell(
        _ arguments: FunctionArguments, in cells: [ComputedCell], inputs: Int?
    ) throws -> ComputedCell {
        guard arguments.count >= first, let number = Int(exactly: arguments.integer(0)),
            cells.indices.contains(number),
            arguments.count == (inputs ?? cells[number].argumentCount) + first
        else { throw WrongCall() }
        return cells[number]
    }

    private struct WrongCall: Error, CustomStringConvertible {
        let description = "a computed value is called with other arguments"
    }

    /// The place of the first input: behind the cell's number and the key of the row.
    private static let first = 2

    private static func value(
        of cell: ComputedCell, _ arguments: FunctionArguments, _ evaluators: Evaluators
    ) throws(ExpressionError) -> FunctionResult {
        if let tree = cell.value.tree {
            let object = try TreeText.object(Array(arguments.bytes(first)), tree)
            return try replacing(cell, evaluators.trees, ["source": .object(object)])
        }
        var variables: [String: ExpressionValue<Never>] = [:]
        for number in cell.inputs.indices {
            variables[ComputedValue.name(of: number)] =
                StoredCell(StoredInput(arguments, first + number)).map {
                    .scalar($0.value(cell.inputs[number].valueType))
                } ?? .null
        }
        return try replacing(cell, try evaluators.of(cell.policy), variables)
    }

    /// The value of a cell; another one where it cannot be computed, and the mapping says so.
    static func replacing<Objects: ExpressionObjects>(
        _ cell: ComputedCell, _ evaluator: ExpressionEvaluator<Objects>,
        _ variables: [String: ExpressionValue<Objects.Object>]
    ) throws(ExpressionError) -> FunctionResult {
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
    ) throws(ExpressionError) -> FunctionResult {
        switch try evaluator.value(of: expression, variables: variables) {
        case .null: return .null
        case .scalar(let scalar):
            return FunctionResult(try StoredCell(scalar, as: cell.type))
        case .object, .collection:
            throw ExpressionError(.evaluation, "the expression gives no single value")
        }
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

    private struct NamedFailure: Error, CustomStringConvertible {
        let description: String
    }

    /// Evaluates, and remembers a failure with attribute and object.
    ///
    /// `arguments`: of the call, the key of the row as the second.
    fileprivate func naming<Value>(
        _ cell: ComputedCell, _ arguments: FunctionArguments,
        _ body: () throws(ExpressionError) -> Value
    ) throws -> Value {
        do throws(ExpressionError) {
            return try body()
        } catch {
            let key = arguments.storageClass(1) == 1 ? arguments.integer(1) : nil
            let object = key.map {
                " of \(ObjectURI(store: uuid ?? "", entity: cell.source, key: $0))"
            }
            let text = "\(cell.name)\(object ?? "") cannot be computed: \(error)"
            first.withLock { if $0 == nil { $0 = text } }
            throw NamedFailure(description: text)
        }
    }

    /// Runs a statement; a value that could not be computed is a fault of data or mapping.
    ///
    /// - Parameters:
    ///   - isFilter: whether the values are those of filters, which have no replacement.
    ///   - body: runs it.
    /// - Returns: what the body returns.
    /// - Throws: `EngineError.dataRefused` for such a value, else what the body throws.
    package func translating<Value>(
        isFilter: Bool = false, _ body: () throws(EngineError) -> Value
    ) throws(EngineError) -> Value {
        do throws(EngineError) {
            return try body()
        } catch {
            guard let text = first.withLock({ $0 }) else { throw error }
            let place = store.map { "\($0): " } ?? ""
            let remedy =
                isFilter
                ? "Correct the data, or let the filter test first what it needs, as in "
                    + "$source.parts != 0 AND $source.whole / $source.parts > 2"
                : "Correct the data. Or correct the expression in the mapping, or let it give such "
                    + "values: failing: {constant: …}, or default: … where there is none; for an "
                    + "optional attribute, failing: drop counts them as losses. A run keeps its "
                    + "mapping: migrate again after a change"
            throw .dataRefused("\(place)\(text). Nothing was written. \(remedy)")
        }
    }
}
