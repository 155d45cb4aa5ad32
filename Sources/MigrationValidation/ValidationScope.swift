package import CoreDataStore
package import ManagedObjectModel
package import MappingModel
package import SafeSQLite

/// What validation is about: two layouts, the mapping between them, and how keys move.
///
/// It holds what the user and the design decided, never how the copy is carried out.
package struct ValidationScope: Sendable {
    /// A source table and a destination table that it feeds.
    package struct TablePair: Hashable, Sendable {
        package let source: String
        package let destination: String

        package init(_ source: String, _ destination: String) {
            self.source = source
            self.destination = destination
        }
    }

    /// The places of objects in a list whose order the source does not have.
    package enum NewPlaces: Hashable, Sendable {
        /// Every object has one and no two share one: a program other than Godwit made them.
        case distinct
        /// From 2048 in steps of 1024, in the order of the objects' keys, as Godwit makes them.
        case byKey
    }

    package var source: StoreLayout
    package var destination: StoreLayout
    package var mapping: Mapping
    /// Destination key = source key + offset.
    package var offsets: [TablePair: Int64]
    /// `Z_MAX` of each root entity of the destination.
    package var maxima: [String: Int64]
    package var dangling: DanglingPolicy
    package var allowsMissingExternalData: Bool
    /// Which places are right in lists that the source keeps without an order.
    package var newPlaces: NewPlaces
    /// Tables, views, triggers and indexes that no model explains and that must be in the result.
    package var keptObjects: [SchemaObject]
    /// Of the destination's model, as metadata must name them.
    package var hashes: VersionHashes
    /// What a version in between renames and the mapping drops, by what the source calls it.
    package var intermediateRenames: [String: IntermediateRename] = [:]
    /// What `now()` gives in mappings: seconds since 2001-01-01 00:00:00 UTC.
    package var now: Double = 0
    /// What is known of models and layouts, which follow from their keys alone.
    package var stores: StoreCache
    /// What other validations worked out.
    let cache: ValidationCache
    /// The secret of this validation's hashes.
    let key: HashKey

    /// The scope of a migration by Godwit, by what was decided of it.
    ///
    /// `offsets`: by tables, what is added to keys.
    /// `maxima`: `Z_MAX` of each root entity of the destination.
    /// `hashes`: as a template or a compiled model names them; computed where nil.
    /// `stores`, `cache`: what is known of stores of the same app.
    /// `key`: the secret of the hashes, drawn when the result can no longer be changed by who
    /// made it.
    package init(
        source: StoreLayout, destination: StoreLayout, mapping: Mapping,
        offsets: [TablePair: Int64], maxima: [String: Int64], dangling: DanglingPolicy,
        allowsMissingExternalData: Bool, keptObjects: [SchemaObject], hashes: VersionHashes?,
        stores: StoreCache, cache: ValidationCache, key: HashKey = .drawn()
    ) {
        self.source = source
        self.destination = destination
        self.mapping = mapping
        self.offsets = offsets
        self.maxima = maxima
        self.dangling = dangling
        self.allowsMissingExternalData = allowsMissingExternalData
        newPlaces = .byKey
        self.keptObjects = keptObjects
        self.hashes = hashes ?? VersionHashes(destination.model)
        self.stores = stores
        self.cache = cache
        self.key = key
    }

    /// The scope of two stores of which one is said to come from the other, by whatever program.
    ///
    /// `highestKeys`: the highest key ever used in each source table: offsets and `Z_MAX`
    /// follow from it.
    /// `hashes`: nil for computed ones.
    /// `keptObjects`: of the source's schema, beside what the models explain.
    /// `key`: the secret of the hashes.
    package init(
        source: StoreLayout, destination: StoreLayout, mapping: Mapping,
        highestKeys: [String: Int64], dangling: DanglingPolicy = .keep,
        allowsMissingExternalData: Bool = true, hashes: VersionHashes? = nil,
        keptObjects: [SchemaObject] = [], key: HashKey = .drawn()
    ) {
        stores = StoreCache()
        cache = ValidationCache()
        self.key = key
        self.source = source
        self.destination = destination
        self.mapping = mapping
        self.dangling = dangling
        self.allowsMissingExternalData = allowsMissingExternalData
        newPlaces = .distinct
        self.keptObjects = keptObjects
        self.hashes = hashes ?? VersionHashes(destination.model)
        var offsets: [TablePair: Int64] = [:]
        var tops: [String: Int64] = [:]
        for entity in mapping.entityMappings {
            guard let from = entity.source.flatMap({ source.table(of: $0) }),
                let to = entity.destination.flatMap({ destination.table(of: $0) })
            else { continue }
            let pair = TablePair(from.name, to.name)
            guard offsets[pair] == nil else { continue }
            let offset = tops[to.name] ?? 0
            offsets[pair] = offset
            tops[to.name] = offset &+ (highestKeys[from.name] ?? 0)
        }
        self.offsets = offsets
        maxima = Dictionary(
            destination.tables.map { ($0.rootEntity, tops[$0.name] ?? 0) },
            uniquingKeysWith: { first, _ in first })
    }
}

/// Where objects of one source entity are in the destination.
struct Fate: Hashable, Sendable {
    /// The number of the destination entity.
    let number: Int64
    let offset: Int64
    let entity: String
    let table: String
}

extension ValidationScope {
    /// What becomes of objects of exactly one source entity, one for each mapping.
    func fates(ofSource entity: String) -> [(mapping: EntityMapping, fate: Fate)] {
        mapping.entityMappings.compactMap { mapped in
            guard mapped.source == entity, let fate = fate(of: mapped) else { return nil }
            return (mapped, fate)
        }
    }

    /// By source table whose keys do not move, a key that none of them is above.
    var highestKeys: [String: Int64] {
        var keys: [String: Int64] = [:]
        for (pair, offset) in offsets where offset == 0 {
            let root = destination.table(named: pair.destination)?.rootEntity
            keys[pair.source] = root.flatMap { maxima[$0] }
        }
        return keys
    }

    /// Where the objects of an entity mapping go; nil for removals and additions.
    func fate(of mapped: EntityMapping) -> Fate? {
        guard let from = mapped.source.flatMap({ source.table(of: $0) }),
            let name = mapped.destination, let number = destination.number(of: name),
            let table = destination.table(of: name)?.name
        else { return nil }
        return Fate(
            number: Int64(number), offset: offsets[TablePair(from.name, table)] ?? 0,
            entity: name, table: table)
    }
}

extension StoreLayout {
    /// The numbers of an entity and of all that inherit from it.
    package func familyNumbers(of entity: String) -> [Int64] {
        model.family(of: entity).compactMap { number(of: $0.name).map(Int64.init) }
    }

    /// The entity table of that name.
    func table(named name: String) -> TableLayout? { tables.first { $0.name == name } }

    /// Whether rows of an entity use a column.
    package func uses(_ column: ColumnLayout, by entity: String) -> Bool {
        switch column.role {
        case .attribute(let key), .toOne(let key), .toOneEntity(let key), .order(let key):
            return model.isKind(entity, of: key.entity)
        case .hiddenKey(let key), .hiddenOrder(let key):
            guard
                let target = model.relationship(key.property, of: key.entity)?.relationship
                    .destination
            else { return false }
            return model.isKind(entity, of: target)
        }
    }

    /// The attribute of a column, with whether it may be without a value.
    func attribute(_ key: PropertyKey) -> (element: Attribute, isOptional: Bool)? {
        let name = key.property.split(separator: ".").first.map(String.init) ?? key.property
        guard let attribute = model.attribute(name, of: key.entity)?.attribute,
            let element = attribute.storedElements.first(where: { $0.path == key.property })
        else { return nil }
        return (element.attribute, attribute.isOptional || element.attribute.isOptional)
    }
}
