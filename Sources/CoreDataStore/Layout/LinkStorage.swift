package import ManagedObjectModel

/// Where a file keeps the links of a relationship, seen from the objects
/// that have it (owners) towards those that it leads to (targets).
package struct LinkStorage: Hashable, Sendable {
    /// Where an end of a link stands.
    package enum End: Hashable, Sendable {
        /// The end is the row that holds the link.
        case row
        /// The end's key stands in a column, its entity's number perhaps in another one.
        case column(String, entity: String?)

        /// The column of the key; `Z_PK` for the row itself.
        package var keyColumn: String {
            switch self {
            case .row: "Z_PK"
            case .column(let name, _): name
            }
        }

        package var entityColumn: String? {
            if case .column(_, let entity) = self { entity } else { nil }
        }
    }

    /// The table of the rows that hold the links.
    package let table: String
    package let owner: End
    package let target: End
    /// The owner's place in the list of its target.
    package let ownerOrder: String?
    /// The target's place in the list of its owner.
    package let targetOrder: String?

    package init(
        table: String, owner: End, target: End, ownerOrder: String?, targetOrder: String?
    ) {
        self.table = table
        self.owner = owner
        self.target = target
        self.ownerOrder = ownerOrder
        self.targetOrder = targetOrder
    }

    /// Whether the table is a join table, whose rows are no objects.
    package var isJoin: Bool { owner != .row && target != .row }

    /// The same links from the other side.
    package var flipped: LinkStorage {
        LinkStorage(
            table: table, owner: target, target: owner, ownerOrder: targetOrder,
            targetOrder: ownerOrder)
    }
}

extension StoreLayout {
    /// Where the links of a stored relationship are; nil for a relationship without any place.
    package func linkStorage(_ key: PropertyKey) -> LinkStorage? {
        if let own = linkColumn(key) { return own }
        if let join = joinTable(of: key) {
            let naming = LinkStorage(
                table: join.name, owner: .column(join.namingColumn, entity: nil),
                target: .column(join.inverseColumn, entity: nil), ownerOrder: join.namingOrder,
                targetOrder: join.inverseOrder)
            return join.naming == key ? naming : naming.flipped
        }
        return inverseKey(of: key).flatMap { linkColumn($0)?.flipped }
    }

    /// The storage of a relationship in a column of its own.
    private func linkColumn(_ key: PropertyKey) -> LinkStorage? {
        if let (table, column) = column(.toOne(key)) {
            let entity = self.column(.toOneEntity(key))?.column.name
            return LinkStorage(
                table: table.name, owner: .row, target: .column(column.name, entity: entity),
                ownerOrder: self.column(.order(key))?.column.name, targetOrder: nil)
        }
        if let (table, column) = column(.hiddenKey(key)) {
            return LinkStorage(
                table: table.name, owner: .column(column.name, entity: nil), target: .row,
                ownerOrder: nil, targetOrder: self.column(.hiddenOrder(key))?.column.name)
        }
        return nil
    }

    /// The inverse of a relationship by the entity that declares it.
    package func inverseKey(of key: PropertyKey) -> PropertyKey? {
        relationship(key).flatMap { model.inverse(of: $0) }.map {
            PropertyKey($0.owner.name, $0.relationship.name)
        }
    }

    /// The relationship of a key.
    package func relationship(_ key: PropertyKey) -> Relationship? {
        model.relationship(key.property, of: key.entity)?.relationship
    }

    /// The relationships that have columns or join tables of their own, in the file's order.
    package var storedLinks: [PropertyKey] {
        let columns = tables.flatMap(\.columns).compactMap { column -> PropertyKey? in
            switch column.role {
            case .toOne(let key), .hiddenKey(let key): key
            case .attribute, .toOneEntity, .order, .hiddenOrder: nil
            }
        }
        return columns + joinTables.map(\.naming)
    }
}
