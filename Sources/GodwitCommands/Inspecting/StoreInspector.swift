import CoreDataStore
import DurableFiles
import ManagedObjectModel
import ModelFiles
import RunReports
import SafeSQLite

/// Counts what a store holds; reads tables, never a value but references to external files.
struct StoreInspector {
    private let store: SourceStore
    private let connection: Connection
    private let files = DurableFileSystem()
    private var oddities: [String]

    /// Reads everything.
    ///
    /// - Parameters:
    ///   - store: open.
    ///   - isChecked: whether its pages were checked when it was opened.
    /// - Returns: the counts.
    /// - Throws: `StoreError` for a table that cannot be read, `DurableFileError` for a folder
    ///   of external data that cannot be listed.
    /// - Complexity: one pass over each table.
    static func inspect(_ store: SourceStore, isChecked: Bool) throws -> StoreInspection {
        var inspector = StoreInspector(
            store: store, connection: try store.connect(), oddities: store.oddities)
        let inspection = try inspector.inspection(isChecked: isChecked)
        try inspector.connection.close()
        return inspection
    }

    private mutating func inspection(isChecked: Bool) throws -> StoreInspection {
        var rows: [String: [Int64: Int64]] = [:]
        for table in store.layout.tables { rows[table.name] = try rowsByEntity(of: table.name) }
        noteForeignRows(rows)
        noteMissingIndexes()
        return StoreInspection(
            store: store.path.description, file: try file(isChecked: isChecked), model: model,
            entities: entities(rows), tables: try tables(rows), joinTables: try joinTables(),
            history: try history(), externalData: try externalData(),
            extras: store.extras.map {
                StoreInspection.ExtraFacts(
                    kind: $0.kind, name: $0.name, table: $0.table, remark: $0.lostContent)
            },
            unsupported: store.layout.unsupported, oddities: oddities)
    }

    private func file(isChecked: Bool) throws(StoreError) -> StoreInspection.FileFacts {
        StoreInspection.FileFacts(
            bytes: try connection.size(), pageSize: store.header.pageSize,
            pages: try connection.pageCount(),
            freePages: try connection.freePageCount(),
            isWriteAheadLogged: store.header.isWriteAheadLogged,
            writeAheadLogBytes: store.fingerprint.writeAheadLog?.size,
            rollbackJournalBytes: store.fingerprint.rollbackJournal?.size,
            isSnapshot: store.isSnapshot, isChecked: isChecked)
    }

    private var model: StoreInspection.ModelFacts {
        let metadata = store.metadata
        let known: Set<String> = [
            "NSPersistenceFrameworkVersion", "NSPersistenceMaximumFrameworkVersion",
            "NSPersistentStoreRebuildIndicies", "NSStoreModelVersionHashes",
            "NSStoreModelVersionHashesVersion", "NSStoreModelVersionHashesDigest",
            "NSStoreModelVersionIdentifiers", "NSStoreModelVersionChecksumKey", "NSStoreType",
            "_NSAutoVacuumLevel", ImportTraces.metadataKey,
        ]
        let keys = metadata.properties.entries?.map(\.key) ?? []
        return StoreInspection.ModelFacts(
            isCached: store.modelCache != nil, versionIdentifiers: metadata.versionIdentifiers,
            framework: metadata.framework.number,
            digest: VersionHashes(read: metadata.versionHashes).digest,
            applicationKeys: keys.count { !known.contains($0) },
            importState: keys.contains(ImportTraces.metadataKey)
                ? (store.schema.hasTable(ImportTraces.linkTable) ? .unfinished : .finished) : nil)
    }

    private func rowsByEntity(of table: String) throws(StoreError) -> [Int64: Int64] {
        let count = try connection.prepare(
            "SELECT Z_ENT, count(*) FROM \(SQLText.quoted(table)) GROUP BY Z_ENT")
        var rows: [Int64: Int64] = [:]
        while try count.step() { rows[count.integer(0), default: 0] += count.integer(1) }
        return rows
    }

    private func entities(_ rows: [String: [Int64: Int64]]) -> [StoreInspection.EntityFacts] {
        zip(Int64(1)..., store.layout.entityOrder).map { number, name in
            let table = store.layout.table(of: name)?.name ?? ""
            let entity = store.model.entities[name]
            // A table of one entity holds its rows, whatever number they carry.
            let isAlone =
                store.layout.table(of: name)
                .flatMap { store.layout.onlyEntity(of: $0) } != nil
            let counts = rows[table] ?? [:]
            return StoreInspection.EntityFacts(
                number: number, name: name, parent: entity?.parent,
                isAbstract: entity?.isAbstract ?? false, table: table,
                rows: isAlone ? counts.values.reduce(0, +) : counts[number] ?? 0)
        }
    }

    private func tables(
        _ rows: [String: [Int64: Int64]]
    ) throws(StoreError) -> [StoreInspection.TableFacts] {
        let reader = TableProfileReader(
            path: store.database, pageSize: store.header.pageSize,
            pageCount: try connection.pageCount())
        var facts: [StoreInspection.TableFacts] = []
        for table in store.layout.tables {
            let root = store.schema.object(.table, table.name)?.rootPage ?? 0
            let number = Int64(store.layout.number(of: table.rootEntity) ?? 0)
            facts.append(
                StoreInspection.TableFacts(
                    name: table.name, rows: (rows[table.name] ?? [:]).values.reduce(0, +),
                    bytes: root > 0 ? try reader.profile(rootPage: root).bytes : 0,
                    maximum: store.primaryKeys.row(number: number)?.maximum ?? 0))
        }
        return facts
    }

    private func joinTables() throws(StoreError) -> [StoreInspection.JoinTableFacts] {
        var facts: [StoreInspection.JoinTableFacts] = []
        for join in store.layout.joinTables {
            facts.append(
                StoreInspection.JoinTableFacts(
                    name: join.name, relationship: "\(join.naming)", inverse: "\(join.inverse)",
                    rows: try count(join.name)))
        }
        return facts
    }

    private func history() throws(StoreError) -> StoreInspection.HistoryFacts? {
        guard store.hasHistory else { return nil }
        return StoreInspection.HistoryFacts(
            transactions: store.schema.hasTable("ATRANSACTION") ? try count("ATRANSACTION") : 0,
            changes: try count("ACHANGE"))
    }

    private func count(_ table: String) throws(StoreError) -> Int64 {
        try connection.integer("SELECT count(*) FROM \(SQLText.quoted(table))") ?? 0
    }
}

extension StoreInspector {
    /// Rows whose entity number belongs to another table or to no entity.
    private mutating func noteForeignRows(_ rows: [String: [Int64: Int64]]) {
        for table in store.layout.tables {
            let family = store.model.family(of: table.rootEntity).compactMap {
                store.layout.number(of: $0.name).map(Int64.init)
            }
            let foreign = (rows[table.name] ?? [:]).filter { !family.contains($0.key) }
            guard !foreign.isEmpty else { continue }
            let numbers = foreign.keys.sorted().prefix(5).map(String.init).joined(separator: ", ")
            let sum = foreign.values.reduce(0, +)
            oddities.append(
                "\(table.name) has \(counted(sum, "row")) of entity numbers that are not in its "
                    + "hierarchy (\(numbers))")
        }
    }

    private mutating func noteMissingIndexes() {
        let present = Set(store.schema.objects.filter { $0.kind == .index }.map(\.name))
        let missing = store.layout.indexes.map(\.name).filter { !present.contains($0) }
        guard let first = missing.first else { return }
        oddities.append(
            "\(counted(missing.count, "index", plural: "indexes")) that the model implies "
                + "\(missing.count == 1 ? "is" : "are") missing, such as \(first)")
    }

    /// References are told by their length, so that other values are not read.
    private func externalData() throws -> [StoreInspection.ExternalDataFacts] {
        var facts: [StoreInspection.ExternalDataFacts] = []
        for table in store.layout.tables {
            for column in table.columns where column.isExternal {
                facts.append(try externalData(table.name, column))
            }
        }
        return facts
    }

    private func externalData(
        _ table: String, _ column: ColumnLayout
    ) throws -> StoreInspection.ExternalDataFacts {
        let (from, value) = (SQLText.quoted(table), SQLText.quoted(column.name))
        var facts = StoreInspection.ExternalDataFacts(
            attribute: "\(column.role.key)",
            values: try connection.integer("SELECT count(\(value)) FROM \(from)") ?? 0,
            references: 0, missing: 0, malformed: 0)
        let list = try connection.prepare(
            "SELECT \(value) FROM \(from) WHERE typeof(\(value)) = 'blob' AND "
                + "length(\(value)) = \(ExternalReference.referenceLength)")
        while try list.step() {
            let bytes = list.bytes(0)
            switch ExternalReference(bytes) {
            case .inline: break
            case .file(let name):
                facts.references += 1
                let path = store.externalData.appending(name)
                if try FileStatus.ifPresent(path) == nil { facts.missing += 1 }
            case .malformed:
                facts.references += 1
                facts.malformed += 1
            }
        }
        return facts
    }
}
