package import CoreDataStore
import ExpressionEvaluation
import ManagedObjectModel
import MappingExpressions
package import MappingModel
package import SafeSQLite
import StoreFileChecks

/// Tells which filters of a mapping hold for rows of a source table.
package struct SplitReader: Sendable {
    private struct Entry: Sendable {
        let entity: String
        let number: Int64
        let filters: [RowExpression]
        let numbers: [Int64: Int64]
    }

    private let entries: [Entry]
    /// What is read of a row beside its number.
    package let inputs: [SQLText]
    private let evaluator: ExpressionEvaluator<NoObjects>

    /// Nil for a table whose rows go the ways of their entities.
    ///
    /// `mapping`, `source`, `now`: as the scope has them.
    /// `splits`: the numbers that stand for masks.
    package init?(
        _ table: String, mapping: Mapping, source: StoreLayout, now: Double, splits: [SourceSplit]
    ) {
        var entries: [Entry] = []
        var inputs: [SQLText] = []
        for split in splits where source.table(of: split.entity)?.name == table {
            guard let number = source.number(of: split.entity) else { continue }
            let filters = mapping.filters(ofSource: split.entity).compactMap { filter in
                RowExpression(filter.sourceExpression, of: split.entity, in: source, now: now) {
                    input, _ in .further(inputs.place(of: input))
                }
            }
            entries.append(
                Entry(
                    entity: split.entity, number: Int64(number), filters: filters,
                    numbers: split.numbers))
        }
        guard !entries.isEmpty else { return nil }
        self.entries = entries
        self.inputs = inputs
        evaluator = ExpressionEvaluator(NoObjects(), now: now)
    }

    /// What a scope says of a table; nil as above.
    package init?(_ table: String, _ scope: ValidationScope) {
        self.init(
            table, mapping: scope.mapping, source: scope.source, now: scope.now,
            splits: scope.splits)
    }

    /// The mask of a row's filters; nil for an entity without any.
    ///
    /// `number`: of the row's entity.
    /// `first`: the place of the first input in the row.
    package func mask(
        _ number: Int64, _ row: RawRow, first: Int, key: Int64
    ) throws(StoreError) -> Int64? {
        guard let entry = entries.first(where: { $0.number == number }) else { return nil }
        var mask: Int64 = 0
        for (bit, filter) in entry.filters.enumerated() {
            do throws(ExpressionError) {
                let value = try filter.value(row, first: first, evaluator)
                if value == .boolean(true) { mask |= 1 << Int64(bit) }
            } catch {
                throw .unsupported(
                    path: "the filter of \(entry.entity)",
                    reason: "it cannot be computed for the object with key \(key): \(error)")
            }
        }
        return mask
    }

    /// The number that says what becomes of a row; nil where nothing is known of such rows.
    ///
    /// `number`: of the row's entity.
    /// `first`: the place of the first input in the row.
    package func number(
        _ number: Int64, _ row: RawRow, first: Int, key: Int64
    ) throws(StoreError) -> Int64? {
        guard let mask = try mask(number, row, first: first, key: key), mask != 0 else {
            return number
        }
        return entries.first { $0.number == number }?.numbers[mask]
    }
}
