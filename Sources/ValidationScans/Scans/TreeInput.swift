import CoreDataStore
import ManagedObjectModel
import MappingExpressions
import SafeSQLite

/// How validation reads all that an expression asks of objects: as a text over the row's table,
/// which `TreeText` reads.
struct TreeInput {
    let sql: SQLText

    /// Nil for a tree that a plan refuses.
    init?(_ tree: ObjectTree, in layout: StoreLayout) {
        guard let table = layout.table(of: tree.entity)?.name,
            var parts = Self.object(tree, SQLText.quoted(table), layout)
        else { return nil }
        for branch in tree.branches {
            guard let objects = Self.objects(branch, of: tree.entity, table, [], layout) else {
                return nil
            }
            parts += objects
        }
        sql = "(\(parts.joined(separator: " || ")))"
    }

    /// The key and the fields of a row.
    private static func object(
        _ tree: ObjectTree, _ row: SQLText, _ layout: StoreLayout
    ) -> [SQLText]? {
        var parts: [SQLText] = [cell("\(row).Z_PK")]
        for field in tree.fields {
            guard let found = ComputedInput.attribute(field.name, of: tree.entity, in: layout)
            else { return nil }
            parts.append(cell("\(row).\(SQLText.quoted(found.column))"))
        }
        return parts
    }

    /// The objects of a branch, then those of the branches behind it.
    ///
    /// `steps`: the links of each step before, as tables of the query.
    private static func objects(
        _ branch: ObjectTree.Branch, of entity: String, _ row: String, _ steps: [SQLText],
        _ layout: StoreLayout
    ) -> [SQLText]? {
        guard let owner = layout.model.relationship(branch.name, of: entity)?.owner.name,
            let storage = layout.linkStorage(PropertyKey(owner, branch.name)),
            let table = layout.table(of: branch.tree.entity)?.name,
            let object = object(branch.tree, "o", layout)
        else { return nil }
        let own: SQLText = "m.\(SQLText.quoted(storage.owner.keyColumn))"
        let other: SQLText = "m.\(SQLText.quoted(storage.target.keyColumn))"
        let place: SQLText = storage.targetOrder.map { "m.\(SQLText.quoted($0))" } ?? "NULL"
        let links: SQLText = "FROM \(SQLText.quoted(storage.table)) AS m"
        let isReflexive = layout.joinTable(of: PropertyKey(owner, branch.name))?.isReflexive == true
        let start: SQLText =
            steps.isEmpty
            ? "\(SQLText.quoted(row)).Z_PK" : "(SELECT target FROM s\(steps.count - 1))"
        let test: SQLText = steps.isEmpty ? "= \(start)" : "IN \(start)"
        var found: SQLText = "SELECT \(own), \(other), \(place) \(links) WHERE \(own) \(test)"
        if isReflexive {
            found =
                "\(found) UNION SELECT \(other), \(own), NULL \(links) WHERE \(other) \(test)"
        }
        let all =
            steps + ["s\(steps.count)(owner, target, place) AS MATERIALIZED (\(found))"]
        var cells = [cell("CAST(s.owner AS INTEGER)")]
        if branch.isOrdered {
            guard storage.targetOrder != nil else { return nil }
            cells.append(cell("s.place"))
        }
        var parts: [SQLText] = [
            "(WITH \(all.joined(separator: ", ")) SELECT ifnull(group_concat("
                + "\((cells + object).joined(separator: " || ")), ''), '') || ';' "
                + "FROM s\(steps.count) AS s CROSS JOIN \(SQLText.quoted(table)) AS o "
                + "WHERE o.Z_PK = s.target)"
        ]
        for next in branch.tree.branches {
            guard let more = objects(next, of: branch.tree.entity, row, all, layout) else {
                return nil
            }
            parts += more
        }
        return parts
    }

    private static func cell(_ value: SQLText) -> SQLText {
        "iif(\(value) IS NULL, 'n', CASE typeof(\(value)) WHEN 'integer' THEN 'i' || \(value) "
            + "WHEN 'real' THEN 'r' || quote(\(value)) WHEN 'text' THEN 't' || hex(\(value)) "
            + "ELSE 'b' || hex(\(value)) END) || ' '"
    }
}
