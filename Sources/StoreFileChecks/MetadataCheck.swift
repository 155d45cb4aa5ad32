package import CoreDataStore
package import ManagedObjectModel
import ModelFiles
package import SafeSQLite

/// Checks of `Z_METADATA` and `Z_MODELCACHE`.
package struct MetadataCheck {
    private let layout: StoreLayout
    private let hashes: VersionHashes
    private let stores: StoreCache

    /// - Parameters:
    ///   - layout: what the file must have.
    ///   - hashes: of the layout's model.
    ///   - stores: decoded models.
    package init(layout: StoreLayout, hashes: VersionHashes, stores: StoreCache) {
        self.layout = layout
        self.hashes = hashes
        self.stores = stores
    }

    /// Keys that tell of the model and the framework; all others belong to the app.
    private static let modelKeys: Set<String> = [
        "NSPersistenceFrameworkVersion", "NSStoreModelVersionHashes",
        "NSStoreModelVersionHashesVersion", "NSStoreModelVersionIdentifiers",
        "NSStoreModelVersionHashesDigest", "NSStoreModelVersionChecksumKey", "NSStoreType",
        "_NSAutoVacuumLevel",
    ]

    /// What metadata say of model and framework.
    package func check(_ metadata: StoreMetadata) -> [String] {
        var found: [String] = []
        let stored = metadata.versionHashes
        for entity in hashes.differences(from: stored) where isSure(entity, stored) {
            found.append("version hash of \(entity)")
        }
        let list = metadata.properties
        let told = VersionHashes(read: stored)
        let digest = layout.framework.hasHashesDigest ? told.digest : nil
        if list["NSStoreModelVersionHashesDigest"]?.text != digest {
            found.append("NSStoreModelVersionHashesDigest")
        }
        let checksum = layout.framework.hasChecksum ? told.checksum : nil
        if list["NSStoreModelVersionChecksumKey"]?.text != checksum {
            found.append("NSStoreModelVersionChecksumKey")
        }
        if metadata.framework != layout.framework { found.append("NSPersistenceFrameworkVersion") }
        if metadata.versionIdentifiers.sorted() != layout.model.versionIdentifiers.sorted() {
            found.append("NSStoreModelVersionIdentifiers")
        }
        if list["NSStoreModelVersionHashesVersion"]?.integer64 != 3 {
            found.append("NSStoreModelVersionHashesVersion")
        }
        if list["NSStoreType"]?.text != "SQLite" { found.append("NSStoreType") }
        if list["_NSAutoVacuumLevel"]?.text != "2" { found.append("_NSAutoVacuumLevel") }
        return found
    }

    // A computed hash that no known store confirms proves nothing; only its presence counts.
    private func isSure(_ entity: String, _ stored: [String: [UInt8]]) -> Bool {
        hashes.unconfirmed[entity] == nil || stored[entity] == nil
    }

    /// What the app wrote must be the same on both sides, value and type, and the UUID too.
    package static func kept(source: StoreMetadata, destination: StoreMetadata) -> [String] {
        var found = source.uuid.isExactly(destination.uuid) ? [] : ["Z_UUID"]
        let entries = { (metadata: StoreMetadata) in
            (metadata.properties.entries ?? []).filter { !modelKeys.contains($0.key) }
        }
        let (before, after) = (entries(source), entries(destination))
        for entry in before {
            // As they are written: texts by their bytes.
            let value = destination.properties[entry.key].map(BinaryPropertyList.write)
            if value != BinaryPropertyList.write(entry.value) {
                found.append("key \(entry.key)")
            }
        }
        for entry in after where source.properties[entry.key] == nil {
            found.append("surplus key \(entry.key)")
        }
        return found
    }

    /// Rows of Core Data's own tables that Core Data would not write: it has one of metadata,
    /// with the version 1, and one cached model at most.
    package static func rows(_ file: FileReading) throws(StoreError) -> [String] {
        var found: [String] = []
        let connection = try file.connection()
        let metadata = try connection.prepare(
            "SELECT count(*), min(Z_VERSION), max(Z_VERSION) FROM Z_METADATA")
        if try metadata.step() {
            let rows = metadata.integer(0)
            if rows != 1 { found.append("Z_METADATA has \(rows) rows") }
            if metadata.integer(1) != 1 || metadata.integer(2) != 1 {
                found.append("Z_VERSION of Z_METADATA is not 1")
            }
        }
        guard try file.schema().hasTable("Z_MODELCACHE") else { return found }
        let models = try connection.integer("SELECT count(*) FROM Z_MODELCACHE") ?? 0
        if models > 1 { found.append("Z_MODELCACHE has \(models) rows") }
        return found
    }

    /// Whether the cached model is the layout's.
    package func modelCache(_ file: FileReading) throws(StoreError) -> [String] {
        guard layout.framework.hasModelCache else { return [] }
        guard try file.schema().hasTable("Z_MODELCACHE") else { return ["no model cache"] }
        let statement = try file.connection().prepare("SELECT Z_CONTENT FROM Z_MODELCACHE")
        guard try statement.step(), let bytes = statement.blob(0) else {
            return ["the model cache is empty"]
        }
        do {
            let cached = try stores.model(in: bytes).hashes
            let differing = cached.differences(from: hashes.entities).filter {
                cached.unconfirmed[$0] == nil && hashes.unconfirmed[$0] == nil
            }
            return differing.map { "the cached model has another version of entity \($0)" }
        } catch {
            return ["the model cache cannot be read"]
        }
    }
}
