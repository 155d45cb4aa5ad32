import CoreDataStore
import ManagedObjectModel
package import SafeSQLite

/// Computed cells as SQL: by SQL where that says the same, else by a function.
package struct ComputedSQL {
    private let cells: [ComputedCell]

    /// - Parameter cells: a plan's computed cells, by whose places the functions of values know
    ///   them.
    package init(cells: [ComputedCell]) { self.cells = cells }

    /// The value of a cell for a row; a function call fails where the value may not be.
    ///
    /// - Parameters:
    ///   - cell: one of the plan's.
    ///   - row: of the source.
    /// - Returns: an expression that fails for a cell that the plan does not list.
    package func expression(_ cell: ComputedCell, of row: SourceRow) -> SQLText {
        let values = ValueSQL(cell, of: row)
        let number = cells.firstIndex(of: cell) ?? -1
        let checked = { (value: SQLText, isInteger: Bool) -> SQLText in
            let kind: SQLText = isInteger ? "1" : "0"
            let check: SQLText =
                "\(.name(of: ValueFunction.checkName))"
                + "(\(number), \(row.name).Z_PK, \(kind), \(value))"
            return Self.sparing(check, value, isInteger: isInteger, cell)
        }
        let plain = values.expression(checked: checked)
        if let plain, !values.computesReals { return plain }
        let arguments: [SQLText] = ["\(number)", "\(row.name).Z_PK"] + values.inputs
        let call: SQLText =
            "\(.name(of: ValueFunction.name))(\(arguments.joined(separator: ", ")))"
        if let plain {
            return "CASE WHEN \(Self.isDoubtful(plain, values.inputs)) THEN \(call) "
                + "ELSE \(plain) END"
        }
        if let conversion = ConversionSQL(cell, of: row) {
            return "CASE WHEN \(conversion.isPlain) THEN \(conversion.value) ELSE \(call) END"
        }
        return call
    }

    /// Whether a real number that was computed is infinite, or may be none: an evaluation refuses
    /// both.
    private static func isDoubtful(_ value: SQLText, _ inputs: [SQLText]) -> SQLText {
        let most = SQLText.literal(.real(.greatestFiniteMagnitude)) ?? "0"
        let isMissing: [SQLText] = ["\(value) IS NULL"] + inputs.map { "\($0) IS NOT NULL" }
        return "abs(\(value)) > \(most) OR (\(isMissing.joined(separator: " AND ")))"
    }

    /// A value that calls its check only where SQL does not see at once that it is right: the call
    /// costs more than the row.
    private static func sparing(
        _ check: SQLText, _ value: SQLText, isInteger: Bool, _ cell: ComputedCell
    ) -> SQLText {
        // The value stands there twice, and paths are read twice then.
        guard cell.inputs.allSatisfy(\.steps.isEmpty) else { return check }
        if isInteger {
            let range = cell.type.integerRange ?? Int64.min...Int64.max
            return "CASE WHEN typeof(\(value)) = 'integer' AND \(value) BETWEEN "
                + "\(range.lowerBound) AND \(range.upperBound) THEN \(value) ELSE \(check) END"
        }
        switch cell.type {
        case .double, .float, .decimal:
            let greatest = Double.greatestFiniteMagnitude
            guard let least = SQLText.literal(.real(-greatest)),
                let most = SQLText.literal(.real(greatest))
            else { return check }
            return "CASE WHEN \(value) BETWEEN \(least) AND \(most) THEN \(value) "
                + "ELSE \(check) END"
        default: return "ifnull(\(value), \(check))"
        }
    }
}
