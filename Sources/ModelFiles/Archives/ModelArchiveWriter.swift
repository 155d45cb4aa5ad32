import ManagedObjectModel

/// Writes one model as the keyed archive that Core Data makes of it.
struct ModelArchiveWriter {
    /// A property as one entity has it; sub-entities have copies of what they inherit.
    struct PropertyKey: Hashable {
        let entity: String
        let property: String
    }

    let model: Model
    var table = KeyedArchiveBuilder()
    /// Places of entities by name.
    private(set) var entities: [String: PropertyList] = [:]
    private(set) var properties: [PropertyKey: PropertyList] = [:]
    /// How many index elements were expressions so far: they are numbered over the model.
    var expressionCount = 0
    /// Whether entities get a list of fetch indexes, even an empty one.
    ///
    /// Archives from before fetch indexes have none, and Core Data then goes by `NSIsIndexed`.
    private let hasFetchIndexes: Bool

    /// Slots without a value in an `NSKnownKeysDictionary1` hold this text.
    private static let emptySlot = "__empty_slot_token_4c24_98dc_ac1e_b773__"

    init(model: Model) {
        self.model = model
        hasFetchIndexes = model.entities.values.contains { !$0.fetchIndexes.isEmpty }
    }

    mutating func write() throws(ModelError) -> [UInt8] {
        let root = table.reserve()
        let sorted = model.entities.values.sorted {
            $0.name.utf8.lexicographicallyPrecedes($1.name.utf8)
        }
        try reservePlaces(sorted)
        var identifiers: [PropertyList] = []
        for identifier in model.versionIdentifiers { identifiers.append(table.text(identifier)) }
        var fields = [
            PropertyList.Entry("NSEntities", entityDictionary(sorted)),
            PropertyList.Entry("NSFetchRequestTemplates", KeyedArchiveBuilder.null),
            PropertyList.Entry("NSVersionIdentifiers", table.list("NSSet", identifiers)),
        ]
        if !model.configurations.isEmpty {
            fields.append(PropertyList.Entry("NSConfigurations", configurations()))
        }
        table.fill(root, ArchivedClass.model, fields)
        for entity in sorted { try fill(entity, root: root) }
        return table.write(root: root)
    }

    private mutating func reservePlaces(_ sorted: [Entity]) throws(ModelError) {
        var count = 0
        for entity in sorted {
            entities[entity.name] = table.reserve()
            for ancestor in model.ancestry(of: entity.name) {
                count += ancestor.propertyNames.count
                guard count <= KeyedArchive.itemLimit else {
                    throw .unsupported(
                        "it has more than \(KeyedArchive.itemLimit) properties, inherited ones "
                            + "counted in each entity")
                }
                for name in ancestor.propertyNames {
                    let key = PropertyKey(entity: entity.name, property: name)
                    if properties[key] == nil { properties[key] = table.reserve() }
                }
            }
        }
    }

    private mutating func entityDictionary(_ sorted: [Entity]) -> PropertyList {
        let keys = table.list("NSArray", sorted.map { table.text($0.name) })
        let mapping = table.add(
            "NSKnownKeysMappingStrategy1",
            [
                PropertyList.Entry("length", .integer(Int128(sorted.count))),
                PropertyList.Entry("keys", keys),
                PropertyList.Entry("version", .integer(1)),
            ])
        let values = table.list("NSArray", sorted.compactMap { entities[$0.name] })
        return table.add(
            "NSKnownKeysDictionary1",
            [
                PropertyList.Entry("values", values),
                PropertyList.Entry("searchMapping", mapping),
                PropertyList.Entry("emptyToken", table.text(Self.emptySlot)),
                PropertyList.Entry("version", .integer(1)),
            ])
    }

    private mutating func configurations() -> PropertyList {
        let names = model.configurations.keys.sorted {
            $0.utf8.lexicographicallyPrecedes($1.utf8)
        }
        var pairs: [(key: String, value: PropertyList)] = []
        for name in names {
            let members = (model.configurations[name] ?? []).compactMap { entities[$0] }
            pairs.append((name, table.list("NSSet", members)))
        }
        return table.dictionary("NSMutableDictionary", pairs)
    }

    private mutating func fill(_ entity: Entity, root: PropertyList) throws(ModelError) {
        guard let place = entities[entity.name] else { return }
        let children = model.children(of: entity.name).compactMap { name in
            entities[name].map { (key: name, value: $0) }
        }
        let parent = entity.parent.flatMap { entities[$0] }
        var fields = [
            PropertyList.Entry("NSEntityName", table.text(entity.name)),
            PropertyList.Entry("NSClassNameForEntity", table.text(entity.className)),
            PropertyList.Entry(
                "NSSubentities", table.dictionary("NSMutableDictionary", children)),
            PropertyList.Entry("NSSuperentity", parent ?? KeyedArchiveBuilder.null),
            PropertyList.Entry("NSProperties", try propertyDictionary(of: entity)),
            PropertyList.Entry("NSUserInfo", userInfo(entity.userInfo)),
            PropertyList.Entry("NSVersionHashModifier", table.text(entity.versionHashModifier)),
            PropertyList.Entry(
                "NSRenamingIdentifier", table.text(entity.renamingIdentifier ?? entity.name)),
            PropertyList.Entry("NSManagedObjectModel", root),
        ]
        if entity.isAbstract { fields.append(PropertyList.Entry("NSIsAbstract", .boolean(true))) }
        if hasFetchIndexes {
            var indexes: [PropertyList] = []
            for index in entity.fetchIndexes {
                indexes.append(try fetchIndex(index, of: entity.name, entity: place))
            }
            fields.append(
                PropertyList.Entry(
                    "NSFetchIndexDescriptions", table.list("NSMutableArray", indexes)))
        }
        if !entity.compoundIndexes.isEmpty {
            fields.append(
                PropertyList.Entry("NSCompoundIndexes", nameLists(entity.compoundIndexes)))
        }
        if !entity.uniquenessConstraints.isEmpty {
            fields.append(
                PropertyList.Entry("NSUniqueTuples", nameLists(entity.uniquenessConstraints)))
        }
        table.fill(place, ArchivedClass.entity, fields)
    }

    /// Own and inherited properties, by name.
    private mutating func propertyDictionary(of entity: Entity) throws(ModelError) -> PropertyList {
        var pairs: [(key: String, value: PropertyList)] = []
        for ancestor in model.ancestry(of: entity.name).reversed() {
            for attribute in ancestor.attributes {
                if let place = place(of: attribute.name, in: entity.name) {
                    try fill(place, attribute, of: entity.name)
                    pairs.append((attribute.name, place))
                }
            }
            for relationship in ancestor.relationships {
                if let place = place(of: relationship.name, in: entity.name) {
                    fill(place, relationship, of: entity.name)
                    pairs.append((relationship.name, place))
                }
            }
            for name in ancestor.fetchedProperties {
                if let place = place(of: name, in: entity.name) {
                    fill(place, fetchedProperty: name, of: entity.name)
                    pairs.append((name, place))
                }
            }
        }
        pairs.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        return table.dictionary("NSMutableDictionary", pairs)
    }

    func place(of property: String, in entity: String) -> PropertyList? {
        properties[PropertyKey(entity: entity, property: property)]
    }

    private mutating func nameLists(_ lists: [[String]]) -> PropertyList {
        var references: [PropertyList] = []
        for list in lists {
            var names: [PropertyList] = []
            for name in list { names.append(table.text(name)) }
            references.append(table.list("NSMutableArray", names))
        }
        return table.list("NSMutableArray", references)
    }

    mutating func userInfo(_ info: [String: String]) -> PropertyList {
        let keys = info.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        var pairs: [(key: String, value: PropertyList)] = []
        for key in keys { pairs.append((key, table.text(info[key]))) }
        return table.dictionary("NSDictionary", pairs)
    }
}
