import CoreDataStore
import SafeSQLite

/// What files of the same schema have in common, worked out once for all of them.
///
/// Everything in it follows from its keys alone.
package final class SchemaCache: Sendable {
    private struct IndexKey: Equatable, Sendable {
        let objects: [SchemaObject]
        let layout: StoreLayout
    }

    private let indexes = Memo<IndexKey, TableFacts>(limit: SchemaCache.limit)
    private let surpluses = Memo<IndexKey, SchemaSurplus>(limit: SchemaCache.limit)
    private let shapes = Memo<[SchemaObject], PageShapes>(limit: SchemaCache.limit)

    /// The most versions of apps that are kept.
    private static let limit = 32
    /// The largest schema whose indexes are kept, in objects.
    private static let objectLimit = 2_000

    package init() {}

    /// The indexes and columns that the statements of a file make.
    func facts(
        of schema: StoreSchema, layout: StoreLayout, read: () throws(StoreError) -> TableFacts
    ) throws(StoreError) -> TableFacts {
        guard schema.objects.count <= Self.objectLimit else { return try read() }
        let key = IndexKey(objects: schema.objects.map(\.unplaced), layout: layout)
        return try indexes.value(for: key, compute: read)
    }

    /// How the records of a file are read.
    func shapes(of schema: StoreSchema) -> PageShapes {
        guard schema.objects.count <= Self.objectLimit else { return PageShapes(schema) }
        return shapes.value(for: schema.objects.map(\.unplaced)) { PageShapes(schema) }
    }

    /// What the schema of a file has beyond its layout.
    func surplus(of schema: StoreSchema, layout: StoreLayout) -> SchemaSurplus {
        let find = { SchemaSurplus(schema, layout: layout) }
        guard schema.objects.count <= Self.objectLimit else { return find() }
        let key = IndexKey(objects: schema.objects.map(\.unplaced), layout: layout)
        return surpluses.value(for: key, compute: find)
    }
}
