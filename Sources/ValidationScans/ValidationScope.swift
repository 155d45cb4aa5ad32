package import CoreDataStore
package import Jobs
package import ManagedObjectModel
package import MappingModel
package import SafeSQLite

/// What validation is about: two layouts, the mapping between them, and how keys move.
///
/// It holds what the user and the design decided, never how the copy is carried out.
package struct ValidationScope: Sendable {
    /// How the keys of the objects of an entity mapping move.
    package struct KeyMove: Hashable, Sendable {
        /// 0, or a higher number for further mappings that put the same objects into one table.
        package let layer: Int
        /// Destination key = source key + offset.
        package let offset: Int64

        package init(layer: Int, offset: Int64) {
            self.layer = layer
            self.offset = offset
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
    /// Source entities whose objects filters tell apart.
    package var splits: [SourceSplit]
    /// By the names of entity mappings.
    package var moves: [String: KeyMove]
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
    /// Objects and links of which something comes from migration policies.
    package var policyRows: [PolicyRows] = []
    package var policyLinks: [PolicyLinks] = []
    /// The sums that were recorded over them, by the labels of columns.
    package var recordedSums: [String: ContentSum] = [:]
    /// What is known of models and layouts, which follow from their keys alone.
    package var stores: StoreCache
    /// What other validations worked out.
    package let cache: ValidationCache
    /// The secret of this validation's hashes.
    package let key: HashKey

    /// The scope of a migration by Godwit, by what was decided of it.
    ///
    /// `splits`: source entities whose objects filters tell apart.
    /// `moves`: by the names of entity mappings, what is added to keys.
    /// `maxima`: `Z_MAX` of each root entity of the destination.
    /// `hashes`: as a template or a compiled model names them; computed where nil.
    /// `stores`, `cache`: what is known of stores of the same app.
    /// `key`: the secret of the hashes, drawn when the result can no longer be changed by who
    /// made it.
    package init(
        source: StoreLayout, destination: StoreLayout, mapping: Mapping,
        splits: [SourceSplit], moves: [String: KeyMove], maxima: [String: Int64],
        dangling: DanglingPolicy,
        allowsMissingExternalData: Bool, keptObjects: [SchemaObject], hashes: VersionHashes?,
        stores: StoreCache, cache: ValidationCache, key: HashKey = .drawn()
    ) {
        self.source = source
        self.destination = destination
        self.mapping = mapping
        self.splits = splits
        self.moves = moves
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
    /// `splits`: source entities whose objects filters tell apart.
    /// `hashes`: nil for computed ones.
    /// `keptObjects`: of the source's schema, beside what the models explain.
    /// `key`: the secret of the hashes.
    package init(
        source: StoreLayout, destination: StoreLayout, mapping: Mapping,
        highestKeys: [String: Int64], splits: [SourceSplit] = [],
        dangling: DanglingPolicy = .keep,
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
        self.splits = splits
        var (moves, tops) = ([String: KeyMove](), [String: Int64]())
        var offsets: [Way: Int64] = [:]
        for (mapped, way) in Self.ways(of: mapping, source, destination, splits) {
            let offset = offsets[way] ?? tops[way.destination] ?? 0
            if offsets.updateValue(offset, forKey: way) == nil {
                tops[way.destination] = offset &+ (highestKeys[way.source] ?? 0)
            }
            moves[mapped.name] = KeyMove(layer: way.layer, offset: offset)
        }
        self.moves = moves
        maxima = Dictionary(
            destination.tables.map { ($0.rootEntity, tops[$0.name] ?? 0) },
            uniquingKeysWith: { first, _ in first })
    }
}
