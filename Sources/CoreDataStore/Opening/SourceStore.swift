package import DurableFiles
package import ManagedObjectModel
package import SafeSQLite

/// A store that was opened for reading and found to be whole: what planning and copying start
/// from.
///
/// The files themselves are never changed.
package struct SourceStore: Sendable {
    /// The original's path, symbolic links resolved.
    package let path: FilePath
    /// The file to read: the original where it is at rest, else a snapshot.
    package let database: FilePath
    /// Whether the database is a snapshot of our own.
    package let isSnapshot: Bool
    package let header: DatabaseHeader
    package let schema: StoreSchema
    package let primaryKeys: PrimaryKeys
    package let metadata: StoreMetadata
    package let model: Model
    /// The model as the store holds it, still compressed; nil where the model was given.
    package let modelCache: [UInt8]?
    package let layout: StoreLayout
    /// The state of the original's files when it was opened.
    package let fingerprint: StoreFingerprint
    /// Things that are unusual, in words.
    package let oddities: [String]

    /// The folder of external data beside the original, whether it exists or not:
    /// `.NAME_SUPPORT/_EXTERNAL_DATA`.
    package var externalData: FilePath { StoreLocation(path).externalData }

    /// Bytes of the database that is read, before its `-wal` or after, whichever are more.
    package var bytes: Int64 {
        // Both factors come from a header that was held against the file's length.
        max(fingerprint.main.size, header.pageCount * Int64(header.pageSize))
    }

    /// Opens the file to be read.
    package func connect(cacheKibibytes: Int = 2048) throws(StoreError) -> Connection {
        try Connection(path: database, mode: .immutable, cacheKibibytes: cacheKibibytes)
    }

    /// Objects of the schema that neither the model nor Core Data itself explains.
    package var extras: [SchemaObject] { SchemaExtras.find(in: schema, layout: layout) }

    /// Whether the store has persistent history.
    package var hasHistory: Bool { schema.hasTable("ACHANGE") }
}
