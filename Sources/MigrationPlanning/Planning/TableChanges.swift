import CoreDataStore

/// What changes in the entity tables of a destination, in words.
enum TableChanges {
    /// The changes by destination table; empty for one that is copied as it is.
    static func lines(_ feeds: [Feed], _ context: PlanContext) -> [String: [String]] {
        var changes: [String: [String]] = [:]
        for table in context.destination.tables {
            let fed = feeds.filter { $0.destinationTable == table.name }
            changes[table.name] = lines(of: table, fed, context)
        }
        return changes
    }

    private static func lines(
        of table: TableLayout, _ fed: [Feed], _ context: PlanContext
    ) -> [String] {
        guard let feed = fed.first,
            let source = context.source.tables.first(where: { $0.name == feed.sourceTable })
        else { return [] }
        var changes: [String] = []
        if source.name != table.name { changes.append("was \(source.name)") }
        for other in fed.dropFirst() {
            changes.append("also takes \(other.sourceTable), keys moved by \(other.offset)")
        }
        changes += PropertyChanges(of: table, fed: fed, context: context).lines
        let renumbered = feed.entities.filter { $0.sourceNumber != $0.destinationNumber }.count
        if renumbered == 1 { changes.append("1 entity number changes") }
        if renumbered > 1 { changes.append("\(renumbered) entity numbers change") }
        return changes
    }
}
