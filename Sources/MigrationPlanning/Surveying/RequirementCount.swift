import CoreDataStore
import ManagedObjectModel
import MappingModel
import MigrationPlans
import SafeSQLite

/// Counts how often the data of a source break what a mapping asks of them.
struct RequirementCount {
    let layout: StoreLayout
    let mapping: Mapping
    let dangling: DanglingPolicy
    let connection: Connection
    /// Source entities whose objects filters tell apart.
    let splits: [EntitySplit]

    /// - Returns: the count that `DataRequirement` documents for the requirement.
    /// - Throws: `StoreError` with SQLite's reason.
    func count(_ requirement: DataRequirement) throws(StoreError) -> Int64 {
        guard let sql = sql(requirement) else { return 0 }
        return try connection.integer(sql) ?? 0
    }

    /// Looks for an object that breaks a requirement, where one object does so alone.
    ///
    /// - Returns: the one with the lowest key; nil where none is known.
    /// - Throws: `StoreError` with SQLite's reason.
    func example(_ requirement: DataRequirement, store: String) throws(StoreError) -> ObjectURI? {
        guard let (entity, rows) = objects(requirement),
            let key = try connection.integer("SELECT min(Z_PK) FROM \(rows)")
        else { return nil }
        return ObjectURI(store: store, entity: entity, key: key)
    }

    /// The objects that break a requirement each by itself, with their entity, as what follows
    /// `FROM`.
    private func objects(_ requirement: DataRequirement) -> (entity: String, rows: SQLText)? {
        switch requirement {
        case .noObjects(let entity, let reason):
            return rows(of: entity, towards: reason.entity) { reason.concerns($0) }
                .map { (entity, $0) }
        case .noMissingValue(let source, let destination):
            let rows = rows(of: source.entity, towards: destination.entity) { mapped in
                mapped.attributes.contains {
                    $0.destination == destination.property && $0.value == .source(source.property)
                }
            }
            guard let column = column(source), let rows else { return nil }
            return (source.entity, "\(rows) AND \(column) IS NULL")
        case .pathLeads(let entity, let path, let destination, let maker):
            return pathless(entity, path, destination, maker).map { (entity, $0) }
        default: return nil
        }
    }

    private func sql(_ requirement: DataRequirement) -> SQLText? {
        switch requirement {
        case .noObjects, .noMissingValue, .pathLeads:
            return objects(requirement).map { "SELECT count(*) FROM \($0.rows)" }
        case .atMostOne(let source, let destination):
            return links(source, towards: destination.entity).map {
                "SELECT count(*) FROM (SELECT 1 FROM (\($0)) GROUP BY o HAVING count(*) > 1)"
            }
        case .linkCount(let source, let destination, let bounds):
            guard
                let links = arrivingLinks(source, at: destination),
                let table = layout.table(of: source.entity)?.name,
                let isOwner = isOwner(
                    "e", source.entity, towards: destination.entity,
                    where: { $0.readsLinks(of: source) })
            else { return nil }
            var conditions: [SQLText] = [
                bounds.allowsNone
                    ? "n > 0 AND n < \(bounds.atLeast)" : "n < \(bounds.atLeast)"
            ]
            if let most = bounds.atMost { conditions.append("n > \(most)") }
            return "SELECT count(*) FROM (SELECT count(l.o) AS n FROM \(SQLText.quoted(table)) e "
                + "LEFT JOIN (\(links)) l ON l.o = e.Z_PK WHERE \(isOwner) "
                + "GROUP BY e.Z_PK) WHERE \(conditions.joined(separator: " OR "))"
        case .distinctTargets(_, let destination): return sharedTargets(destination)
        case .noTargets(let source, let destination, let entities):
            return linksTo(entities, from: source, towards: destination.entity)
        case .noFilteredTargets(let source, let destination):
            return linksLeftOut(source, destination)
        case .unique(let entity, let attributes):
            return duplicates(entity, attributes)
        }
    }

    /// `table WHERE Z_ENT IN (n)`: rows of exactly one entity, of which a destination entity or one
    /// that inherits from it gets objects.
    func rows(
        of entity: String, towards destination: String,
        where isMeant: (EntityMapping) -> Bool = { _ in true }
    ) -> SQLText? {
        guard let table = layout.table(of: entity)?.name,
            let isOfEntity = isOwner(.quoted(table), entity, towards: destination, where: isMeant)
        else { return nil }
        return "\(SQLText.quoted(table)) WHERE \(isOfEntity)"
    }

    /// Whether a row is of exactly one entity, and is one of which a destination entity or one that
    /// inherits from it gets an object.
    private func isOwner(
        _ row: SQLText, _ entity: String, towards destination: String,
        where isMeant: (EntityMapping) -> Bool = { _ in true }
    ) -> SQLText? {
        guard let isOfEntity = condition("\(row).Z_ENT", [entity]) else { return nil }
        guard let table = layout.table(of: entity)?.name,
            let split = splits.first(where: { $0.entity == entity })
        else { return isOfEntity }
        let taken = split.kinds.filter { kind in
            mapping.entityMappings.contains { mapped in
                mapped.source == entity && mapping.takes(mapped, mask: kind.mask)
                    && mapped.destination.map { isKind($0, of: destination) } == true
                    && isMeant(mapped)
            }
        }
        let number = SplitNumbers(splits, cells: splits.computedCells)
            .number(of: SourceRow(row, schema: ""), in: table)
        return "\(isOfEntity) AND \(number) IN (\(.list(taken.map(\.number))))"
    }

    /// Whether a column names one of these entities of one table; `1` in a table of one entity,
    /// all of whose rows are that entity's; nil for entities that are not known.
    private func condition(_ column: SQLText, _ entities: [String]) -> SQLText? {
        guard let first = entities.first, let table = layout.table(of: first) else { return nil }
        if layout.onlyEntity(of: table) != nil { return "1" }
        return "\(column) IN (\(.list(entities.compactMap { layout.number(of: $0) })))"
    }

    private func column(_ property: PropertyReference) -> SQLText? {
        layout.column(ofAttribute: property.property, of: property.entity)
            .map { SQLText.quoted($0.column.name) }
    }

    /// Links of objects of exactly one entity: owner `o`, target `t`, in source keys.
    ///
    /// - Parameters:
    ///   - property: a relationship of the entity.
    ///   - owners: the destination entity that gets objects of the owners.
    ///   - countsMissing: whether links of owners that are gone count, if they are kept.
    ///   - destination: the relationship that the links become; with it, links that are lost on
    ///     the way do not count.
    /// - Returns: nil for a relationship that the layout does not have.
    func links(
        _ property: PropertyReference, towards owners: String, countsMissing: Bool = false,
        arrivingAt destination: PropertyReference? = nil
    ) -> SQLText? {
        guard
            let (owner, relationship) = layout.model.relationship(
                property.property, of: property.entity),
            let table = layout.table(of: property.entity)?.name,
            let isOwner = isOwner(
                "e", property.entity, towards: owners, where: { $0.readsLinks(of: property) }),
            let rows = rows(
                of: property.entity, towards: owners, where: { $0.readsLinks(of: property) })
        else { return nil }
        let name = SQLText.quoted(table)
        let own: SQLText =
            countsMissing && dangling == .keep
            ? "LEFT JOIN \(name) e ON e.Z_PK = o WHERE t IS NOT NULL AND o IS NOT NULL "
                + "AND (e.Z_PK IS NULL OR \(isOwner))"
            : "JOIN \(name) e ON e.Z_PK = o AND \(isOwner)"
        switch layout.storage(of: PropertyKey(owner.name, property.property)) {
        case .ownerColumn(_, let key, let entityColumn, _):
            var conditions: SQLText = "\(SQLText.quoted(key)) IS NOT NULL"
            if let entityColumn, let destination,
                !allArrive(relationship.destination, at: destination),
                let isNamed = condition(
                    SQLText.quoted(entityColumn),
                    layout.model.family(of: relationship.destination).map(\.name))
            {
                // Nothing tells what else the key belongs to.
                conditions += " AND \(isNamed)"
            }
            return "SELECT Z_PK AS o, \(SQLText.quoted(key)) AS t FROM \(rows) AND \(conditions)"
        case .path: return nil
        case .targetColumn(let table, let key, _, _):
            return "SELECT o, t FROM (SELECT \(SQLText.quoted(key)) AS o, Z_PK AS t "
                + "FROM \(SQLText.quoted(table))) \(own)"
        case .join(let table, let ownerColumn, let targetColumn, _, _):
            return "SELECT o, t FROM (SELECT \(SQLText.quoted(ownerColumn)) AS o, "
                + "\(SQLText.quoted(targetColumn)) AS t FROM \(SQLText.quoted(table))) \(own)"
        }
    }

    /// Whether no target of a source relationship is dropped from a destination relationship.
    private func allArrive(_ entity: String, at destination: PropertyReference) -> Bool {
        guard
            let wanted = destinationModel.relationship(
                destination.property, of: destination.entity)?.relationship.destination
        else { return false }
        return layout.model.family(of: entity).allSatisfy { member in
            mapping.entityMappings.contains { mapped in
                mapped.source == member.name
                    && mapped.destination.map { isKind($0, of: wanted) } == true
            }
        }
    }

    /// Objects that more than one link leads to, over all sources of a destination relationship.
    ///
    /// Their rows hold the links: what is not there cannot get two.
    private func sharedTargets(_ property: PropertyReference) -> SQLText? {
        guard
            let owner = destinationModel.relationship(property.property, of: property.entity)?
                .owner.name
        else { return nil }
        var parts: [SQLText] = []
        for entityMapping in mapping.entityMappings {
            guard let from = entityMapping.source, let to = entityMapping.destination,
                isKind(to, of: owner),
                let name = entityMapping.relationships.first(where: {
                    $0.destination == property.property
                })?.source,
                let target = layout.model.relationship(name, of: from)?.relationship.destination,
                let table = layout.table(of: target)?.name,
                let links = links(
                    PropertyReference(entity: from, property: name), towards: to,
                    countsMissing: true)
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

    /// Links to objects of these entities: to rows of them, and links that name them.
    private func linksTo(
        _ entities: [String], from source: PropertyReference, towards owners: String
    ) -> SQLText? {
        guard let links = links(source, towards: owners),
            let (owner, relationship) = layout.model.relationship(
                source.property, of: source.entity),
            let table = layout.table(of: relationship.destination)?.name
        else { return nil }
        // Of a chain's later step: some of these entities may be where no link leads yet.
        let entities = entities.filter { layout.table(of: $0)?.name == table }
        guard let isForbidden = condition("x.Z_ENT", entities)
        else { return nil }
        let targets: SQLText = "SELECT x.Z_PK FROM \(SQLText.quoted(table)) x WHERE \(isForbidden)"
        guard
            case .ownerColumn(let holder, let key, let entityColumn?, _) = layout.storage(
                of: PropertyKey(owner.name, source.property)),
            let isNamed = condition("s.\(SQLText.quoted(entityColumn))", entities),
            let isOwner = isOwner(
                "s", source.entity, towards: owners, where: { $0.readsLinks(of: source) })
        else { return "SELECT count(*) FROM (\(links)) l WHERE l.t IN (\(targets))" }
        let column: SQLText = "s.\(SQLText.quoted(key))"
        return "SELECT count(*) FROM \(SQLText.quoted(holder)) s WHERE \(isOwner) "
            + "AND \(column) IS NOT NULL AND (\(column) IN (\(targets)) OR \(isNamed))"
    }

    /// Links to objects of which filters make nothing that a destination relationship can lead to.
    private func linksLeftOut(
        _ source: PropertyReference, _ destination: PropertyReference
    ) -> SQLText? {
        guard let links = links(source, towards: destination.entity),
            let target = layout.model.relationship(source.property, of: source.entity)?
                .relationship.destination,
            let wanted = destinationModel.relationship(
                destination.property, of: destination.entity)?.relationship.destination,
            let table = layout.table(of: target)?.name
        else { return nil }
        let makers = mapping.entityMappings.filter { $0.source == source.entity }
            .flatMap(\.relationships).filter { $0.source == source.property }.map(\.mapping)
        let left = splits.filter { layout.model.isKind($0.entity, of: target) }.flatMap { split in
            split.kinds.filter { kind in
                !mapping.entityMappings.contains { mapped in
                    mapped.source == split.entity && mapping.takes(mapped, mask: kind.mask)
                        && makers.allSatisfy { $0 == nil || $0 == mapped.name }
                        && mapped.destination.map { isKind($0, of: wanted) } == true
                }
            }
        }
        let number = SplitNumbers(splits, cells: splits.computedCells)
            .number(of: SourceRow("x", schema: ""), in: table)
        return "SELECT count(*) FROM (\(links)) l JOIN \(SQLText.quoted(table)) x "
            + "ON x.Z_PK = l.t WHERE \(number) IN (\(.list(left.map(\.number))))"
    }

    /// Objects that equal an earlier one in the attributes of a destination entity, wherever
    /// they come from: also those of other entities of the table, over which the index is one.
    private func duplicates(_ entity: String, _ attributes: [String]) -> SQLText? {
        var parts: [SQLText] = []
        for entityMapping in mapping.entityMappings {
            guard let from = entityMapping.source, let to = entityMapping.destination,
                destinationModel.root(of: to)?.name == destinationModel.root(of: entity)?.name,
                let rows = rows(of: from, towards: to, where: { $0.name == entityMapping.name })
            else { continue }
            let values = attributes.enumerated().map { place, name -> SQLText in
                let mapped = entityMapping.attributes.first { $0.destination == name }
                return "\(value(mapped?.value, of: from)) AS v\(place)"
            }
            parts.append("SELECT \(values.joined(separator: ", ")) FROM \(rows)")
        }
        guard !parts.isEmpty else { return nil }
        let names = attributes.indices.map { "v\($0)" as SQLText }
        let present = names.map { "\($0) IS NOT NULL" as SQLText }.joined(separator: " AND ")
        return "SELECT coalesce(sum(n - 1), 0) FROM (SELECT count(*) AS n FROM "
            + "(\(parts.joined(separator: " UNION ALL "))) WHERE \(present) "
            + "GROUP BY \(names.joined(separator: ", ")))"
    }

    private func value(_ value: ValueExpression?, of entity: String) -> SQLText {
        let source = { (name: String) -> SQLText in
            column(PropertyReference(entity: entity, property: name)) ?? "NULL"
        }
        switch value {
        case .source(let name): return source(name)
        case .sourceOrDefault(let name, let fallback):
            return "ifnull(\(source(name)), \(SQLText.literal(fallback) ?? "NULL"))"
        case .constant(let constant): return SQLText.literal(constant) ?? "NULL"
        case .expression, .policy, .null, nil: return "NULL"
        }
    }

    private func isKind(_ entity: String, of other: String) -> Bool {
        destinationModel.isKind(entity, of: other)
    }

    /// The model that the requirement's entity belongs to.
    let destinationModel: Model
}

extension AbsenceReason {
    /// The destination entity that would get objects.
    fileprivate var entity: String {
        switch self {
        case .requiredAttribute(let reference), .statedNull(let reference),
            .requiredRelationship(let reference):
            reference.entity
        case .abstractEntity(let entity): entity
        }
    }
}

extension AbsenceReason {
    /// Whether an entity mapping leaves without a value what is required.
    fileprivate func concerns(_ mapping: EntityMapping) -> Bool {
        switch self {
        case .requiredAttribute(let reference), .statedNull(let reference):
            mapping.attributes.contains {
                $0.destination == reference.property && $0.value == .null
            }
        case .requiredRelationship(let reference):
            mapping.relationships.contains {
                $0.destination == reference.property && $0.source == nil && $0.path == nil
            }
        case .abstractEntity(let entity): mapping.destination == entity
        }
    }
}
