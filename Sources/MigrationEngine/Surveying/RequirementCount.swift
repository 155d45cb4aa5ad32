import CoreDataStore
import ManagedObjectModel
import MappingModel

/// Counts how often the data of a source break what a mapping asks of them.
struct RequirementCount {
    let layout: StoreLayout
    let mapping: Mapping
    let dangling: DanglingPolicy
    let connection: Connection

    /// - Returns: the count that `DataRequirement` documents for the requirement.
    /// - Throws: `StoreError` with SQLite's reason.
    func count(_ requirement: DataRequirement) throws(StoreError) -> Int64 {
        guard let sql = sql(requirement) else { return 0 }
        return try connection.integer(sql) ?? 0
    }

    private func sql(_ requirement: DataRequirement) -> String? {
        switch requirement {
        case .noObjects(let entity, _):
            return rows(of: entity).map { "SELECT count(*) FROM \($0)" }
        case .noMissingValue(let source, _):
            guard let column = column(source), let rows = rows(of: source.entity) else {
                return nil
            }
            return "SELECT count(*) FROM \(rows) AND \(column) IS NULL"
        case .atMostOne(let source, _):
            return links(source).map {
                "SELECT count(*) FROM (SELECT 1 FROM (\($0)) GROUP BY o HAVING count(*) > 1)"
            }
        case .linkCount(let source, _, let bounds):
            guard let links = links(source), let table = layout.table(of: source.entity)?.name,
                let number = layout.number(of: source.entity)
            else { return nil }
            var conditions = [
                bounds.allowsNone
                    ? "n > 0 AND n < \(bounds.atLeast)" : "n < \(bounds.atLeast)"
            ]
            if let most = bounds.atMost { conditions.append("n > \(most)") }
            return "SELECT count(*) FROM (SELECT count(l.o) AS n FROM \(SQLText.quoted(table)) e "
                + "LEFT JOIN (\(links)) l ON l.o = e.Z_PK WHERE e.Z_ENT = \(number) "
                + "GROUP BY e.Z_PK) WHERE \(conditions.joined(separator: " OR "))"
        case .distinctTargets(_, let destination): return sharedTargets(destination)
        case .noTargets(let source, _, let entities):
            return linksTo(entities, from: source)
        case .unique(let entity, let attributes):
            return duplicates(entity, attributes)
        }
    }

    /// `table WHERE Z_ENT = n`.
    private func rows(of entity: String) -> String? {
        guard let table = layout.table(of: entity)?.name, let number = layout.number(of: entity)
        else { return nil }
        return "\(SQLText.quoted(table)) WHERE Z_ENT = \(number)"
    }

    private func column(_ property: PropertyReference) -> String? {
        for owner in layout.model.ancestry(of: property.entity) {
            let key = PropertyKey(owner.name, property.property)
            if let found = layout.column(.attribute(key)) {
                return SQLText.quoted(found.column.name)
            }
        }
        return nil
    }

    /// Links of objects of exactly one entity: owner `o`, target `t`, in source keys.
    ///
    /// - Parameters:
    ///   - property: a relationship of the entity.
    ///   - countsMissing: whether links of owners that are gone count, if they are kept.
    /// - Returns: nil for a relationship that the layout does not have.
    private func links(_ property: PropertyReference, countsMissing: Bool = false) -> String? {
        guard
            let owner = layout.model.relationship(property.property, of: property.entity)?.owner,
            let number = layout.number(of: property.entity),
            let table = layout.table(of: property.entity)?.name
        else { return nil }
        let name = SQLText.quoted(table)
        let own =
            countsMissing && dangling == .keep
            ? "LEFT JOIN \(name) e ON e.Z_PK = o WHERE t IS NOT NULL AND o IS NOT NULL "
                + "AND ifnull(e.Z_ENT, \(number)) = \(number)"
            : "JOIN \(name) e ON e.Z_PK = o AND e.Z_ENT = \(number)"
        switch layout.storage(of: PropertyKey(owner.name, property.property)) {
        case .ownerColumn(let table, let key, _, _):
            return "SELECT Z_PK AS o, \(SQLText.quoted(key)) AS t FROM \(SQLText.quoted(table)) "
                + "WHERE Z_ENT = \(number) AND \(SQLText.quoted(key)) IS NOT NULL"
        case .targetColumn(let table, let key, _, _):
            return "SELECT o, t FROM (SELECT \(SQLText.quoted(key)) AS o, Z_PK AS t "
                + "FROM \(SQLText.quoted(table))) \(own)"
        case .join(let table, let ownerColumn, let targetColumn, _, _):
            return "SELECT o, t FROM (SELECT \(SQLText.quoted(ownerColumn)) AS o, "
                + "\(SQLText.quoted(targetColumn)) AS t FROM \(SQLText.quoted(table))) \(own)"
        }
    }

    /// Objects that more than one link leads to, over all sources of a destination relationship.
    ///
    /// Their rows hold the links: what is not there cannot get two.
    private func sharedTargets(_ property: PropertyReference) -> String? {
        guard
            let owner = destinationModel.relationship(property.property, of: property.entity)?
                .owner.name
        else { return nil }
        var parts: [String] = []
        for entityMapping in mapping.entityMappings {
            guard let from = entityMapping.source, let to = entityMapping.destination,
                isKind(to, of: owner),
                let name = entityMapping.relationships.first(where: {
                    $0.destination == property.property
                })?.source,
                let target = layout.model.relationship(name, of: from)?.relationship.destination,
                let table = layout.table(of: target)?.name,
                let links = links(
                    PropertyReference(entity: from, property: name), countsMissing: true)
            else { continue }
            let owner = layout.table(of: from)?.name ?? ""
            parts.append(
                "SELECT \(SQLText.text(table)) AS place, t, \(SQLText.text(owner)) AS source, o "
                    + "FROM (\(links)) WHERE t IN (SELECT Z_PK FROM \(SQLText.quoted(table)))")
        }
        guard !parts.isEmpty else { return nil }
        return "SELECT count(*) FROM (SELECT 1 FROM (\(parts.joined(separator: " UNION "))) "
            + "GROUP BY place, t HAVING count(*) > 1)"
    }

    private func linksTo(_ entities: [String], from source: PropertyReference) -> String? {
        guard let links = links(source),
            let relationship = layout.model.relationship(source.property, of: source.entity)?
                .relationship,
            let table = layout.table(of: relationship.destination)?.name
        else { return nil }
        let numbers = entities.compactMap { layout.number(of: $0).map(String.init) }
        return "SELECT count(*) FROM (\(links)) l JOIN \(SQLText.quoted(table)) x "
            + "ON x.Z_PK = l.t AND x.Z_ENT IN (\(numbers.joined(separator: ", ")))"
    }

    /// Objects that equal an earlier one in the attributes of a destination entity, wherever
    /// they come from.
    private func duplicates(_ entity: String, _ attributes: [String]) -> String? {
        var parts: [String] = []
        for entityMapping in mapping.entityMappings {
            guard let from = entityMapping.source, let to = entityMapping.destination,
                isKind(to, of: entity), let rows = rows(of: from)
            else { continue }
            let values = attributes.enumerated().map { place, name in
                let mapped = entityMapping.attributes.first { $0.destination == name }
                return "\(value(mapped?.value, of: from)) AS v\(place)"
            }
            parts.append("SELECT \(values.joined(separator: ", ")) FROM \(rows)")
        }
        guard !parts.isEmpty else { return nil }
        let names = attributes.indices.map { "v\($0)" }
        let present = names.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
        return "SELECT coalesce(sum(n - 1), 0) FROM (SELECT count(*) AS n FROM "
            + "(\(parts.joined(separator: " UNION ALL "))) WHERE \(present) "
            + "GROUP BY \(names.joined(separator: ", ")))"
    }

    private func value(_ value: ValueExpression?, of entity: String) -> String {
        let source = { (name: String) in
            column(PropertyReference(entity: entity, property: name)) ?? "NULL"
        }
        switch value {
        case .source(let name): return source(name)
        case .sourceOrDefault(let name, let fallback):
            return "ifnull(\(source(name)), \(SQLText.literal(fallback) ?? "NULL"))"
        case .constant(let constant): return SQLText.literal(constant) ?? "NULL"
        case .null, nil: return "NULL"
        }
    }

    private func isKind(_ entity: String, of other: String) -> Bool {
        destinationModel.isKind(entity, of: other)
    }

    /// The model that the requirement's entity belongs to.
    let destinationModel: Model
}
