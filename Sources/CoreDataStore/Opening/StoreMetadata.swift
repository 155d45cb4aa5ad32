package import ManagedObjectModel
package import ModelFiles
package import SafeSQLite

/// The row of `Z_METADATA`.
package struct StoreMetadata: Hashable, Sendable {
    /// `Z_UUID`: part of every object's URI.
    package let uuid: String
    /// `Z_PLIST` with every key that the app or the framework put there.
    package let properties: PropertyList

    package init(uuid: String, properties: PropertyList) {
        self.uuid = uuid
        self.properties = properties
    }

    /// Reads the one row.
    ///
    /// - Throws: `StoreError.notAStore` when there is no single row or its plist is none.
    package static func read(_ connection: Connection) throws(StoreError) -> StoreMetadata {
        let list = try connection.prepare("SELECT Z_UUID, Z_PLIST FROM Z_METADATA")
        guard try list.step() else {
            throw .notAStore(path: connection.path, reason: "Z_METADATA is empty")
        }
        let uuid = list.text(0) ?? ""
        let bytes = list.blob(1) ?? []
        guard try !list.step() else {
            throw .notAStore(path: connection.path, reason: "Z_METADATA has several rows")
        }
        do {
            let properties = try BinaryPropertyList.read(bytes)
            guard case .dictionary = properties else {
                throw ModelError.malformed("the property list is not a dictionary")
            }
            return StoreMetadata(uuid: uuid, properties: properties)
        } catch {
            throw .notAStore(path: connection.path, reason: "Z_PLIST of Z_METADATA: \(error)")
        }
    }

    /// `NSPersistenceFrameworkVersion`, 0 where there is none.
    package var framework: FrameworkVersion {
        let number = properties["NSPersistenceFrameworkVersion"]?.integer64 ?? 0
        return FrameworkVersion(Int(truncatingIfNeeded: number))
    }

    /// `NSStoreModelVersionHashes`: entity name → hash.
    package var versionHashes: [String: [UInt8]] {
        let entries = properties["NSStoreModelVersionHashes"]?.entries ?? []
        return Dictionary(
            entries.compactMap { entry in entry.value.bytes.map { (entry.key, $0) } },
            uniquingKeysWith: { first, _ in first })
    }

    /// `NSStoreModelVersionIdentifiers`.
    package var versionIdentifiers: [String] {
        (properties["NSStoreModelVersionIdentifiers"]?.elements ?? []).compactMap(\.text)
    }

    /// The metadata of the same store at another model: the keys that tell of the model and the
    /// framework replaced, every other one as it was, value and type.
    ///
    /// - Parameters:
    ///   - hashes: of the destination model, entity name → 32 bytes.
    ///   - identifiers: of the destination model.
    ///   - framework: to write as; it decides which keys there are.
    /// - Returns: metadata of the same UUID.
    package func migrated(
        hashes: VersionHashes, identifiers: [String], framework: FrameworkVersion
    ) -> StoreMetadata {
        let named = hashes.entities.sorted { $0.key < $1.key }
            .map { PropertyList.Entry($0.key, .data($0.value)) }
        var list =
            properties
            .setting("NSPersistenceFrameworkVersion", to: .integer(Int128(framework.number)))
            .setting("NSStoreModelVersionHashes", to: .dictionary(named))
            .setting("NSStoreModelVersionHashesVersion", to: .integer(3))
            .setting(
                "NSStoreModelVersionIdentifiers", to: .array(identifiers.map { .string($0) })
            )
            .setting("NSStoreType", to: .string("SQLite"))
            .setting("_NSAutoVacuumLevel", to: .string("2"))
        list = list.setting(
            "NSStoreModelVersionHashesDigest",
            to: framework.hasHashesDigest ? .string(hashes.digest) : nil)
        list = list.setting(
            "NSStoreModelVersionChecksumKey",
            to: framework.hasChecksum ? .string(hashes.checksum) : nil)
        return StoreMetadata(uuid: uuid, properties: list)
    }
}
