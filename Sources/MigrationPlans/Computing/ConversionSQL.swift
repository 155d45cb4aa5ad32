import ManagedObjectModel
import MappingExpressions
import MappingModel
import SafeSQLite

/// Conversions of stored values that SQL sees at once are right: the others are left to Swift.
struct ConversionSQL {
    /// A test of the stored value; false or NULL for one that Swift must convert.
    let isPlain: SQLText
    /// What the cell holds where the test is true.
    let value: SQLText

    /// Nil for what is no conversion of an attribute's own value, and for types without a test.
    init?(_ cell: ComputedCell, of row: SourceRow) {
        var expression = cell.value.expression
        if case .attempt(let first, _) = expression { expression = first }
        guard case .conversion(.type(let type, nil), .variable(let name)) = expression,
            type == cell.type, let number = ComputedValue.input(named: name),
            cell.inputs.indices.contains(number), cell.inputs[number].steps.isEmpty
        else { return nil }
        let input = cell.inputs[number]
        let found = Self.test(of: input.sql(from: row), input.valueType, as: type)
        guard let found else { return nil }
        (isPlain, value) = found
    }

    private static func test(
        of column: SQLText, _ before: AttributeType, as type: AttributeType
    ) -> (isPlain: SQLText, value: SQLText)? {
        let isNumber =
            switch before {
            case .integer16, .integer32, .integer64, .double, .float, .decimal, .date: true
            default: false
            }
        let isInteger: SQLText = "typeof(\(column)) = 'integer'"
        switch type {
        case .integer16, .integer32, .integer64:
            let range = type.integerRange ?? Int64.min...Int64.max
            let bounds: SQLText = "BETWEEN \(range.lowerBound) AND \(range.upperBound)"
            if isNumber {
                // Beyond them, an integer in a column of reals is read as another number.
                let held: SQLText =
                    [.double, .float, .date].contains(before)
                    ? " AND \(column) BETWEEN \(-(1 << 53)) AND \(1 << 53)" : ""
                return ("\(isInteger) AND \(column) \(bounds)\(held)", column)
            }
            guard before == .string else { return nil }
            let whole: SQLText = "CAST(\(column) AS INTEGER)"
            let isSame: SQLText = "CAST(\(whole) AS TEXT) = \(column)"
            return (
                "typeof(\(column)) = 'text' AND \(isSame) AND \(whole) \(bounds)", whole
            )
        case .double, .date:
            guard isNumber else { return nil }
            // Integers that real numbers tell apart.
            let most: Int64 = 1 << 53
            let held: SQLText = "\(column) BETWEEN \(-most) AND \(most)"
            return (
                "typeof(\(column)) IN ('integer', 'real') AND \(held)",
                "CAST(\(column) AS REAL)"
            )
        case .string where isNumber && before != .date && before != .decimal:
            return (isInteger, "CAST(\(column) AS TEXT)")
        default: return nil
        }
    }
}
