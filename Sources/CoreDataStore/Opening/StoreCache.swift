package import ManagedObjectModel
import ModelFiles
package import SafeSQLite

/// What stores of the same app have in common, worked out once for all of them.
///
/// Everything in it follows from its key alone; a store that is opened with a cache is the same
/// as one that is opened without.
package final class StoreCache: Sendable {
    /// A model that was decoded, with its hashes.
    package struct DecodedModel: Sendable {
        package let model: Model
        package let hashes: VersionHashes
    }

    private struct LayoutKey: Equatable, Sendable {
        let model: Model
        let framework: FrameworkVersion
    }

    private struct BlankKey: Equatable, Sendable {
        let layout: LayoutKey
        let indexes: BlankStore.Indexes
    }

    /// Bytes that are compared all at once.
    private struct ModelBytes: Equatable, Sendable {
        let bytes: [UInt8]

        static func == (left: ModelBytes, right: ModelBytes) -> Bool {
            left.bytes.withUnsafeBufferPointer { own in
                right.bytes.withUnsafeBufferPointer { own.hasBytes($0) }
            }
        }
    }

    private let models = Memo<ModelBytes, DecodedModel>(limit: StoreCache.limit)
    private let layouts = Memo<LayoutKey, StoreLayout>(limit: StoreCache.limit)
    private let blanks = Memo<BlankKey, BlankStore>(limit: StoreCache.limit)
    private let schemas = Memo<LayoutKey, MadeSchema>(limit: StoreCache.limit)
    private let columns = Memo<[SchemaObject], TableColumns>(limit: StoreCache.limit)

    /// The most versions of apps that are kept.
    private static let limit = 32
    /// The largest model cache that is kept, in bytes; the largest real one has about 200 KiB.
    private static let modelBytesLimit = 1 << 20

    package init() {}

    /// The model in the bytes of a store's `Z_MODELCACHE`.
    ///
    /// - Throws: `ModelError` for bytes that are no model.
    package func model(in bytes: [UInt8]) throws(ModelError) -> DecodedModel {
        guard bytes.count <= Self.modelBytesLimit else { return try Self.decode(bytes) }
        return try models.value(for: ModelBytes(bytes: bytes)) { () throws(ModelError) in
            try Self.decode(bytes)
        }
    }

    private static func decode(_ bytes: [UInt8]) throws(ModelError) -> DecodedModel {
        let model = try ModelArchive.read(try Deflate.inflate(bytes))
        return DecodedModel(model: model, hashes: VersionHashes(model))
    }

    /// The layout of a model.
    ///
    /// - Throws: `StoreError.layoutUnknown`, as `StoreLayout`.
    package func layout(
        of model: Model, framework: FrameworkVersion
    ) throws(StoreError) -> StoreLayout {
        try layouts.value(for: LayoutKey(model: model, framework: framework)) {
            () throws(StoreError) in try StoreLayout(model: model, framework: framework)
        }
    }

    /// The empty store of a layout.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    package func blank(
        of layout: StoreLayout, _ indexes: BlankStore.Indexes
    ) throws(StoreError) -> BlankStore {
        let key = LayoutKey(model: layout.model, framework: layout.framework)
        return try blanks.value(for: BlankKey(layout: key, indexes: indexes)) {
            () throws(StoreError) in try BlankStore(layout, indexes)
        }
    }

    /// The schema that a finished store of a layout has.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    package func schema(of layout: StoreLayout) throws(StoreError) -> MadeSchema {
        try schemas.value(for: LayoutKey(model: layout.model, framework: layout.framework)) {
            () throws(StoreError) in try MadeSchema(layout)
        }
    }

    /// The columns of the tables that statements make.
    func columns(
        of objects: [SchemaObject], read: () throws(StoreError) -> TableColumns
    ) throws(StoreError) -> TableColumns {
        let bytes = objects.reduce(0) { $0 + ($1.sql?.utf8.count ?? 0) + $1.name.utf8.count }
        guard bytes <= Self.schemaBytesLimit else { return try read() }
        return try columns.value(for: objects.map(\.unplaced), compute: read)
    }

    /// The largest schema that is kept, in bytes of its statements.
    private static let schemaBytesLimit = 1 << 20
}

extension StoreSchema {
    /// Reads the schema of an open file with what is known of files of the same schema.
    ///
    /// - Throws: `StoreError`, as `read(_:columns:)`.
    package static func read(
        _ connection: Connection, cache: StoreCache
    ) throws(StoreError) -> StoreSchema {
        try read(connection) { objects, read throws(StoreError) in
            try cache.columns(of: objects, read: read)
        }
    }
}
