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
        return result({ StoredInput(arguments, first + $0) }, text: { arguments.give(text: $0) })
    }

    /// The value for inputs.
    ///
    /// - Parameters:
    ///   - input: gives an input by its number.
    ///   - text: gets the bytes of a text, before this returns `given`.
    /// - Returns: nil where an evaluator must decide, and for a value that may not be.
    @inline(__always)
    func result(
        _ input: (Int) -> StoredInput, text: (UnsafeRawBufferPointer) -> Void
    ) -> FunctionResult? {
        let value = program.value(
            { Self.plain(input($0), types[$0]) }, text: { if isText { text($0) } })
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
    @inline(__always)
    private static func plain(_ input: StoredInput, _ type: AttributeType) -> PlainValue? {
        switch (input, type) {
        case (.null, _): .null
        case (.text(let bytes), .string): PlainText(input: bytes).map { .text($0) }
        case (.text, _), (.blob, _), (_, .decimal): nil
        case (.integer(let number), .boolean): .boolean(number != 0)
        case (.real(let number), .boolean): .boolean(number != 0)
        case (.integer(let number), .double), (.integer(let number), .float):
            .real(Double(number))
        case (.integer(let number), .date): .date(Double(number))
        case (.integer(let number), _): .integer(number)
        case (.real(let number), .date): .date(number)
        case (.real(let number), _): .real(number)
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
