import ManagedObjectModel
import SafeSQLite

/// What is read from an open store before any row: schema, metadata, model, layout.
struct StoreContents {
    let schema: StoreSchema
    let primaryKeys: PrimaryKeys
    let metadata: StoreMetadata
    let model: Model
    let modelCache: [UInt8]?
    let layout: StoreLayout
    let oddities: [String]

    static func read(
        _ connection: Connection, given: Model?, known: StoreCache
    ) throws(StoreError) -> StoreContents {
        let schema = try StoreSchema.read(connection, cache: known)
        try checkSystemTables(schema, path: connection.path)
        let primaryKeys = try PrimaryKeys.read(connection)
        let metadata = try StoreMetadata.read(connection)
        var oddities: [String] = []
        let cache = try modelCache(schema, connection, &oddities)
        let model = try model(
            cache: cache, given: given, metadata: metadata, path: connection.path, known: known,
            oddities: &oddities)
        let layout = try known.layout(of: model, framework: metadata.framework)
        let stale = try LayoutCheck(schema: schema, primaryKeys: primaryKeys, layout: layout)
            .verify(path: connection.path)
        oddities += stale
        oddities += primaryKeys.unexplained.map {
            "row \($0.number) of Z_PRIMARYKEY is not Core Data's and is not carried over"
        }
        return StoreContents(
            schema: schema, primaryKeys: primaryKeys, metadata: metadata, model: model,
            modelCache: given == nil ? cache : nil, layout: layout, oddities: oddities)
    }

    /// The columns of Core Data's own tables, the same in every store that is known.
    private static let systemColumns = [
        ("Z_METADATA", ["Z_VERSION", "Z_UUID", "Z_PLIST"]), ("Z_MODELCACHE", ["Z_CONTENT"]),
        ("Z_PRIMARYKEY", ["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"]),
    ]

    private static func checkSystemTables(
        _ schema: StoreSchema, path: String
    ) throws(StoreError) {
        for (table, columns) in systemColumns {
            guard let found = schema.columns[table]?.map(\.name) else {
                if table == "Z_MODELCACHE" { continue }
                throw .notAStore(
                    path: path, reason: "it is an SQLite database without \(table)")
            }
            guard Set(columns).isSubset(of: found) else {
                throw .notAStore(
                    path: path, reason: "it is an SQLite database without \(table)")
            }
            // The result would not have what stands there.
            if let surplus = found.first(where: { !columns.contains($0) }) {
                throw .layoutDiffers(
                    path: path, reason: "column \(table).\(surplus) is not Core Data's")
            }
        }
        if let mirrored = schema.objects.first(where: { $0.name.hasPrefix("ANSCK") }) {
            throw .unsupported(
                path: path,
                reason: "it is mirrored with CloudKit (table \(mirrored.name)), whose tables "
                    + "refer to objects in ways that are not supported yet")
        }
    }

    private static func modelCache(
        _ schema: StoreSchema, _ connection: Connection, _ oddities: inout [String]
    ) throws(StoreError) -> [UInt8]? {
        guard schema.hasTable("Z_MODELCACHE") else { return nil }
        let statement = try connection.prepare("SELECT Z_CONTENT FROM Z_MODELCACHE")
        guard try statement.step() else { return nil }
        let content = statement.blob(0)
        if try statement.step() {
            oddities.append("Z_MODELCACHE has several rows; Godwit uses the first")
        }
        return content
    }

    /// The model whose hashes are those of the metadata: the given one, else the cached one.
    private static func model(
        cache: [UInt8]?, given: Model?, metadata: StoreMetadata, path: String,
        known: StoreCache, oddities: inout [String]
    ) throws(StoreError) -> Model {
        let stored = metadata.versionHashes
        if let given {
            let differing = differences(VersionHashes(given), stored)
            guard differing.isEmpty else {
                throw .modelDiffers(path: path, entities: list(differing))
            }
            return given
        }
        guard let cache, !cache.isEmpty else { throw .modelMissing(path: path) }
        let decoded: StoreCache.DecodedModel
        do {
            decoded = try known.model(in: cache)
        } catch {
            throw .unsupported(path: path, reason: "the model inside the store: \(error)")
        }
        let differing = differences(decoded.hashes, stored)
        guard differing.isEmpty else {
            throw .unsupported(
                path: path,
                reason: "the model inside the store is of another version than its rows (hashes "
                    + "of \(list(differing)) differ): give the model that wrote it")
        }
        let unsure = decoded.hashes.unconfirmed
        if !unsure.isEmpty {
            oddities.append(
                "hashes of \(list(unsure.keys.sorted())) follow rules that no known store confirms")
        }
        return decoded.model
    }

    private static func differences(
        _ computed: VersionHashes, _ stored: [String: [UInt8]]
    ) -> [String] {
        computed.differences(from: stored).filter { computed.unconfirmed[$0] == nil }
    }

    private static func list(_ names: [String]) -> String {
        let shown = names.prefix(5).joined(separator: ", ")
        return names.count > 5 ? "\(shown) and \(names.count - 5) more" : shown
    }
}
