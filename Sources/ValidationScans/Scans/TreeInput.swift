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
            let path = Path(end: SQLText.quoted(table))
            guard let objects = Self.objects(branch, of: tree.entity, path, layout) else {
                return nil
            }
            parts += objects
        }
        sql = "(\(parts.joined(separator: " || ")))"
    }

    /// From the row to objects.
    private struct Path {
        var tables: [SQLText] = []
        var conditions: [SQLText] = []
        /// The name of the objects' rows.
        var end: SQLText
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
        _ branch: ObjectTree.Branch, of entity: String, _ before: Path, _ layout: StoreLayout
    ) -> [SQLText]? {
        var path = before
        path.end = "t\(before.tables.count)"
        guard let owner = layout.model.relationship(branch.name, of: entity)?.owner.name,
            let storage = layout.linkStorage(PropertyKey(owner, branch.name)),
            let target = layout.table(of: branch.tree.entity)?.name,
            let object = object(branch.tree, path.end, layout)
        else { return nil }
        let isReflexive = layout.joinTable(of: PropertyKey(owner, branch.name))?.isReflexive == true
        var row = [cell("\(before.end).Z_PK")]
        if branch.isOrdered {
            guard let order = storage.targetOrder else { return nil }
            let holder: SQLText = storage.isJoin ? "l\(before.tables.count)" : path.end
            row.append(cell("\(holder).\(SQLText.quoted(order))"))
        }
        ComputedInput.follow(
            storage, from: before.end, to: path.end, target: target, leadsBothWays: isReflexive,
            tables: &path.tables, conditions: &path.conditions)
        let rows: SQLText = (row + object).joined(separator: " || ")
        var found: [SQLText] = [
            "(SELECT ifnull(group_concat(\(rows), ''), '') || ';' "
                + "FROM \(path.tables.joined(separator: " CROSS JOIN ")) "
                + "WHERE \(path.conditions.joined(separator: " AND ")))"
        ]
        for next in branch.tree.branches {
            guard let behind = objects(next, of: branch.tree.entity, path, layout) else {
                return nil
            }
            found += behind
        }
        return found
    }

    private static func cell(_ value: SQLText) -> SQLText {
        "iif(\(value) IS NULL, 'n', CASE typeof(\(value)) WHEN 'integer' THEN 'i' || \(value) "
            + "WHEN 'real' THEN 'r' || quote(\(value)) WHEN 'text' THEN 't' || hex(\(value)) "
            + "ELSE 'b' || hex(\(value)) END) || ' '"
    }
}
