import CoreDataStore
import ManagedObjectModel
import MappingExpressions
import MigrationPlans
import SafeSQLite

/// Derives how entities are imported from the layout of their store.
struct ImportSchemaBuilder {
    let layout: StoreLayout
    let given: [String: String]

    private var model: Model { layout.model }

    /// Why the model cannot be imported into; nil for nothing.
    var refusal: String? {
        for entity in model.numberedEntities {
            if let derived = entity.attributes.first(where: { $0.derivation != nil }) {
                return "\(entity.name).\(derived.name) is a derived attribute, which only Core "
                    + "Data computes"
            }
        }
        guard let tree = layout.rTrees.first else { return nil }
        return "the model has the index \(tree.name) of locations, which only Core Data fills"
    }

    func checkKeys() throws(ImportError) {
        for (entity, attribute) in given.sorted(by: { $0.key < $1.key }) {
            guard model.entities[entity] != nil else {
                throw .unknownKey(
                    entity: entity, attribute: attribute,
                    hint: Self.hint(entity, among: model.entities.keys))
            }
            guard self.attribute(attribute, of: entity) != nil else {
                let names = model.allAttributes(of: entity).map(\.attribute.name)
                throw .unknownKey(
                    entity: entity, attribute: attribute, hint: Self.hint(attribute, among: names))
            }
        }
    }

    /// A name that a line gives, for a message; what cannot be a name may be a value.
    static func quoted(_ name: String) -> String {
        let isName =
            name.utf8.count <= 64
            && name.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == "_"
                    || $0 == "."
            }
        return isName ? name : "of that name"
    }

    /// The nearest names, as the end of a message.
    static func hint(_ name: String, among names: some Sequence<String>) -> String {
        guard name.utf8.count <= 256 else { return "" }
        let nearest = NameSuggestion.nearest(to: name, among: names)
        return nearest.isEmpty ? "" : "; did you mean \(nearest.joined(separator: " or "))?"
    }

    func entity(_ entity: Entity) -> ImportedEntity? {
        let name = entity.name
        guard let number = layout.number(of: name), let table = layout.table(of: name),
            let root = layout.number(of: table.rootEntity)
        else { return nil }
        var attributes: [String: ImportedAttribute] = [:]
        for (owner, attribute) in model.allAttributes(of: name) {
            for (path, _) in attribute.storedElements {
                attributes[path] = self.attribute(path, of: owner.name)
            }
        }
        var relationships: [String: ImportedRelationship] = [:]
        for (owner, relationship) in model.allRelationships(of: name) {
            relationships[relationship.name] = self.relationship(relationship, of: owner.name)
        }
        let sorted = attributes.values.sorted { $0.column < $1.column }
        let places = Dictionary(
            zip(sorted.map(\.name), 0...), uniquingKeysWith: { first, _ in first })
        let key = key(of: name)
        return ImportedEntity(
            name: name, number: Int64(number), table: table.name, rootNumber: Int64(root),
            attributes: sorted, attributePlaces: places, relationships: relationships, key: key,
            keyPlace: key.flatMap { places[$0.attribute.name] })
    }

    private func attribute(_ path: String, of entity: String) -> ImportedAttribute? {
        let first = path.prefix { $0 != "." }
        guard let owner = model.attribute(String(first), of: entity)?.owner,
            let attribute = model.element(path, of: entity),
            let column = layout.column(.attribute(PropertyKey(owner.name, path)))?.column
        else { return nil }
        return ImportedAttribute(
            name: path, column: column.name, type: attribute.type,
            isRequired: !attribute.isOptional, isExternal: column.isExternal,
            defaultCell: attribute.defaultValue.flatMap { Self.cell($0, attribute.type) })
    }

    private static func cell(_ value: DefaultValue, _ type: AttributeType) -> StoredCell? {
        do throws(ExpressionError) {
            return try StoredCell(try TypeConversion.value(of: value, as: type, nil), as: type)
        } catch {
            return nil
        }
    }

    private func numbers(of entity: String) -> [Int64] {
        model.family(of: entity).compactMap { layout.number(of: $0.name) }.map { Int64($0) }
    }

    // MARK: - Keys

    /// What identifies objects of an entity: what an option names for it or for an ancestor, else
    /// the first uniqueness constraint of one attribute.
    func key(of entity: String) -> ImportedKey? {
        let ancestry = model.ancestry(of: entity)
        for ancestor in ancestry {
            if let name = given[ancestor.name] { return key(name, of: ancestor.name) }
        }
        for ancestor in ancestry.reversed() {
            for constraint in ancestor.uniquenessConstraints where constraint.count == 1 {
                if let found = key(constraint[0], of: ancestor.name) { return found }
            }
        }
        return nil
    }

    private func key(_ name: String, of entity: String) -> ImportedKey? {
        guard let attribute = attribute(name, of: entity), let table = layout.table(of: entity)
        else { return nil }
        return ImportedKey(
            entity: entity, attribute: attribute, table: table.name,
            entityNumbers: numbers(of: entity), number: layout.number(of: entity) ?? 0)
    }

    // MARK: - Relationships

    private func relationship(
        _ relationship: Relationship, of owner: String
    ) -> ImportedRelationship? {
        let key = PropertyKey(owner, relationship.name)
        guard let storage = storage(of: relationship, key) else { return nil }
        return ImportedRelationship(
            key: key,
            inverse: model.inverse(of: relationship).map {
                PropertyKey($0.owner.name, $0.relationship.name)
            }, isToMany: relationship.isToMany, destination: relationship.destination,
            targetNumbers: Set(numbers(of: relationship.destination)), storage: storage,
            hasOrderedInverse: model.inverse(of: relationship)?.relationship.isOrdered == true)
    }

    private func storage(of relationship: Relationship, _ key: PropertyKey) -> LinkStorage? {
        if let join = layout.joinTable(of: key) { return .join(columns(of: join, seenFrom: key)) }
        let inverse = model.inverse(of: relationship)
        let inverseKey = inverse.map { PropertyKey($0.owner.name, $0.relationship.name) }
        if !relationship.isToMany {
            guard let own = toOne(key) else { return nil }
            let paired = inverse?.relationship.isToMany == false ? inverseKey.flatMap(toOne) : nil
            return .toOne(own, inverse: paired)
        }
        if let inverseKey, inverse?.relationship.isToMany == false {
            return toOne(inverseKey).map { .toMany($0) }
        }
        guard let (table, hidden) = layout.column(.hiddenKey(key)) else { return nil }
        return .toMany(
            ForeignColumns(
                table: table.name, key: hidden.name, entity: nil,
                order: layout.column(.hiddenOrder(key))?.column.name))
    }

    private func toOne(_ key: PropertyKey) -> ForeignColumns? {
        guard let (table, column) = layout.column(.toOne(key)) else { return nil }
        return ForeignColumns(
            table: table.name, key: column.name,
            entity: layout.column(.toOneEntity(key))?.column.name,
            order: layout.column(.order(key))?.column.name)
    }

    private func columns(of join: JoinTableLayout, seenFrom key: PropertyKey) -> JoinColumns {
        let isNaming = join.naming == key
        return JoinColumns(
            table: join.name, own: isNaming ? join.namingColumn : join.inverseColumn,
            other: isNaming ? join.inverseColumn : join.namingColumn,
            order: isNaming ? join.inverseOrder : join.namingOrder,
            inverseOrder: isNaming ? join.namingOrder : join.inverseOrder,
            isReflexive: join.isReflexive)
    }
}
