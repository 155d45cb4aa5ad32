package import CoreDataStore
import ManagedObjectModel

extension StoreLayout {
    /// Where the links of a source relationship lie.
    package func storage(of key: PropertyKey) -> RelationStorage {
        if let (table, found) = column(.toOne(key)) {
            return .ownerColumn(
                table: table.name, key: found.name,
                entity: column(.toOneEntity(key))?.column.name,
                ownerOrder: column(.order(key))?.column.name)
        }
        if let (table, found) = column(.hiddenKey(key)) {
            return .targetColumn(
                table: table.name, key: found.name, entity: nil,
                targetOrder: column(.hiddenOrder(key))?.column.name)
        }
        if let join = joinTable(of: key) {
            if join.naming == key {
                return .join(
                    table: join.name, owner: join.namingColumn, target: join.inverseColumn,
                    ownerOrder: join.namingOrder, targetOrder: join.inverseOrder)
            }
            return .join(
                table: join.name, owner: join.inverseColumn, target: join.namingColumn,
                ownerOrder: join.inverseOrder, targetOrder: join.namingOrder)
        }
        if let relationship = model.relationship(key.property, of: key.entity)?.relationship,
            let (owner, inverse) = model.inverse(of: relationship),
            let (table, found) = column(.toOne(PropertyKey(owner.name, inverse.name)))
        {
            let inverseKey = PropertyKey(owner.name, inverse.name)
            return .targetColumn(
                table: table.name, key: found.name,
                entity: column(.toOneEntity(inverseKey))?.column.name,
                targetOrder: column(.order(inverseKey))?.column.name)
        }
        preconditionFailure("a stored relationship has a place in its layout")
    }
}
