import ManagedObjectModel
import SafeSQLite

/// Walks all relationships in Core Data's hash order and names join tables, hidden keys and
/// order columns.
struct RelationNaming {
    private(set) var columns: ColumnNaming
    private(set) var joinTables: [JoinTableLayout] = []
    private let model: Model
    private let numbers: [String: Int]
    private var tables: [String: NameTable] = [:]
    private var resolved: Set<PropertyKey> = []
    private var joinNames: [String: Set<String>] = [:]

    /// - Throws: `StoreError.layoutUnknown` for an entity with more than 843 names.
    init(model: Model, numbers: [String: Int], columns: ColumnNaming) throws(StoreError) {
        self.model = model
        self.numbers = numbers
        self.columns = columns
        for root in model.roots { enterNames(of: root, parent: nil) }
        for name in model.entities.keys.sorted(by: Model.precedes) {
            guard let order = tables[name]?.visitOrder else {
                throw .layoutUnknown("entity \(name) has more names than any known hash table")
            }
            for property in order where !property.hasPrefix("_") {
                visit(property, from: name)
            }
        }
    }

    /// Fills the first table of an entity and of those below it.
    private mutating func enterNames(of entity: Entity, parent: NameTable?) {
        var table = NameTable()
        for name in parent?.names ?? ["_ent", "_pk", "_opt"] { table.enter(name) }
        let attributes = model.allAttributes(of: entity.name).flatMap {
            $0.attribute.storedElements
        }
        let own = Set(
            entity.attributes.filter { !$0.isTransient }.flatMap(\.storedElements).map(\.path))
        for name in slotOrder(attributes.map(\.path)) where own.contains(name) {
            table.enter(name)
        }
        let relationships = model.allRelationships(of: entity.name).map(\.relationship)
        let byName = Dictionary(
            entity.relationships.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for name in slotOrder(relationships.map(\.name)) {
            guard let relationship = byName[name], !relationship.isTransient else { continue }
            let key = PropertyKey(entity.name, name)
            for role in [ColumnRole.toOne(key), .toOneEntity(key)] {
                if let column = columns.name(of: role) {
                    table.enter("_" + column)
                }
            }
            table.enter(name)
        }
        tables[entity.name] = table
        for child in model.children(of: entity.name) {
            if let below = model.entities[child] { enterNames(of: below, parent: table) }
        }
    }

    private func slotOrder(_ names: [String]) -> [String] {
        var table = NameTable()
        for name in names.sorted() { table.enter(name) }
        return table.names
    }

    private mutating func visit(_ property: String, from entity: String) {
        guard let (owner, relationship) = model.relationship(property, of: entity),
            !relationship.isTransient
        else { return }
        let key = PropertyKey(owner.name, property)
        guard let (inverseOwner, inverse) = model.inverse(of: relationship) else {
            if relationship.isToMany, resolved.insert(key).inserted {
                columns.nameHiddenKey(relationship, of: owner)
                enterHidden(relationship, of: owner)
            }
            return
        }
        if relationship.isToMany {
            guard inverse.isToMany, !resolved.contains(key) else { return }
            let other = PropertyKey(inverseOwner.name, inverse.name)
            resolved.formUnion([key, other])
            nameJoin(relationship, key, inverse, other)
        } else if inverse.isToMany, inverse.isOrdered {
            if owner.name == entity { columns.nameOrder(relationship, of: owner) }
            enter("_Z_FOK_" + relationship.name.uppercased(), below: entity)
        }
    }

    private mutating func enterHidden(_ relationship: Relationship, of owner: Entity) {
        guard let number = numbers[owner.name] else { return }
        let upper = relationship.name.uppercased()
        enter("_Z\(number)\(upper)", below: relationship.destination)
        enter("\(number)\(relationship.name)", below: relationship.destination)
        if relationship.isOrdered {
            enter("_Z_FOK_\(number)\(upper)", below: relationship.destination)
        }
    }

    private mutating func enter(_ name: String, below entity: String) {
        for member in model.family(of: entity) { tables[member.name]?.enter(name) }
    }

    /// Names the table and the columns of a many-to-many pair.
    private mutating func nameJoin(
        _ naming: Relationship, _ key: PropertyKey, _ inverse: Relationship, _ other: PropertyKey
    ) {
        guard let number = numbers[key.entity], let otherNumber = numbers[other.entity] else {
            return
        }
        let base = "\(number)\(naming.name.uppercased())"
        if key == other {
            let column = joinName("Z_" + base, tree: key.entity)
            joinTables.append(
                JoinTableLayout(
                    name: "Z_" + base, naming: key, inverse: other, namingColumn: column,
                    inverseColumn: "REFLEXIVE",
                    namingOrder: naming.isOrdered ? "Z_FOK_" + base : nil,
                    inverseOrder: naming.isOrdered ? "FOK_REFLEXIVE" : nil))
            return
        }
        let inverseBase = "\(otherNumber)\(naming.name.uppercased())"
        let namingBase = "\(number)\(inverse.name.uppercased())"
        let inverseColumn = joinName("Z_" + inverseBase, tree: other.entity)
        let inverseOrder =
            naming.isOrdered ? joinName("Z_FOK_" + inverseBase, tree: other.entity) : nil
        let namingColumn = joinName("Z_" + namingBase, tree: key.entity)
        let namingOrder =
            inverse.isOrdered ? joinName("Z_FOK_" + namingBase, tree: key.entity) : nil
        joinTables.append(
            JoinTableLayout(
                name: "Z_" + base, naming: key, inverse: other, namingColumn: namingColumn,
                inverseColumn: inverseColumn, namingOrder: namingOrder,
                inverseOrder: inverseOrder))
    }

    private mutating func joinName(_ wanted: String, tree entity: String) -> String {
        let root = model.root(of: entity)?.name ?? entity
        return uniqueName(wanted, in: &joinNames[root, default: []])
    }
}
