import ExpressionEvaluation
import ManagedObjectModel
import MappingExpressions
import MappingModel
import SafeSQLite

/// A computed cell whose values a program of plain values gives, for calls of its function.
///
/// An object: a call for every row would copy the parts of a structure.
final class PlainCell: Sendable {
    private let program: PlainProgram
    /// Of the inputs.
    private let types: [AttributeType]
    private let type: AttributeType
    private let isText: Bool
    private let isRequired: Bool

    /// Nil for a cell whose values an evaluator alone gives.
    init?(_ cell: ComputedCell) {
        guard cell.tree == nil, cell.policy == nil else { return nil }
        let names = cell.value.inputs.indices.map { (ComputedValue.name(of: $0), $0) }
        let made = PlainProgram(
            cell.value.expression, inputs: Dictionary(uniqueKeysWithValues: names), now: cell.now)
        guard let made else { return nil }
        program = made
        types = cell.inputs.map(\.valueType)
        type = cell.type
        isText = cell.type == .string
        isRequired = cell.isRequired
    }

    /// The value for a call.
    ///
    /// - Parameters:
    ///   - arguments: of the call.
    ///   - first: the place of the first input.
    /// - Returns: nil where an evaluator must decide, and for a value that may not be.
    func result(_ arguments: FunctionArguments, from first: Int) -> FunctionResult? {
        guard arguments.count == first + types.count else { return nil }
        let value = program.value(
            { Self.plain(arguments, first + $0, types[$0]) },
            text: { if isText { arguments.give(text: $0) } })
        switch value {
        case nil: return nil
        case .null?: return isRequired ? nil : .null
        case .text?: return isText ? .given : nil
        case let other?:
            do throws(ExpressionError) {
                return try other.scalar.map { scalar throws(ExpressionError) in
                    FunctionResult(try StoredCell(scalar, as: type))
                }
            } catch {
                return nil
            }
        }
    }

    /// An input; nil for what is no plain value.
    private static func plain(
        _ arguments: FunctionArguments, _ place: Int, _ type: AttributeType
    ) -> PlainValue? {
        switch (arguments.storageClass(place), type) {
        case (5, _): return .null
        case (3, .string): return PlainText(input: arguments.text(place)).map { .text($0) }
        case (3, _), (4, _), (_, .decimal): return nil
        case (1, .boolean): return .boolean(arguments.integer(place) != 0)
        case (2, .boolean): return .boolean(arguments.real(place) != 0)
        case (1, .double), (1, .float): return .real(Double(arguments.integer(place)))
        case (1, .date): return .date(Double(arguments.integer(place)))
        case (1, _): return .integer(arguments.integer(place))
        case (_, .date): return .date(arguments.real(place))
        default: return .real(arguments.real(place))
        }
    }
}

extension FunctionResult {
    /// A cell as SQLite takes it.
    init(_ cell: StoredCell) {
        self =
            switch cell {
            case .integer(let number): .integer(number)
            case .real(let number): .real(number)
            case .text(let text): .text(StoredText.bytes(text))
            case .blob(let bytes): .blob(bytes)
            }
    }
}
