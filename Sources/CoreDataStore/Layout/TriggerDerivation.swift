import ManagedObjectModel

/// Derives the triggers of derived attributes, for the two shapes that real stores show: a key
/// path over a to-one, and the count of a one-to-many (format page §12).
struct TriggerDerivation {
    private(set) var triggers: [TriggerLayout] = []
    private(set) var unsupported: [String] = []
    private let lookup: ColumnLookup

    init(lookup: ColumnLookup) {
        self.lookup = lookup
        for entity in lookup.model.numberedEntities {
            for attribute in entity.attributes {
                guard let derivation = attribute.derivation, !attribute.isTransient else {
                    continue
                }
                add(attribute, derivation, of: entity)
            }
        }
    }

    private mutating func add(
        _ attribute: Attribute, _ derivation: Derivation, of entity: Entity
    ) {
        let steps = derivation.expression.split(separator: ".", omittingEmptySubsequences: false)
            .map(String.init)
        let key = PropertyKey(entity.name, attribute.name)
        guard derivation.filter == nil, steps.count == 2,
            let column = lookup.columns.name(of: .attribute(key)),
            let (owner, relationship) = lookup.model.relationship(steps[0], of: entity.name)
        else {
            unsupported.append("derived attribute \(key): no trigger is known for its expression")
            return
        }
        let target = Target(
            table: lookup.table(of: entity.name), entity: entity.name, attribute: attribute.name,
            column: column)
        let relationshipKey = PropertyKey(owner.name, relationship.name)
        if steps[1] == "@count", relationship.isToMany,
            let (inverseOwner, inverse) = lookup.model.inverse(of: relationship),
            let link = lookup.columns.name(
                of: .toOne(PropertyKey(inverseOwner.name, inverse.name)))
        {
            addCount(target, related: lookup.table(of: relationship.destination), link: link)
        } else if !relationship.isToMany,
            let link = lookup.columns.name(of: .toOne(relationshipKey)),
            let source = lookup.column(steps[1], of: relationship.destination)
        {
            addKeyPath(
                target, related: lookup.table(of: relationship.destination), link: link,
                source: source)
        } else {
            unsupported.append("derived attribute \(key): no trigger is known for its expression")
        }
    }

    /// The attribute that triggers keep.
    private struct Target {
        let table: String
        let entity: String
        let attribute: String
        let column: String

        func told(_ function: String, where condition: String) -> String {
            "SELECT \(function)('\(table)', Z_ENT, Z_PK, '\(attribute)', \(column)) "
                + "FROM \(table) WHERE \(condition); END"
        }
    }

    private static let inserted = "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue"
    private static let updated = "NSCoreDataDATriggerUpdatedAffectedObjectValue"

    private mutating func append(
        _ target: Target, on table: String, _ kind: String, event: String, body: String
    ) {
        let name = "Z_DA_\(table)_\(target.entity)_\(target.attribute)_\(kind)"
        triggers.append(
            TriggerLayout(
                name: name, table: table,
                sql: "CREATE TRIGGER \(name) AFTER \(event) ON \(table) FOR EACH ROW \(body)"))
    }

    private mutating func addKeyPath(
        _ target: Target, related: String, link: String, source: String
    ) {
        let own =
            "BEGIN UPDATE \(target.table) SET \(target.column) = (SELECT \(source) FROM "
            + "\(related) WHERE Z_PK = NEW.\(link)) WHERE Z_PK = NEW.Z_PK; "
        append(
            target, on: target.table, "SOURCE_INSERT", event: "INSERT",
            body: own + target.told(Self.inserted, where: "Z_PK = NEW.Z_PK"))
        append(
            target, on: target.table, "SOURCE_UPDATE", event: "UPDATE OF \(link)",
            body: own + target.told(Self.updated, where: "Z_PK = NEW.Z_PK"))
        let other =
            "BEGIN UPDATE \(target.table) SET \(target.column) = NEW.\(source) "
            + "WHERE \(link) = NEW.Z_PK; "
        append(
            target, on: related, "PARAMETER_INSERT", event: "INSERT",
            body: other + target.told(Self.inserted, where: "\(link) = NEW.Z_PK"))
        append(
            target, on: related, "PARAMETER_UPDATE", event: "UPDATE OF \(source)",
            body: other + target.told(Self.updated, where: "\(link) = NEW.Z_PK"))
    }

    private mutating func addCount(_ target: Target, related: String, link: String) {
        let column = target.column
        let count = { (row: String, expression: String) in
            "WHEN (\(row).\(link) NOT NULL) BEGIN UPDATE \(target.table) SET \(column) = "
                + "\(expression) WHERE Z_PK = \(row).\(link); "
                + target.told(Self.updated, where: "Z_PK = \(row).\(link)")
        }
        append(
            target, on: related, "PARAMETER_INSERT", event: "INSERT",
            body: count("NEW", "IFNULL(\(column), 0) + 1"))
        append(
            target, on: related, "PARAMETER_UPDATE_INCREMENT", event: "UPDATE OF \(link)",
            body: count("NEW", "\(column) + 1"))
        append(
            target, on: related, "PARAMETER_UPDATE_DECREMENT", event: "UPDATE OF \(link)",
            body: count("OLD", "\(column) - 1"))
        append(
            target, on: related, "PARAMETER_DELETE", event: "DELETE",
            body: count("OLD", "\(column) - 1"))
        append(
            target, on: target.table, "SOURCE_INSERT", event: "INSERT",
            body: "BEGIN UPDATE \(target.table) SET \(column) = (SELECT IFNULL(COUNT(\(link)), 0) "
                + "FROM \(related) WHERE \(link) = NEW.Z_PK) WHERE Z_PK = NEW.Z_PK; "
                + target.told(Self.inserted, where: "Z_PK = NEW.Z_PK"))
    }
}
