import CoreDataStore
import ManagedObjectModel
import MappingModel
import SafeSQLite
import StoreFileChecks
import StorePages
import ValidationScans

/// Counts faults of relationships, on either side.
struct LinkFaults {
    let layout: StoreLayout
    let file: FileReading

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
            if let known = try readDangling(
                storage.table, column, entityColumn, to: table, entity,
                keys: holder == "Z_PK" ? keys : (keys == .all ? .all : nil))
            {
                count += known
                continue
            }
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

    /// The same for one end, read from pages; nil where SQLite must count.
    ///
    /// `keys`: rowids of the rows that hold links; nil where these are not what is bounded.
    private func readDangling(
        _ holder: String, _ column: String, _ entityColumn: String?, to table: String,
        _ entity: String, keys: KeyRange?
    ) throws(StoreError) -> Int64? {
        guard let keys, let rows = try file.rowNumbers(of: table),
            let cursor = try file.cursor(
                table: holder, values: [column] + [entityColumn].compactMap { $0 }, range: keys)
        else { return nil }
        let isOnly = layout.table(of: entity).map { layout.onlyEntity(of: $0) != nil } ?? false
        let family = Set(layout.familyNumbers(of: entity))
        var count: Int64 = 0
        while try cursor.step() {
            // Other classes compare by rules of their own.
            guard [1, 5].contains(cursor.cells[0].storageClass) else { return nil }
            if cursor.cells[0].storageClass == 5 { continue }
            guard case .found(let number) = rows.find(cursor.cells[0].integer) else {
                count += 1
                continue
            }
            var isThere = isOnly || number.map(family.contains) == true
            if entityColumn != nil {
                let named = cursor.cells[1]
                guard [1, 5].contains(named.storageClass) else { return nil }
                isThere = isThere && named.storageClass == 1 && number == named.integer
            }
            if !isThere { count += 1 }
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

    /// Places that are wrong in lists whose order the source does not have, or not for all.
    func disorder(
        _ place: LinkLocation, newPlaces: ValidationScope.NewPlaces
    ) throws(StoreError) -> Int64 {
        let storage = place.storage
        var count: Int64 = 0
        if let order = storage.ownerOrder, !place.keepsOwnerOrder {
            let list = List(
                table: storage.table, holder: storage.target, member: storage.owner, order: order)
            count += try disorder(list, place.feeds.map(\.storage.ownerOrder), newPlaces)
        }
        if let order = storage.targetOrder, !place.keepsTargetOrder {
            let list = List(
                table: storage.table, holder: storage.owner, member: storage.target, order: order)
            count += try disorder(list, place.feeds.map(\.storage.targetOrder), newPlaces)
        }
        return count
    }

    /// Where the members of lists have their places.
    private struct List {
        let table: SQLText
        let holder: SQLText
        let member: SQLText
        let order: SQLText

        init(table: String, holder: LinkStorage.End, member: LinkStorage.End, order: String) {
            self.table = .quoted(table)
            self.holder = .quoted(holder.keyColumn)
            self.member = .quoted(member.keyColumn)
            self.order = .quoted(order)
        }
    }

    /// `orders`: the columns of the order in the source, of each relationship that feeds the list.
    private func disorder(
        _ list: List, _ orders: [String?], _ newPlaces: ValidationScope.NewPlaces
    ) throws(StoreError) -> Int64 {
        let rows: SQLText = "FROM \(list.table) WHERE \(list.holder) IS NOT NULL"
        let missing = try count(
            "SELECT count(*) \(rows) AND typeof(\(list.order)) <> 'integer'")
        let shared = try count(
            "SELECT count(*) FROM (SELECT 1 \(rows) AND \(list.order) IS NOT NULL "
                + "GROUP BY \(list.holder), \(list.order) HAVING count(*) > 1)")
        // An object that came with its place may have one without being in a list.
        guard orders.allSatisfy({ $0 == nil }) else { return missing + shared }
        let strays = try count(
            "SELECT count(*) FROM \(list.table) WHERE \(list.holder) IS NULL "
                + "AND \(list.order) IS NOT NULL")
        // Several relationships may meet in one list; each of them is a sequence of its own.
        guard newPlaces == .byKey, orders.count == 1, missing + shared == 0 else {
            return missing + shared + strays
        }
        // The first place is 2048, the step 1024.
        let wanted: SQLText =
            "1024 + 1024 * row_number() OVER (PARTITION BY \(list.holder) "
            + "ORDER BY \(list.member), \(list.order))"
        let moved = try count(
            "SELECT count(*) FROM (SELECT \(list.order) AS place, \(wanted) AS wanted \(rows)) "
                + "WHERE place <> wanted")
        return moved + strays
    }

    /// Whether a column names an entity or one that inherits from it; true in a table of one
    /// entity, whatever its rows say.
    private func isKind(_ column: SQLText, _ entity: String) -> SQLText {
        if let table = layout.table(of: entity), layout.onlyEntity(of: table) != nil { return "1" }
        return "\(column) IN (\(.list(layout.familyNumbers(of: entity))))"
    }

    private func count(_ sql: SQLText) throws(StoreError) -> Int64 {
        try file.connection().integer(sql) ?? 0
    }
}
