package import CoreDataStore
import ManagedObjectModel
package import MappingModel
package import SafeSQLite
import StoreFileChecks
package import ValidationScans

/// Finds out which filters of a mapping hold for the objects of a source, without a plan.
package enum SplitSearch {
    /// Every combination of filters that holds for some object.
    ///
    /// - Parameters:
    ///   - source: a connection to the source.
    ///   - layout: of the source.
    ///   - mapping: from the source.
    /// - Returns: one for each entity with filters.
    /// - Throws: `StoreError` for a filter that cannot be computed, and with SQLite's reason.
    /// - Complexity: reads each table of an entity with filters once.
    package static func splits(
        in source: Connection, layout: StoreLayout, mapping: Mapping
    ) throws(StoreError) -> [SourceSplit] {
        var next = Int64(layout.entityOrder.count)
        var found: [SourceSplit] = []
        for entity in layout.entityOrder where !mapping.filters(ofSource: entity).isEmpty {
            guard let table = layout.table(of: entity), let number = layout.number(of: entity),
                let reader = SplitReader(
                    table.name, mapping: mapping, source: layout, now: 0,
                    splits: [SourceSplit(entity: entity, numbers: [:])])
            else { continue }
            let only = layout.onlyEntity(of: table)
            let list = SelectList(["Z_PK", "Z_ENT"])
            let rows = try source.prepare(
                list.sql(table: table.name, key: "Z_PK", range: .all, extra: reader.inputs))
            var masks: Set<Int64> = []
            while try rows.step() {
                guard (only ?? rows.integer(1)) == Int64(number) else { continue }
                let mask = try reader.mask(
                    Int64(number), RawRow(rows), first: list.names.count, key: rows.integer(0))
                if let mask, mask != 0 { masks.insert(mask) }
            }
            var numbers: [Int64: Int64] = [:]
            for mask in masks.sorted() {
                next += 1
                numbers[mask] = next
            }
            found.append(SourceSplit(entity: entity, numbers: numbers))
        }
        return found
    }
}
