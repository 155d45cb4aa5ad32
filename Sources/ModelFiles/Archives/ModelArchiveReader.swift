import ManagedObjectModel

/// Reads the entities of one archived model.
struct ModelArchiveReader {
    var archive: KeyedArchive

    mutating func model() throws(ModelError) -> Model {
        let root = try archive.root()
        guard root.className == ArchivedClass.model else {
            throw .malformed("the keyed archive holds a \(root.className), not a model")
        }
        var entities: [Entity] = []
        var names: Set<String> = []
        for (_, reference) in try archive.dictionary(root["NSEntities"]) {
            let object = try entityObject(reference)
            let name = try self.name(of: object)
            // Before its properties are read: an archive may list one large entity often.
            guard names.insert(name).inserted else {
                throw .malformed("entity \(name) occurs twice")
            }
            entities.append(try entity(object, name: name))
        }
        var identifiers: [String] = []
        for reference in try archive.list(root["NSVersionIdentifiers"]) {
            guard let value = try archive.value(reference) else { continue }
            if let text = try archive.textOrNil(value) { identifiers.append(text) }
        }
        return try Model(
            entities: entities, versionIdentifiers: identifiers,
            configurations: try configurations(root["NSConfigurations"]))
    }

    private mutating func configurations(
        _ reference: PropertyList?
    ) throws(ModelError) -> [String: [String]] {
        var configurations: [String: [String]] = [:]
        for (name, members) in try archive.dictionary(reference) {
            var entities: [String] = []
            for member in try archive.list(members) {
                entities.append(try self.name(of: entityObject(member)))
            }
            configurations[name] = entities
        }
        return configurations
    }

    private func entityObject(_ reference: PropertyList?) throws(ModelError) -> ArchivedObject {
        guard let object = try archive.object(reference),
            object.className == ArchivedClass.entity
        else {
            throw .malformed("the archive has no entity where an entity belongs")
        }
        return object
    }

    private mutating func name(of entity: ArchivedObject) throws(ModelError) -> String {
        guard let name = try archive.text(entity["NSEntityName"]), !name.isEmpty else {
            throw .malformed("the archive has an entity without a name")
        }
        return name
    }

    private mutating func entity(
        _ object: ArchivedObject, name: String
    ) throws(ModelError) -> Entity {
        var entity = Entity(name: name)
        if let className = try archive.text(object["NSClassNameForEntity"]),
            className != "NSManagedObject"
        {
            entity.className = className
        }
        if try archive.value(object["NSSuperentity"]) != nil {
            entity.parent = try self.name(of: entityObject(object["NSSuperentity"]))
        }
        entity.isAbstract = try archive.flag(object["NSIsAbstract"])
        entity.userInfo = try userInfo(object)
        entity.versionHashModifier = try modifier(object)
        entity.renamingIdentifier = try renamingIdentifier(object, of: name)
        entity.uniquenessConstraints = try nameLists(object["NSUniqueTuples"])
        entity.compoundIndexes = try nameLists(object["NSCompoundIndexes"])
        for reference in try archive.list(object["NSFetchIndexDescriptions"]) {
            entity.fetchIndexes.append(try fetchIndex(reference, of: name))
        }
        for (_, reference) in try archive.dictionary(object["NSProperties"]) {
            try addProperty(reference, to: &entity)
        }
        return entity
    }

    private mutating func addProperty(
        _ reference: PropertyList, to entity: inout Entity
    ) throws(ModelError) {
        guard var object = try archive.object(reference) else {
            throw .malformed("entity \(entity.name) has a null property")
        }
        if object.className == ArchivedClass.propertyProxy {
            guard let underlying = try archive.object(object["NSUnderlyingProperty"]) else {
                throw .malformed("entity \(entity.name) has a proxy for no property")
            }
            object = underlying
        }
        guard let name = try archive.text(object["NSPropertyName"]) else {
            throw .malformed("entity \(entity.name) has a property without a name")
        }
        switch object.className {
        case ArchivedClass.attribute, ArchivedClass.derivedAttribute,
            ArchivedClass.compositeAttribute:
            entity.attributes.append(
                try attribute(object, place: "\(entity.name).\(name)", name: name, depth: 0))
        case ArchivedClass.relationship:
            entity.relationships.append(
                try relationship(object, place: "\(entity.name).\(name)", name: name))
        case ArchivedClass.fetchedProperty:
            entity.fetchedProperties.append(name)
        default:
            throw .unsupported(
                "property \(entity.name).\(name) is of the unknown class \(object.className)")
        }
    }

    /// Lists of names: uniqueness constraints, compound indexes.
    ///
    /// Where an archive has property objects in place of names, their names count.
    private mutating func nameLists(
        _ reference: PropertyList?
    ) throws(ModelError) -> [[String]] {
        var lists: [[String]] = []
        for list in try archive.list(reference) {
            var names: [String] = []
            for element in try archive.list(list) {
                guard let value = try archive.value(element) else {
                    throw .malformed("a constraint or index of the archive has a null property")
                }
                let property = try archive.objectOrNil(value)
                let name = property?["NSPropertyName"] ?? element
                if let text = try archive.text(name) { names.append(text) }
            }
            lists.append(names)
        }
        return lists
    }

    // MARK: - What entities and properties share

    mutating func userInfo(_ object: ArchivedObject) throws(ModelError) -> [String: String] {
        var info: [String: String] = [:]
        for (key, reference) in try archive.dictionary(object["NSUserInfo"]) {
            guard let value = try archive.value(reference) else { continue }
            if let text = try archive.textOrNil(value) { info[key] = text }
        }
        return info
    }

    /// An empty modifier adds nothing to a hash, so it is none.
    mutating func modifier(_ object: ArchivedObject) throws(ModelError) -> String? {
        let modifier = try archive.text(object["NSVersionHashModifier"])
        return modifier == "" ? nil : modifier
    }

    /// Archives repeat the name where no identifier was set.
    mutating func renamingIdentifier(
        _ object: ArchivedObject, of name: String
    ) throws(ModelError) -> String? {
        let identifier = try archive.text(object["NSRenamingIdentifier"])
        return identifier == "" || identifier == name ? nil : identifier
    }
}
