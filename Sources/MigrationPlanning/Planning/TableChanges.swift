import CoreDataStore
import MigrationPlans

/// Something that changes in an entity table.
struct TableChange: Hashable, Sendable {
    /// What changes, in words.
    let text: String
    /// For a rename, what the destination calls it and what is counted of it.
    var renamed: (name: String, noun: String)? {
        name.map { ($0, isRelationship ? "link" : "value") }
    }
    private let name: String?
    private let isRelationship: Bool
    /// Whether a report says it of the entity mapping, and not of the table again.
    private let isOfMapping: Bool

    init(_ text: String) {
        self.text = text
        name = nil
        isRelationship = false
        isOfMapping = false
    }

    /// A property whose value or links an entity mapping computes.
    init(computed key: PropertyKey) {
        text = "\(key) is computed"
        name = nil
        isRelationship = false
        isOfMapping = true
    }

    /// A property that has another name in the source.
    init(_ key: PropertyKey, from source: String, isRelationship: Bool) {
        text = "\(key) ← \(source)"
        name = "\(key)"
        self.isRelationship = isRelationship
        isOfMapping = false
    }

    /// The change with the number of what is renamed, where that was counted; nil for what the
    /// entity mapping says.
    func words(_ counts: [String: Int64]) -> String? {
        guard !isOfMapping else { return nil }
        guard let renamed, let count = counts[renamed.name] else { return text }
        return "\(text), \(count) \(renamed.noun)\(count == 1 ? "" : "s")"
    }
}

/// What changes in the entity tables of a destination.
enum TableChanges {
    /// The changes by destination table; empty for one that is copied as it is.
    static func lines(_ feeds: [Feed], _ context: PlanContext) -> [String: [TableChange]] {
        var changes: [String: [TableChange]] = [:]
        for table in context.destination.tables {
            let fed = feeds.filter { $0.destinationTable == table.name }
            changes[table.name] = lines(of: table, fed, context)
        }
        return changes
    }

    private static func lines(
        of table: TableLayout, _ fed: [Feed], _ context: PlanContext
    ) -> [TableChange] {
        guard let feed = fed.first,
            let source = context.source.tables.first(where: { $0.name == feed.sourceTable })
        else { return [] }
        var changes: [TableChange] = []
        if source.name != table.name { changes.append(TableChange("was \(source.name)")) }
        for other in fed.dropFirst() {
            let rows =
                other.layer == 0
                ? other.sourceTable
                : "objects of \(other.sourceTable) a second time"
            changes.append(TableChange("also takes \(rows), keys moved by \(other.offset)"))
        }
        changes += PropertyChanges(of: table, fed: fed, context: context).lines
        let renumbered = Set(
            feed.entities.filter {
                context.splits.storedNumber(of: $0.sourceNumber) != $0.destinationNumber
            }.map(\.pass)
        ).count
        if renumbered == 1 { changes.append(TableChange("1 entity number changes")) }
        if renumbered > 1 { changes.append(TableChange("\(renumbered) entity numbers change")) }
        return changes
    }
}
