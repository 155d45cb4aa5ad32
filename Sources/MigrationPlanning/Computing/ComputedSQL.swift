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
        let checked = values.expression { value, isInteger in
            let kind: SQLText = isInteger ? "1" : "0"
            return "\(.name(of: ValueFunction.checkName))"
                + "(\(number), \(row.name).Z_PK, \(kind), \(value))"
        }
        if let checked { return checked }
        let arguments: [SQLText] = ["\(number)", "\(row.name).Z_PK"] + values.inputs
        return "\(.name(of: ValueFunction.name))(\(arguments.joined(separator: ", ")))"
    }
}
