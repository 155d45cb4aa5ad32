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
        let start = Owners(test: "= \(SQLText.quoted(table)).Z_PK", depth: 0)
        for branch in tree.branches {
            guard let objects = Self.objects(branch, of: tree.entity, start, layout) else {
                return nil
            }
            parts += objects
        }
        sql = "(\(parts.joined(separator: " || ")))"
    }

    /// Objects that have a relationship.
    private struct Owners {
        /// What follows a column of their keys.
        let test: SQLText
        let depth: Int
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
    private static func objects(
        _ branch: ObjectTree.Branch, of entity: String, _ owners: Owners, _ layout: StoreLayout
    ) -> [SQLText]? {
        let (link, target): (SQLText, SQLText) = ("m\(owners.depth)", "o\(owners.depth)")
        guard let owner = layout.model.relationship(branch.name, of: entity)?.owner.name,
            let storage = layout.linkStorage(PropertyKey(owner, branch.name)),
            let table = layout.table(of: branch.tree.entity)?.name,
            let object = object(branch.tree, target, layout)
        else { return nil }
        let own = SQLText.quoted(storage.owner.keyColumn)
        let other = SQLText.quoted(storage.target.keyColumn)
        var links = SQLText.quoted(storage.table)
        if layout.joinTable(of: PropertyKey(owner, branch.name))?.isReflexive == true {
            let turned: SQLText = "SELECT \(other), \(own) FROM \(links)"
            links = "(SELECT \(own), \(other) FROM \(links) UNION \(turned))"
        }
        var row = [cell("\(link).\(own)")]
        if branch.isOrdered {
            guard let order = storage.targetOrder else { return nil }
            row.append(cell("\(link).\(SQLText.quoted(order))"))
        }
        let rows: SQLText = (row + object).joined(separator: " || ")
        var found: [SQLText] = [
            "(SELECT ifnull(group_concat(\(rows), ''), '') || ';' FROM \(links) AS \(link) "
                + "CROSS JOIN \(SQLText.quoted(table)) AS \(target) "
                + "WHERE \(link).\(own) \(owners.test) AND \(target).Z_PK = \(link).\(other))"
        ]
        let behind = Owners(
            test: "IN (SELECT x.\(other) FROM \(links) AS x WHERE x.\(own) \(owners.test))",
            depth: owners.depth + 1)
        for next in branch.tree.branches {
            guard let more = objects(next, of: branch.tree.entity, behind, layout) else {
                return nil
            }
            found += more
        }
        return found
    }

    private static func cell(_ value: SQLText) -> SQLText {
        "iif(\(value) IS NULL, 'n', CASE typeof(\(value)) WHEN 'integer' THEN 'i' || \(value) "
            + "WHEN 'real' THEN 'r' || quote(\(value)) WHEN 'text' THEN 't' || hex(\(value)) "
            + "ELSE 'b' || hex(\(value)) END) || ' '"
    }
}
