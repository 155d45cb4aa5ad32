import CoreDataStore
import ManagedObjectModel
import MappingExpressions
import MappingModel
import MigrationPlans

/// What becomes of the entities and properties of one destination table, in words: renames as
/// `Note.text ← body`, new ones as `+ Note.color`, those that go as `- Note.body`.
struct PropertyChanges {
    private let context: PlanContext
    private let fed: [Feed]
    private(set) var lines: [TableChange] = []

    init(of table: TableLayout, fed: [Feed], context: PlanContext) {
        self.context = context
        self.fed = fed
        for pass in Set(fed.flatMap(\.entities).map(\.pass)).sorted() {
            let mapping = context.mapping.entityMappings[pass]
            guard let from = mapping.source, let to = mapping.destination else { continue }
            let filter = mapping.filter.map { " where \($0.text)" } ?? ""
            if from != to || !filter.isEmpty {
                lines.append(TableChange("\(to) ← \(from)\(filter)"))
            }
        }
        for column in table.columns {
            let key = column.role.key
            switch change(of: column.role) {
            case .isNew: lines.append(TableChange("+ \(key)"))
            case .isRenamed(let source):
                var isRelationship = true
                if case .attribute = column.role { isRelationship = false }
                lines.append(TableChange(key, from: source, isRelationship: isRelationship))
            case .isComputed: lines.append(TableChange(computed: key))
            case .isKept, nil: continue
            }
        }
        lines += lost.map { TableChange("- \($0)") }
    }

    private enum Change {
        case isNew, isKept
        case isRenamed(String)
        case isComputed
    }

    private var mappings: [EntityMapping] {
        Set(fed.flatMap(\.entities).map(\.pass)).sorted().map {
            context.mapping.entityMappings[$0]
        }
    }

    /// Nil for columns that are no property of their own.
    private func change(of role: ColumnRole) -> Change? {
        let key = role.key
        let sources: [String]
        switch role {
        case .attribute:
            if mappings.contains(where: { $0.expression(of: key.property) != nil }) {
                return .isComputed
            }
            sources = mappings.flatMap { $0.attributeSources(of: key.property) }
        case .toOne:
            if mappings.contains(where: { $0.path(of: key.property) != nil }) {
                return .isComputed
            }
            sources = mappings.compactMap { $0.relationshipSource(of: key.property) }
            if sources.isEmpty, hasInverseSource(key) { return .isKept }
        case .hiddenKey:
            // Objects of other tables have the relationship.
            return hasSource(key) ? .isKept : .isNew
        case .toOneEntity, .order, .hiddenOrder: return nil
        }
        guard !sources.isEmpty else { return .isNew }
        let others = Set(sources).subtracting([key.property]).sorted()
        return others.isEmpty ? .isKept : .isRenamed(others.joined(separator: ", "))
    }

    private func hasSource(_ key: PropertyKey) -> Bool {
        context.mapping.entityMappings.contains { mapped in
            mapped.destination.map { context.destination.model.isKind($0, of: key.entity) } == true
                && mapped.relationshipSource(of: key.property) != nil
        }
    }

    private func hasInverseSource(_ key: PropertyKey) -> Bool {
        let model = context.destination.model
        guard let found = model.relationship(key.property, of: key.entity)?.relationship,
            let inverse = model.inverse(of: found)
        else { return false }
        return hasSource(PropertyKey(inverse.owner.name, inverse.relationship.name))
    }

    /// Properties of the source tables that no entity mapping reads.
    private var lost: [PropertyKey] {
        let tables = Set(fed.map(\.sourceTable))
        return context.source.tables.filter { tables.contains($0.name) }.flatMap(\.columns)
            .compactMap { column in
                let key = column.role.key
                switch column.role {
                case .attribute:
                    return isRead(key, { $0.readsAttribute(key.property) }) ? nil : key
                case .toOne, .hiddenKey:
                    let inverse = context.source.model.relationship(key.property, of: key.entity)
                        .flatMap { context.source.model.inverse(of: $0.relationship) }
                    let isInverseRead = inverse.map { inverse in
                        let name = inverse.relationship.name
                        return isRead(
                            PropertyKey(inverse.owner.name, name), { $0.readsRelationship(name) })
                    }
                    return isInverseRead == true
                        || isRead(key, { $0.readsRelationship(key.property) }) ? nil : key
                case .toOneEntity, .order, .hiddenOrder: return nil
                }
            }
    }

    private func isRead(_ key: PropertyKey, _ reads: (EntityMapping) -> Bool) -> Bool {
        context.mapping.entityMappings.contains { mapped in
            mapped.destination != nil && reads(mapped)
                && mapped.source.map { context.source.model.isKind($0, of: key.entity) } == true
        }
    }
}
