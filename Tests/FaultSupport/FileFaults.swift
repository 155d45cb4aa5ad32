import CoreDataStore
import ModelFiles
import SafeSQLite

extension SeededFault {
    private static func sql(_ name: String, _ sql: String) -> SeededFault {
        SeededFault(name: name) { try $0.change(sql) }
    }

    /// A fault in the property list of the metadata.
    private static func metadata(
        _ name: String, _ change: @escaping @Sendable (PropertyList) -> PropertyList
    ) -> SeededFault {
        SeededFault(name: name) { site in
            let before = try StoreMetadata.read(site.connection).properties
            let after = change(before)
            guard after != before else { return false }
            let update = try site.connection.prepare("UPDATE Z_METADATA SET Z_PLIST = ?1")
            try update.bind(BinaryPropertyList.write(after), at: 1)
            try update.run()
            return true
        }
    }

    /// Faults of what stands beside rows: keys, metadata, model cache.
    package static let fileFaults: [SeededFault] = [
        SeededFault(name: "a highest key that is too low") { site in
            for table in site.shuffled(site.tables) {
                let number = site.layout.number(of: table.rootEntity) ?? 0
                if try site.change(
                    "UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX - 1 "
                        + "WHERE Z_ENT = \(number) AND Z_MAX > 0"
                ) {
                    return true
                }
            }
            return false
        },
        sql("another highest key", "UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_ENT = 1"),
        sql(
            "another name of an entity",
            "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Other' WHERE Z_ENT = 1"),
        sql(
            "the name of an entity as a blob",
            "UPDATE Z_PRIMARYKEY SET Z_NAME = CAST(Z_NAME AS BLOB) WHERE Z_ENT = 1"),
        sql("another parent of an entity", "UPDATE Z_PRIMARYKEY SET Z_SUPER = 2 WHERE Z_ENT = 1"),
        sql("an entity missing", "DELETE FROM Z_PRIMARYKEY WHERE Z_ENT = 1"),
        sql(
            "an entity too many",
            "INSERT INTO Z_PRIMARYKEY SELECT max(Z_ENT) + 1, 'Surplus', 0, 0 FROM Z_PRIMARYKEY "
                + "WHERE Z_ENT < 16000"),
        sql("another UUID", "UPDATE Z_METADATA SET Z_UUID = lower(Z_UUID) || '-0'"),
        sql("a model cache missing", "DELETE FROM Z_MODELCACHE"),
        sql(
            "a truncated model cache",
            "UPDATE Z_MODELCACHE SET Z_CONTENT = substr(Z_CONTENT, 1, length(Z_CONTENT) / 2)"),
        metadata("a key of the app changed") { list in
            let own = list.entries?.first { !$0.key.contains("NS") }
            return own.map { list.setting($0.key, to: .string("spoilt")) } ?? list
        },
        metadata("a key of the app missing") { list in
            let own = list.entries?.first { !$0.key.contains("NS") }
            return own.map { list.setting($0.key, to: nil) } ?? list
        },
        metadata("a key too many") { $0.setting("ComExampleSurplus", to: .integer(1)) },
        metadata("a version hash changed") { list in
            let hashes = list["NSStoreModelVersionHashes"]
            guard let first = hashes?.entries?.first, let hashes else { return list }
            let other = hashes.setting(first.key, to: .data([UInt8](repeating: 7, count: 32)))
            return list.setting("NSStoreModelVersionHashes", to: other)
        },
        metadata("a digest missing") { $0.setting("NSStoreModelVersionHashesDigest", to: nil) },
        metadata("another framework version") {
            $0.setting("NSPersistenceFrameworkVersion", to: .integer(99))
        },
        SeededFault(name: "no write-ahead log") { site in
            let before = try site.connection.texts("PRAGMA journal_mode").first
            return try before == "wal"
                && site.connection.texts("PRAGMA journal_mode = DELETE").first == "delete"
        },
    ]
}
