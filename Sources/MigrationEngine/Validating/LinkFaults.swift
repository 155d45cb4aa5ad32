import CoreDataStore
import ManagedObjectModel
import MappingModel

/// Counts faults of relationships by SQL, on either side.
struct LinkFaults {
    let layout: StoreLayout
    let connection: Connection

    /// Links whose target or owner is not there or not of an entity that may stand there.
    ///
    /// `keys`: of the rows that hold links; of a join table, of its first column.
    func dangling(_ key: PropertyKey, keys: KeyRange) throws(StoreError) -> Int64 {
        guard let relationship = layout.relationship(key), let storage = layout.linkStorage(key)
        else { return 0 }
        var count: Int64 = 0
        let ends = [(storage.owner, key.entity), (storage.target, relationship.destination)]
        for (end, entity) in ends {
            guard case .column(let column, let entityColumn) = end,
                let table = layout.table(of: entity)?.name
            else { continue }
            let holder =
                storage.isJoin
                ? layout.joinTable(of: key)?.namingColumn ?? column : "Z_PK"
            var wanted: SQLText =
                "x.Z_PK = s.\(.quoted(column)) AND \(isKind("x.Z_ENT", entity))"
            if let entityColumn { wanted += " AND x.Z_ENT = s.\(SQLText.quoted(entityColumn))" }
            var conditions: [SQLText] = ["s.\(SQLText.quoted(column)) IS NOT NULL"]
            if let range = keys.condition(on: "s.\(SQLText.quoted(holder))") {
                conditions.append(range)
            }
            conditions.append(
                "NOT EXISTS (SELECT 1 FROM \(SQLText.quoted(table)) x WHERE \(wanted))")
            count += try self.count(
                "SELECT count(*) FROM \(SQLText.quoted(storage.table)) s NOT INDEXED "
                    + "WHERE \(conditions.joined(separator: " AND "))")
        }
        return count
    }

    /// Owners with another number of links than a to-many relationship allows.
    func cardinality(_ key: PropertyKey) throws(StoreError) -> Int64 {
        guard let relationship = layout.relationship(key), let storage = layout.linkStorage(key),
            let owners = layout.table(of: key.entity)?.name
        else { return 0 }
        let bounds = LinkBounds(relationship)
        var broken: [SQLText] = ["(n < \(bounds.atLeast)\(bounds.allowsNone ? " AND n > 0" : ""))"]
        if let most = bounds.atMost { broken.append("n > \(most)") }
        let column = SQLText.quoted(storage.owner.keyColumn)
        var linked: SQLText = "s.\(column) = o.Z_PK"
        if storage.target == .row {
            linked += " AND \(isKind("s.Z_ENT", relationship.destination))"
        }
        // A link that names no entity of its owners may be lost on the way.
        if let named = storage.owner.entityColumn {
            linked += " AND \(isKind("s.\(SQLText.quoted(named))", key.entity))"
        }
        return try count(
            "SELECT count(*) FROM (SELECT (SELECT count(*) FROM \(SQLText.quoted(storage.table)) s "
                + "WHERE \(linked)) AS n FROM \(SQLText.quoted(owners)) o "
                + "WHERE \(isKind("o.Z_ENT", key.entity))) "
                + "WHERE \(broken.joined(separator: " OR "))")
    }

    /// Whether the bounds of a to-many relationship can be broken at all.
    static func hasBounds(_ relationship: Relationship) -> Bool {
        let bounds = LinkBounds(relationship)
        return relationship.isToMany && (bounds.needLinks || bounds.atMost != nil)
    }

    /// Places in lists that are missing, and lists in which two objects share one.
    ///
    /// `holder`: the column that tells in which one.
    /// `allowsStrays`: whether an object may have a place without being in a list, as one that
    /// came with its place may.
    func disorder(
        table: String, holder: String, order: String, allowsStrays: Bool
    ) throws(StoreError) -> Int64 {
        let (table, holder) = (SQLText.quoted(table), SQLText.quoted(holder))
        let order = SQLText.quoted(order)
        let missing = try count(
            "SELECT count(*) FROM \(table) WHERE \(holder) IS NOT NULL AND "
                + "typeof(\(order)) <> 'integer'")
        let shared = try count(
            "SELECT count(*) FROM (SELECT 1 FROM \(table) WHERE \(holder) IS NOT NULL "
                + "AND \(order) IS NOT NULL GROUP BY \(holder), \(order) HAVING count(*) > 1)")
        guard !allowsStrays else { return missing + shared }
        let strays = try count(
            "SELECT count(*) FROM \(table) WHERE \(holder) IS NULL AND \(order) IS NOT NULL")
        return missing + shared + strays
    }

    /// Whether a column names an entity or one that inherits from it; true in a table of one
    /// entity, whatever its rows say.
    private func isKind(_ column: SQLText, _ entity: String) -> SQLText {
        if let table = layout.table(of: entity), layout.onlyEntity(of: table) != nil { return "1" }
        return "\(column) IN (\(.list(layout.familyNumbers(of: entity))))"
    }

    private func count(_ sql: SQLText) throws(StoreError) -> Int64 {
        try connection.integer(sql) ?? 0
    }
}
