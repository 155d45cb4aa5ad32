import CoreDataStore
import ManagedObjectModel
import MappingModel
package import SafeSQLite

/// Cells and selections as SQL over a source attached as `src`, whose row is called `s`.
package struct CellSQL {
    private let dangling: DanglingPolicy
    /// What becomes of the rows of split entities.
    package let numbers: SplitNumbers
    private let computed: ComputedSQL
    /// The number of the row: its entity's, or a variant's.
    private let rowNumber: SQLText

    /// - Parameters:
    ///   - plan: of the store.
    ///   - rowNumber: where the row's number stands; its own `Z_ENT` for a table without splits.
    package init(_ plan: MigrationPlan, rowNumber: SQLText = "s.Z_ENT") {
        dangling = plan.options.dangling
        let cells = plan.computedCells
        numbers = SplitNumbers(plan.splits, cells: cells)
        computed = ComputedSQL(cells: cells)
        self.rowNumber = rowNumber
    }

    /// The expression of a column that gives rows of different entities different cells.
    ///
    /// - Parameters:
    ///   - column: with its cells.
    ///   - entities: numbers of the entities whose rows are read; a single cell that covers them
    ///     all needs no condition.
    /// - Returns: the expression; `NULL` for a column without cells.
    /// - Throws: `EngineError.internalError` for a default that SQL cannot write.
    package func expression(
        _ column: FeedColumn, entities: Set<Int64>
    ) throws(EngineError) -> SQLText {
        guard let first = column.cells.first else { return "NULL" }
        if column.cells.count == 1, Set(first.sourceNumbers).isSuperset(of: entities) {
            return try expression(first.cell)
        }
        var cases: SQLText = ""
        for entry in column.cells {
            cases += " WHEN \(rowNumber) \(Self.membership(entry.sourceNumbers)) "
            cases += "THEN \(try expression(entry.cell))"
        }
        return "CASE\(cases) END"
    }

    /// The expression of one cell.
    ///
    /// - Throws: `EngineError.internalError` for a default that SQL cannot write.
    package func expression(_ cell: Cell) throws(EngineError) -> SQLText {
        switch cell {
        case .column(let name): return Self.column(name)
        case .columnOrDefault(let name, let value):
            return "ifnull(\(Self.column(name)), \(try Self.literal(value)))"
        case .constant(let value): return try Self.literal(value)
        case .computed(let cell): return computed.expression(cell, of: .attached("s"))
        case .addingPrefix(let name):
            // Joining blobs gives text of the same bytes; the cast makes it a blob again.
            let value = Self.column(name)
            return "CASE WHEN typeof(\(value)) = 'blob' "
                + "THEN CAST(x'01' || \(value) AS BLOB) ELSE \(value) END"
        case .removingPrefix(let name):
            let value = Self.column(name)
            // What has neither prefix was there before the flag was, and stays as it is.
            return "CASE WHEN typeof(\(value)) <> 'blob' THEN \(value) "
                + "WHEN substr(\(value), 1, 1) = x'01' THEN substr(\(value), 2) "
                + "WHEN substr(\(value), 1, 1) = x'02' "
                + "THEN \(.name(of: ExternalDataFunction.name))(\(value)) ELSE \(value) END"
        case .key(let value, let entity, let table, let targets):
            let own = self.value(value)
            // What a look-up does not find has no place.
            var isLookedUp = false
            if case .number(let path, _) = entity { isLookedUp = !path.steps.isEmpty }
            let moved = key(own, entity.map(self.value), targets, isLookedUp: isLookedUp)
            return existing(moved, key: own, table: table, targets: targets)
        case .entityNumber(let value, let entity, let table, let targets):
            let own = self.value(value)
            let number = entityNumber(own, entity.map(self.value), targets)
            return existing(number, key: own, table: table, targets: targets)
        }
    }

    /// A key moved by its target's offset; NULL for targets that are dropped and for keys that
    /// would become another object's.
    ///
    /// `isLookedUp`: whether the entity is that of the target's row, and not of a column.
    package func key(
        _ key: SQLText, _ entity: SQLText?, _ targets: [Target], isLookedUp: Bool = false
    ) -> SQLText {
        let offset = isLookedUp ? nil : targets.commonOffset
        return Self.guarded(movedKey(key, entity, targets, by: offset), key, targets)
    }

    private static func guarded(
        _ expression: SQLText, _ key: SQLText, _ targets: [Target]
    ) -> SQLText {
        let conditions = targets.keys.conditions(on: key)
        guard !conditions.isEmpty else { return expression }
        return "CASE WHEN \(conditions.joined(separator: " AND ")) THEN \(expression) END"
    }

    private func movedKey(
        _ key: SQLText, _ entity: SQLText?, _ targets: [Target], by offset: Int64?
    ) -> SQLText {
        if let offset { return Self.moved(key, by: offset) }
        guard let entity else { return "NULL" }
        let cases = targets.compactMap { target in
            target.place.map { place in
                "WHEN \(target.sourceNumber) THEN \(Self.moved(key, by: place.offset))" as SQLText
            }
        }
        return cases.isEmpty ? "NULL" : "CASE \(entity) \(cases.joined(separator: " ")) END"
    }

    /// The destination's number of a target's entity; NULL for targets that are dropped.
    package func entityNumber(_ key: SQLText, _ entity: SQLText?, _ targets: [Target]) -> SQLText {
        Self.guarded(number(key, entity, targets), key, targets)
    }

    /// An entity column that names none of the targets stays as it is, as long as the numbers
    /// stay; where they change, it would name another entity and becomes NULL.
    private func number(_ key: SQLText, _ entity: SQLText?, _ targets: [Target]) -> SQLText {
        guard let entity else {
            guard let number = targets.commonNumber else { return "NULL" }
            return "CASE WHEN \(key) IS NOT NULL THEN \(number) END"
        }
        if targets.allSatisfy({ $0.place?.number == $0.sourceNumber }) { return entity }
        let cases = targets.compactMap { target in
            target.place.map { "WHEN \(target.sourceNumber) THEN \($0.number)" as SQLText }
        }
        return cases.isEmpty ? "NULL" : "CASE \(entity) \(cases.joined(separator: " ")) END"
    }

    /// The expression, or NULL where the target's row is gone and the user wants that.
    private func existing(
        _ expression: SQLText, key: SQLText, table: String, targets: [Target]
    ) -> SQLText {
        guard dangling == .nullify else { return expression }
        return "CASE WHEN \(exists(key, table, targets)) THEN \(expression) END"
    }

    /// Whether a target's row is there, of an entity that is carried over.
    package func exists(_ key: SQLText, _ table: String, _ targets: [Target]) -> SQLText {
        let number = numbers.number(of: .attached("x"), in: table)
        let conditions: [SQLText] = ["x.Z_PK = \(key)", Self.kept(number, targets)].compactMap {
            $0
        }
        return "EXISTS (SELECT 1 FROM src.\(SQLText.quoted(table)) x "
            + "WHERE \(conditions.joined(separator: " AND ")))"
    }

    /// The condition that a row's entity is carried over; nil where every row's is.
    package static func kept(_ entity: SQLText, _ targets: [Target]) -> SQLText? {
        let kept = targets.filter { $0.place != nil }
        if kept.count == 1, kept[0].isAlone { return nil }
        return "\(entity) \(membership(kept.map(\.sourceNumber)))"
    }

    private func value(_ value: KeyValue) -> SQLText {
        switch value {
        case .column(let name): return Self.column(name)
        case .path(let path): return path.sql(from: .attached("s"))
        case .number(let path, let table):
            if path.steps.isEmpty { return rowNumber }
            return path.sql(from: .attached("s")) { numbers.number(of: $0, in: table) }
        }
    }

    /// A column of the row.
    package static func column(_ name: String) -> SQLText { "s.\(SQLText.quoted(name))" }

    /// A key moved by an offset.
    package static func moved(_ key: SQLText, by offset: Int64) -> SQLText {
        offset == 0 ? key : "\(key) + \(offset)"
    }

    /// `= n` or `IN (…)`.
    package static func membership(_ numbers: [Int64]) -> SQLText {
        if numbers.count == 1, let only = numbers.first { return "= \(only)" }
        return "IN (\(.list(numbers.sorted())))"
    }

    private static func literal(_ value: DefaultValue) throws(EngineError) -> SQLText {
        guard let literal = SQLText.literal(value) else {
            throw .internalError("a default value is no number that a column can hold")
        }
        return literal
    }
}
