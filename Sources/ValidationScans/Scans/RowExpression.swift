import CoreDataStore
import ExpressionEvaluation
import ManagedObjectModel
import MappingExpressions
import MappingModel
import SafeSQLite

/// An expression of a mapping over rows of one source entity.
struct RowExpression: Sendable {
    private let value: ComputedValue
    /// The types of its inputs.
    private let types: [AttributeType]
    /// The variables of its inputs, and their places among the inputs of the pass.
    private let places: [(variable: String, input: Int)]
    /// The expression as steps over its inputs; nil for texts and what else is not plain.
    private let program: PlainProgram?
    /// For an expression that reads a tree of objects.
    private let trees: ExpressionEvaluator<TreeObjects>

    /// Nil for an expression that a plan refuses.
    ///
    /// `now`: what `now()` gives, in seconds since 2001-01-01 00:00:00 UTC.
    /// `inputs`: gets what its inputs are read by.
    init?(
        _ expression: MappingExpression, of entity: String, in layout: StoreLayout, now: Double,
        inputs: inout [SQLText]
    ) {
        value = ComputedValue(expression, of: entity, in: layout.model)
        trees = ExpressionEvaluator(TreeObjects(), now: now)
        var types: [AttributeType] = []
        var places: [(variable: String, input: Int)] = []
        if let tree = value.tree {
            guard let input = TreeInput(tree, in: layout) else { return nil }
            types.append(.string)
            places.append(("source", inputs.firstIndex(of: input.sql) ?? inputs.count))
            if places[0].input == inputs.count { inputs.append(input.sql) }
        }
        for (number, keys) in value.inputs.enumerated() {
            guard let input = ComputedInput(keys, of: entity, in: layout) else { return nil }
            types.append(input.type)
            let known = inputs.firstIndex(of: input.sql)
            if known == nil { inputs.append(input.sql) }
            places.append((ComputedValue.name(of: number), known ?? inputs.count - 1))
        }
        self.types = types
        self.places = places
        program = PlainProgram(
            value.expression,
            inputs: Dictionary(
                uniqueKeysWithValues: places.enumerated().map { ($0.element.variable, $0.offset) }),
            now: now)
    }

    /// The value for a row; nil for none.
    ///
    /// `first`: the place of the first input in the row.
    func value(
        _ row: RawRow, first: Int, _ evaluator: ExpressionEvaluator<NoObjects>
    ) throws(ExpressionError) -> DefaultValue? {
        if let program,
            let plain = program.value({ input in
                Self.plain(row.cell(first + places[input].input), types[input])
            })
        {
            return plain.scalar
        }
        if let tree = value.tree {
            let text = row.cell(first + places[0].input).bytes
            let object = try TreeText.object(Array(text), tree)
            return try Self.single(
                trees.value(of: value.expression, variables: ["source": .object(object)]))
        }
        var variables: [String: ExpressionValue<Never>] = [:]
        for (number, place) in places.enumerated() {
            variables[place.variable] = Self.value(
                of: row.cell(first + place.input), types[number])
        }
        return try Self.single(evaluator.value(of: value.expression, variables: variables))
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

    /// A cell as programs have it; nil for texts, bytes and decimals.
    private static func plain(_ cell: RawCell, _ type: AttributeType) -> PlainValue? {
        switch (cell.storageClass, type) {
        case (5, _): .null
        case (_, .decimal): nil
        case (1, .boolean): .boolean(cell.integer != 0)
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
        case 3: stored = .text(String(decoding: cell.bytes, as: UTF8.self))
        case 4: stored = .blob(Array(cell.bytes))
        default: return .null
        }
        return .scalar(stored.value(type))
    }
}
