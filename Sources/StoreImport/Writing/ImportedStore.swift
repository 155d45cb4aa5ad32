import CoreDataStore
import DurableFiles
import ManagedObjectModel
import ModelFiles
import SafeSQLite

/// A store that parts are imported into, held by this process alone.
final class ImportedStore {
    let schema: ImportSchema
    let connection: Connection
    let pending: PendingLinks
    let writer: ObjectWriter
    private(set) var marker: ImportMarker
    let path: FilePath
    private let keys: KeyReservoir
    private let metadata: StoreMetadata
    private let update: Statement

    private static let helperPrefix = "GODWIT_IMPORT_INDEX_"
    private static let cacheKibibytes = 32 << 10

    /// Opens a store that exists.
    ///
    /// - Throws: `ImportError.refused` for a store that cannot be imported into, `StoreError`.
    init(
        _ source: SourceStore, destination: DestinationModel?, keys: [String: String]
    ) throws {
        path = source.path
        let name = source.path.description
        if let destination { try Self.check(source, destination) }
        let links = try FileStatus(of: source.path).links
        guard links == 1 else {
            throw ImportError.refused(
                store: name,
                reason: "it has \(links) names (hard links), and an import through one would "
                    + "change all of them")
        }
        guard !source.hasHistory else {
            throw ImportError.refused(
                store: name,
                reason: "it has persistent history, in which imported objects would be missing")
        }
        let schema = try ImportSchema(source.layout, keys: keys, store: name)
        self.schema = schema
        metadata = source.metadata
        let connection = try Connection(
            path: source.path, mode: .readWrite, cacheKibibytes: Self.cacheKibibytes)
        self.connection = connection
        // Every batch is on the disk before the next one, and before its part is removed.
        try connection.configure("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 8000")
        self.keys = KeyReservoir(connection)
        // From here on the store belongs to this process; what was read of it must still hold.
        try connection.execute("BEGIN IMMEDIATE")
        guard try StoreMetadata.read(connection) == metadata else {
            throw ImportError.store(.changed(name))
        }
        let written = try ImportMarker(metadata, store: name)
        let there = Set(try Self.names(connection))
        pending = try PendingLinks(connection, exists: there.contains(PendingLinks.table))
        if let written, try pending.count() > 0 {
            // The links that wait were read with these keys.
            guard written.keys.allSatisfy({ keys[$0.key] == $0.value }) else {
                throw ImportError.otherKeys(store: name, keys: written.keys)
            }
        }
        marker = written ?? ImportMarker(keys: keys)
        marker.keys = keys
        try Self.makeHelpers(schema, there, connection)
        update = try connection.prepare("UPDATE main.Z_METADATA SET Z_PLIST = ?1")
        try connection.execute("COMMIT")
        writer = ObjectWriter(connection, schema, pending, self.keys)
    }

    private static func check(
        _ source: SourceStore, _ destination: DestinationModel
    ) throws(ImportError) {
        let differing = destination.hashes.differences(from: source.metadata.versionHashes)
        guard differing.isEmpty else {
            throw .otherVersion(store: source.path.description, entities: differing)
        }
    }

    /// Indexes without which an import would read whole tables, for as long as it lasts.
    private static func makeHelpers(
        _ schema: ImportSchema, _ there: Set<String>, _ connection: Connection
    ) throws(StoreError) {
        for place in schema.columnsWithoutIndex(there) {
            let digest = ContentDigest.hexadecimal(
                of: Array("\(place.table) \(place.column)".utf8))
            let name = helperPrefix + digest.prefix(16)
            guard !there.contains(name) else { continue }
            let (table, column) = (SQLText.declared(place.table), SQLText.declared(place.column))
            try connection.create(
                SchemaDefinition(
                    .index, name, table: place.table,
                    sql: "CREATE INDEX \(SQLText.declared(name)) ON \(table) (\(column))"))
        }
    }

    /// Of the tables and indexes.
    private static func names(_ connection: Connection) throws(StoreError) -> [String] {
        try connection.texts("SELECT name FROM sqlite_schema")
    }

    /// Writes a batch with the marker behind it, in one transaction.
    ///
    /// - Throws: `ImportError.line` for an object that cannot be written; the batch is then gone.
    func write(_ batch: ObjectBatch) throws {
        try connection.execute("BEGIN IMMEDIATE")
        do {
            for one in batch.objects {
                do throws(ObjectFault) {
                    try writer.write(
                        one.object, LinePlace(part: batch.part.number, line: one.line))
                } catch {
                    throw ImportError(
                        error, part: batch.part, line: one.line, resumesAt: batch.firstLine)
                }
            }
            try keys.record()
            marker.advance(batch.part.number, to: batch.end, isLast: batch.isLast)
            try update.bind(
                BinaryPropertyList.write(marker.written(to: metadata).properties), at: 1)
            try update.run()
            try connection.execute("COMMIT")
        } catch {
            if connection.isInTransaction { try connection.execute("ROLLBACK") }
            throw error
        }
    }

    /// Makes the links that waited for objects of later parts.
    ///
    /// - Parameter batch: links of one transaction.
    /// - Throws: `StoreError` with SQLite's reason.
    func linkPending(batch: Int) throws(StoreError) {
        var number: Int64 = 0
        while let last = try connection.transaction({ () throws(StoreError) in
            try writer.linkPending(after: number, limit: batch)
        }) {
            number = last
        }
    }

    /// Makes the indexes that are missing, and removes what only the import needed.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    func finish() throws(StoreError) {
        try connection.transaction { () throws(StoreError) in
            let there = Set(try Self.names(connection))
            for name in there.sorted() where name.hasPrefix(Self.helperPrefix) {
                try connection.drop(index: name)
            }
            for index in schema.layout.indexes where !there.contains(index.name) {
                try connection.create(index.definition)
            }
        }
    }

    /// Removes the table of links, of which none waits any more.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    func close(dropsPending: Bool) throws(StoreError) {
        if dropsPending { try connection.drop(table: PendingLinks.table) }
        try connection.checkpoint()
    }
}
