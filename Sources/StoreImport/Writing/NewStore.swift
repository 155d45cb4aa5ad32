import CoreDataStore
import DurableFiles
import ModelFiles
import SafeSQLite

/// Makes the store that an import fills.
enum NewStore {
    /// Makes a store without rows; it has its name only when it is whole.
    ///
    /// Indexes that no import needs are left out, and are made when the import ends.
    ///
    /// - Parameters:
    ///   - path: of the store; nothing may be there.
    ///   - destination: its model.
    ///   - identifier: the UUID for its metadata.
    ///   - schema: the import's.
    ///   - marker: that no part is imported.
    ///   - files: through which it is made.
    /// - Throws: `StoreError`, `DurableFileError`.
    static func make(
        at path: FilePath, _ destination: DestinationModel, identifier: String,
        _ schema: ImportSchema, _ marker: ImportMarker, _ files: DurableFileSystem
    ) throws {
        // One name for each store, so that what a killed import left is found again.
        let digest = ContentDigest.hexadecimal(of: path.lastComponent.bytes).prefix(16)
        let temporary = path.parent.appending(
            "\(DurableFileSystem.temporaryPrefix)import-\(digest)")
        if try FileStatus.ifPresent(temporary) != nil { try files.remove(temporary) }
        do {
            let builder = try StoreBuilder(creating: temporary, layout: schema.layout)
            try builder.createTables()
            try builder.connection.transaction { () throws(StoreError) in
                for index in schema.neededIndexes {
                    try builder.connection.create(index.definition)
                }
            }
            let metadata = StoreMetadata(uuid: identifier, properties: .dictionary([]))
                .migrated(
                    hashes: destination.hashes, identifiers: destination.identifiers,
                    framework: schema.layout.framework)
            try builder.writeSystemTables(
                maxima: [:], metadata: marker.written(to: metadata),
                modelCache: destination.modelCache)
            try builder.finish(isWriteAheadLogged: true)
            try files.publishFile(temporary, as: path, existing: .refuse)
        } catch {
            if try FileStatus.ifPresent(temporary) != nil { try files.remove(temporary) }
            throw error
        }
    }
}
