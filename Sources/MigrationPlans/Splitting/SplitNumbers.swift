package import SafeSQLite

/// The numbers that say what becomes of source rows, as SQL: an entity's, or a variant's.
package struct SplitNumbers {
    private let splits: [EntitySplit]
    private let values: ComputedSQL

    /// - Parameters:
    ///   - splits: of a plan.
    ///   - cells: the plan's computed cells, by whose places the function of values knows them.
    package init(_ splits: [EntitySplit], cells: [ComputedCell]) {
        self.splits = splits
        values = ComputedSQL(cells: cells)
    }

    /// Whether filters decide what becomes of objects that may stand at an end of links.
    package func splits(_ end: RelationEnd) -> Bool { splits.decide(on: end) }

    /// The number of a row.
    ///
    /// - Parameters:
    ///   - row: of the table.
    ///   - table: of the source.
    /// - Returns: the row's own `Z_ENT` for a table without splits.
    package func number(of row: SourceRow, in table: String) -> SQLText {
        let stored: SQLText = "\(row.name).Z_ENT"
        let found = splits.filter { $0.table == table }
        guard !found.isEmpty else { return stored }
        if found.count == 1, found[0].isAlone {
            // A row that a look-up did not find has no number.
            return
                "CASE WHEN \(row.name).Z_PK IS NOT NULL THEN \(number(of: row, in: found[0])) END"
        }
        let cases = found.map { "WHEN \($0.number) THEN \(number(of: row, in: $0))" as SQLText }
        return "CASE \(stored) \(cases.joined(separator: " ")) ELSE \(stored) END"
    }

    private func number(of row: SourceRow, in split: EntitySplit) -> SQLText {
        guard !split.variants.isEmpty else { return "\(split.number)" }
        let cases = split.variants.map { "WHEN \($0.mask) THEN \($0.number)" as SQLText }
        return "CASE \(mask(of: row, split.filters)) \(cases.joined(separator: " ")) "
            + "ELSE \(split.number) END"
    }

    /// The mask of a row: bit n is filter n.
    package func mask(of row: SourceRow, _ filters: [ComputedCell]) -> SQLText {
        filters.enumerated().map { bit, filter in
            "\(Int64(1) << Int64(bit)) * (\(values.expression(filter, of: row)))" as SQLText
        }.joined(separator: " + ")
    }
}
