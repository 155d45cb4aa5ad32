import ManagedObjectModel
import SafeSQLite

/// Derives the triggers of derived attributes, for the two shapes that real stores show: a key
/// path over a to-one, and the count of a one-to-many.
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

        /// The end of a trigger that tells Core Data of the changed objects.
        func ending(_ function: SQLText, where condition: SQLText) -> SQLText {
            "SELECT \(function)(\(.text(table)), Z_ENT, Z_PK, \(.text(attribute)), "
                + "\(.declared(column))) FROM \(.declared(table)) WHERE \(condition); END"
        }
    }

    private static let inserted: SQLText = "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue"
    private static let updated: SQLText = "NSCoreDataDATriggerUpdatedAffectedObjectValue"

    private mutating func append(
        _ target: Target, on table: String, _ kind: String, event: SQLText, body: SQLText
    ) {
        let name = "Z_DA_\(table)_\(target.entity)_\(target.attribute)_\(kind)"
        triggers.append(
            TriggerLayout(
                name: name, table: table,
                sql: "CREATE TRIGGER \(.declared(name)) AFTER \(event) ON \(.declared(table)) "
                    + "FOR EACH ROW \(body)"))
    }

    private mutating func addKeyPath(
        _ target: Target, related: String, link: String, source: String
    ) {
        let (table, column) = (SQLText.declared(target.table), SQLText.declared(target.column))
        let (key, value) = (SQLText.declared(link), SQLText.declared(source))
        let own: SQLText =
            "BEGIN UPDATE \(table) SET \(column) = (SELECT \(value) FROM "
            + "\(.declared(related)) WHERE Z_PK = NEW.\(key)) WHERE Z_PK = NEW.Z_PK; "
        append(
            target, on: target.table, "SOURCE_INSERT", event: "INSERT",
            body: own + target.ending(Self.inserted, where: "Z_PK = NEW.Z_PK"))
        append(
            target, on: target.table, "SOURCE_UPDATE", event: "UPDATE OF \(key)",
            body: own + target.ending(Self.updated, where: "Z_PK = NEW.Z_PK"))
        let other: SQLText =
            "BEGIN UPDATE \(table) SET \(column) = NEW.\(value) WHERE \(key) = NEW.Z_PK; "
        append(
            target, on: related, "PARAMETER_INSERT", event: "INSERT",
            body: other + target.ending(Self.inserted, where: "\(key) = NEW.Z_PK"))
        append(
            target, on: related, "PARAMETER_UPDATE", event: "UPDATE OF \(value)",
            body: other + target.ending(Self.updated, where: "\(key) = NEW.Z_PK"))
    }

    private mutating func addCount(_ target: Target, related: String, link: String) {
        let (table, column) = (SQLText.declared(target.table), SQLText.declared(target.column))
        let key = SQLText.declared(link)
        let count = { (row: SQLText, expression: SQLText) -> SQLText in
            "WHEN (\(row).\(key) NOT NULL) BEGIN UPDATE \(table) SET \(column) = "
                + "\(expression) WHERE Z_PK = \(row).\(key); "
                + target.ending(Self.updated, where: "Z_PK = \(row).\(key)")
        }
        append(
            target, on: related, "PARAMETER_INSERT", event: "INSERT",
            body: count("NEW", "IFNULL(\(column), 0) + 1"))
        append(
            target, on: related, "PARAMETER_UPDATE_INCREMENT", event: "UPDATE OF \(key)",
            body: count("NEW", "\(column) + 1"))
        append(
            target, on: related, "PARAMETER_UPDATE_DECREMENT", event: "UPDATE OF \(key)",
            body: count("OLD", "\(column) - 1"))
        append(
            target, on: related, "PARAMETER_DELETE", event: "DELETE",
            body: count("OLD", "\(column) - 1"))
        append(
            target, on: target.table, "SOURCE_INSERT", event: "INSERT",
            body: "BEGIN UPDATE \(table) SET \(column) = (SELECT IFNULL(COUNT(\(key)), 0) "
                + "FROM \(.declared(related)) WHERE \(key) = NEW.Z_PK) WHERE Z_PK = NEW.Z_PK; "
                + target.ending(Self.inserted, where: "Z_PK = NEW.Z_PK"))
    }
}
