package import CoreDataStore
package import MappingModel
package import SafeSQLite

/// Tells whether persistent history can be kept.
package enum HistoryCheck {
    /// Names of the entities that have history although their properties changed or they are
    /// gone: such history cannot be kept.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    package static func changedEntities(
        in source: Connection, layout: StoreLayout, mapping: Mapping
    ) throws(StoreError) -> [String] {
        var names: [String] = []
        let list = try source.prepare("SELECT DISTINCT ZENTITY FROM ACHANGE ORDER BY 1")
        while try list.step() {
            let number = list.integer(0)
            guard number >= 1, number <= Int64(layout.entityOrder.count) else { continue }
            let name = layout.entityOrder[Int(number) - 1]
            let isSame = mapping.entityMappings.contains {
                $0.source == name && $0.kind == .copy
            }
            if !isSame { names.append(name) }
        }
        return names
    }
}
