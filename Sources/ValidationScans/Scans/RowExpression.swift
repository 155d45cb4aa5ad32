import CoreDataStore
import ExpressionEvaluation
import ManagedObjectModel
import MappingExpressions
import MappingModel
import SafeSQLite

/// Where a pass finds what an expression reads of a row.
enum InputPlace: Hashable, Sendable {
    /// Among the columns of the pass.
    case column(Int)
    /// Among the expressions behind them.
    case further(Int)
}

/// An expression of a mapping over rows of one source entity.
///
/// An object: loops over rows would copy the parts of a structure, and count references to each.
final class RowExpression: Sendable {
    private let value: ComputedValue
    /// The types of its inputs.
    private let types: [AttributeType]
    /// The variables of its inputs.
    private let variables: [String]
    private let places: [InputPlace]
    /// The expression as steps over its inputs; nil for what is not plain.
    private let program: PlainProgram?
    /// For an expression that reads a tree of objects.
    private let trees: ExpressionEvaluator<TreeObjects>

    /// Nil for an expression that a plan refuses.
    ///
    /// `now`: what `now()` gives, in seconds since 2001-01-01 00:00:00 UTC.
    /// `read`: gets what an input is read by, its column where it is one of the row, and finds its
    /// place.
    init?(
        _ expression: MappingExpression, of entity: String, in layout: StoreLayout, now: Double,
        read: (SQLText, String?) -> InputPlace
    ) {
        value = ComputedValue(expression, of: entity, in: layout.model)
        trees = ExpressionEvaluator(TreeObjects(), now: now)
        var types: [AttributeType] = []
        var places: [(variable: String, place: InputPlace)] = []
        if let tree = value.tree {
            guard let input = TreeInput(tree, in: layout) else { return nil }
            types.append(.string)
            places.append(("source", read(input.sql, nil)))
        }
        for (number, keys) in value.inputs.enumerated() {
            guard let input = ComputedInput(keys, of: entity, in: layout) else { return nil }
            types.append(input.type)
            places.append((ComputedValue.name(of: number), read(input.sql, input.column)))
        }
        self.types = types
        self.places = places.map(\.place)
        variables = places.map(\.variable)
        let inputs = Dictionary(
            uniqueKeysWithValues: variables.enumerated().map { ($0.element, $0.offset) })
        program = value.tree == nil ? PlainProgram(value.expression, inputs: inputs, now: now) : nil
    }

    /// Hands a text that the expression gives for a row, or nil for null, to a body.
    ///
    /// `first`: the place of the first further input in the row.
    /// The body is not called for another value, and where an evaluator must decide.
    func withText(_ row: RawRow, first: Int, _ body: (UnsafeRawBufferPointer?) -> Void) {
        let value = program?.value(
            { Self.plain(cell($0, row, first), types[$0]) }, text: { body($0) })
        if value == .null { body(nil) }
    }

    /// The value for a row; nil for null.
    ///
    /// `first`: as above.
    func value(
        _ row: RawRow, first: Int, _ evaluator: ExpressionEvaluator<NoObjects>
    ) throws(ExpressionError) -> DefaultValue? {
        switch program?.value({ Self.plain(cell($0, row, first), types[$0]) }) {
        // Texts that are hashed do not come here.
        case nil, .text?: break
        case let found?: return found.scalar
        }
        if let tree = value.tree {
            let object = try TreeText.object(Array(cell(0, row, first).bytes), tree)
            return try Self.single(
                trees.value(of: value.expression, variables: ["source": .object(object)]))
        }
        var variables: [String: ExpressionValue<Never>] = [:]
        for (number, name) in self.variables.enumerated() {
            variables[name] = Self.value(of: cell(number, row, first), types[number])
        }
        return try Self.single(evaluator.value(of: value.expression, variables: variables))
    }

    /// The cell of an input.
    @inline(__always)
    private func cell(_ input: Int, _ row: RawRow, _ first: Int) -> RawCell {
        switch places[input] {
        case .column(let column): row.cell(column)
        case .further(let number): row.cell(first + number)
        }
    }

    private static func single<Object>(
        _ value: ExpressionValue<Object>
    ) throws(ExpressionError) -> DefaultValue? {
        switch value {
        case .null: return nil
        case .scalar(let scalar): return scalar
        case .object, .collection:
            throw ExpressionError(.evaluation, "the expression gives no single value")
        }
    }

    /// A cell as programs have it; nil for bytes, decimals, texts with a NUL, and texts where the
    /// attribute holds no texts.
    private static func plain(_ cell: RawCell, _ type: AttributeType) -> PlainValue? {
        switch (cell.storageClass, type) {
        case (3, .string): PlainText(input: cell.bytes).map { .text($0) }
        case (5, _): .null
        case (_, .decimal): nil
        case (1, .boolean): .boolean(cell.integer != 0)
        case (2, .boolean): .boolean(cell.real != 0)
        case (1, .double), (1, .float): .real(Double(cell.integer))
        case (1, .date): .date(Double(cell.integer))
        case (1, _): .integer(cell.integer)
        case (2, .date): .date(cell.real)
        case (2, _): .real(cell.real)
        default: nil
        }
    }

    private static func value(
        of cell: RawCell, _ type: AttributeType
    ) -> ExpressionValue<Never> {
        let stored: StoredCell
        switch cell.storageClass {
        case 1: stored = .integer(cell.integer)
        case 2: stored = .real(cell.real)
        case 3: stored = .text(StoredText.string(cell.bytes))
        case 4: stored = .blob(Array(cell.bytes))
        default: return .null
        }
        return .scalar(stored.value(type))
    }
}
