import ExpressionEvaluation
import ManagedObjectModel
import MappingExpressions
import MappingModel
import SafeSQLite

/// The inputs of a value in a call of its function, as a program of plain values takes them.
struct PlainInputs {
    private let arguments: FunctionArguments
    /// The place of the first input.
    private let first: Int
    private let cell: ComputedCell

    /// The program of a cell; nil where only an evaluator gives its value.
    static func program(of cell: ComputedCell) -> PlainProgram? {
        guard cell.tree == nil, cell.policy == nil else { return nil }
        let names = cell.value.inputs.indices.map { (ComputedValue.name(of: $0), $0) }
        return PlainProgram(
            cell.value.expression, inputs: Dictionary(uniqueKeysWithValues: names), now: cell.now)
    }

    /// - Parameters:
    ///   - arguments: of the call.
    ///   - first: the place of the first input.
    ///   - cell: whose function was called.
    init(_ arguments: FunctionArguments, from first: Int, of cell: ComputedCell) {
        self.arguments = arguments
        self.first = first
        self.cell = cell
    }

    /// What a program gave for the inputs.
    enum Found {
        case none
        case text([UInt8])
        case value(DefaultValue)
    }

    /// What a program gives for the inputs; nil where an evaluator must decide.
    func value(of program: PlainProgram) -> Found? {
        let text = { (input: Int) in arguments.bytes(first + input) }
        switch program.value(plain, bytes: text) {
        case nil: return nil
        case .text(let found)?: return program.utf8(found, bytes: text).map { .text($0) }
        case let found?: return found.scalar.map { .value($0) } ?? Found.none
        }
    }

    /// An input; nil for what is no plain value.
    private func plain(_ input: Int) -> PlainValue? {
        let place = first + input
        switch (arguments.storageClass(place), cell.inputs[input].valueType) {
        case (5, _): return .null
        case (3, .string):
            return PlainText(input: input, arguments.bytes(place)).map { .text($0) }
        case (3, _), (4, _), (_, .decimal): return nil
        case (1, .boolean): return .boolean(arguments.integer(place) != 0)
        case (1, .double), (1, .float): return .real(Double(arguments.integer(place)))
        case (1, .date): return .date(Double(arguments.integer(place)))
        case (1, _): return .integer(arguments.integer(place))
        case (_, .date): return .date(arguments.real(place))
        default: return .real(arguments.real(place))
        }
    }
}
