package import CoreDataStore
import DurableFiles
import ManagedObjectModel
import ModelFiles
package import SafeSQLite

/// Holds a result that another process made against what this engine would have written beside
/// the rows of the model: every object of the schema, every row of Core Data's own tables.
///
/// The validator compares what a source's rows must become and accepts what an older program may
/// have written otherwise. A result that a worker delivers was made by this very engine, so that
/// anything else in it is wrong.
package struct MadeFileCheck: Sendable {
    /// What the result has to hold beside the rows of the model.
    package struct Expectation: Sendable {
        /// Of the result.
        let layout: StoreLayout
        /// `Z_MAX` of each root entity.
        let maxima: [String: Int64]
        /// What no model explains and is kept.
        let kept: [SchemaObject]
        /// Whether persistent history is kept.
        let keepsHistory: Bool

        package init(
            layout: StoreLayout, maxima: [String: Int64], kept: [SchemaObject], keepsHistory: Bool
        ) {
            self.layout = layout
            self.maxima = maxima
            self.kept = kept
            self.keepsHistory = keepsHistory
        }
    }

    private let expected: Expectation
    private let source: SourceStore
    private let destination: DestinationModel
    private let stores: StoreCache

    /// - Parameters:
    ///   - expected: what the plan says that this process made.
    ///   - source: the store that the plan is about.
    ///   - destination: the model that it goes to.
    ///   - stores: what is known of stores of the same app.
    package init(
        _ expected: Expectation, source: SourceStore, destination: DestinationModel,
        stores: StoreCache
    ) {
        self.expected = expected
        self.source = source
        self.destination = destination
        self.stores = stores
    }

    private var keepsHistory: Bool { expected.keepsHistory && source.hasHistory }

    private var kept: [SchemaObject] { expected.kept }

    /// What a check found.
    package struct Findings: Hashable, Sendable {
        /// What is wrong, names in one printable line; empty where nothing is.
        package var faults: [String] = []
        /// The names of the external data files that the result refers to, of hexadecimal digits
        /// and hyphens; empty where something is wrong.
        package var externalNames: Set<String> = []
    }

    /// Looks through the result of a validation, a check of all its pages included.
    ///
    /// - Parameter reading: of the source and the result, which the validation uses afterwards:
    ///   opening a small file costs as much as reading its rows.
    /// - Returns: what is wrong, and the external data that it refers to.
    /// - Throws: `StoreError` where it cannot be read.
    package func run(_ reading: ValidationReading) throws(StoreError) -> Findings {
        let file = reading.destination
        var found = try schema(file.schema())
        found += try header(file.path)
        let connection = try file.connection()
        // What follows reads tables that must be what they seem, and pages that come to an end.
        if found.isEmpty {
            let pages = try file.pageFindings()
            found += pages.pages.isEmpty ? pages.records : ["its pages are damaged"]
        }
        if found.isEmpty {
            for table in try file.unwalkedTables() where try connection.checkTable(table) != ["ok"]
            {
                found.append("the indexes of \(StrangersName.text(table)) do not fit it")
            }
        }
        if found.isEmpty {
            found += try systemRows(connection)
            found += try sqliteRows(file)
            found += try numbers(connection)
        }
        let names = try found.isEmpty ? externalNames(connection) : []
        return Findings(faults: found, externalNames: names)
    }

    private func externalNames(_ connection: Connection) throws(StoreError) -> Set<String> {
        var names: Set<String> = []
        for table in expected.layout.tables {
            for column in table.columns where column.isExternal {
                let quoted = SQLText.quoted(column.name)
                let list = try connection.prepare(
                    "SELECT \(quoted) FROM \(SQLText.quoted(table.name)) "
                        + "WHERE typeof(\(quoted)) = 'blob'")
                while try list.step() {
                    if case .file(let name) = ExternalReference(list.bytes(0)) {
                        names.insert(name)
                    }
                }
            }
        }
        return names
    }

    /// Free pages that a result of any size may have.
    private static let fewFreePages = 64

    /// Fields of the file's header that SQLite leaves as they are in a file of ours (file format
    /// §1.3): the schema's format, the cache's size, the bytes that are kept for later, and how
    /// many pages are free.
    private func header(_ file: FilePath) throws(StoreError) -> [String] {
        let bytes = try FileCheck.headerBytes(file)
        // Pages that hold nothing may hold anything, and as much as a worker likes. The engine
        // leaves those of links that it put in order, which take less than the store itself.
        let number = { (start: Int) in
            bytes.dropFirst(start).prefix(4).reduce(0) { $0 << 8 | Int($1) }
        }
        let (pages, free) = (number(28), number(36))
        let isOurs =
            bytes.count == 100 && free <= Self.fewFreePages + pages / 2
            && bytes[44..<48].elementsEqual([0, 0, 0, 4])
            && bytes[48..<52].allSatisfy { $0 == 0 } && bytes[72..<92].allSatisfy { $0 == 0 }
            && bytes[18] == bytes[19]
            && bytes[18] == (source.header.isWriteAheadLogged ? 2 : 1)
        return isOurs ? [] : ["the file's header differs from the expected one"]
    }

    // MARK: - Schema

    private func schema(_ there: StoreSchema) throws(StoreError) -> [String] {
        let demanded = try self.demanded()
        let shadows = shadows()
        var found: [String] = []
        var present: Set<MadeSchema.Object> = []
        for object in there.objects {
            let key = MadeSchema.Object(object)
            present.insert(key)
            if demanded.contains(key) || shadows.contains(key) || isOwn(object) { continue }
            found.append("\(object.kind.rawValue) \(StrangersName.text(object.name)) is unexpected")
        }
        for object in demanded where object.sql != nil && !present.contains(object) {
            found.append("\(object.kind.rawValue) \(StrangersName.text(object.name)) is missing")
        }
        return found.sorted()
    }

    /// Every object that the layout, the kept objects of the app and kept history ask for.
    private func demanded() throws(StoreError) -> Set<MadeSchema.Object> {
        var objects = try stores.schema(of: expected.layout).objects
        for object in kept where !object.name.hasPrefix("sqlite_") {
            objects.insert(MadeSchema.Object(object))
        }
        if keepsHistory {
            for object in source.schema.objects where object.sql != nil {
                let isWanted =
                    object.kind == .table
                    ? SchemaExtras.historyTables.contains(object.name)
                    : object.kind == .index && SchemaExtras.historyTables.contains(object.table)
                if isWanted { objects.insert(MadeSchema.Object(object)) }
            }
        }
        return objects
    }

    /// Tables that kept virtual tables have for themselves, as in the source.
    private func shadows() -> Set<MadeSchema.Object> {
        let names = SchemaExtras.shadowTables(of: kept, in: source.schema)
        return Set(
            source.schema.objects.filter { names.contains($0.table) }.map(MadeSchema.Object.init))
    }

    /// What SQLite makes by itself, in the only form that it has.
    private func isOwn(_ object: SchemaObject) -> Bool {
        switch (object.kind, object.sql) {
        case (.index, nil): object.name.hasPrefix("sqlite_autoindex_")
        case (.table, "CREATE TABLE sqlite_sequence(name,seq)"?):
            object.name == "sqlite_sequence" && source.schema.hasTable("sqlite_sequence")
        case (.table, "CREATE TABLE sqlite_stat1(tbl,idx,stat)"?):
            object.name == "sqlite_stat1" && kept.contains { $0.name == "sqlite_stat1" }
        default: false
        }
    }

    // MARK: - Rows

    /// The one row of metadata, the model cache, and the rows of all entities, byte by byte.
    private func systemRows(_ connection: Connection) throws(StoreError) -> [String] {
        var found: [String] = []
        let metadata = source.metadata.migrated(
            hashes: destination.hashes, identifiers: destination.model.versionIdentifiers,
            framework: expected.layout.framework)
        let list = BinaryPropertyList.write(metadata.properties)
        let told = try only("Z_METADATA", "Z_VERSION, Z_UUID, Z_PLIST", connection) { row in
            // As SQLite stored them: a reader may find a blob where it wants a number.
            row.storageClass(0) == 1 && row.storageClass(1) == 3 && row.storageClass(2) == 4
                && row.integer(0) == 1 && row.text(1).isExactly(metadata.uuid)
                && row.blob(2) == list
        }
        if !told { found.append("the row of Z_METADATA differs from the expected one") }
        if expected.layout.framework.hasModelCache {
            let cached = try only("Z_MODELCACHE", "Z_CONTENT", connection) { row in
                row.storageClass(0) == 4 && row.blob(0) == destination.modelCache
            }
            if !cached { found.append("the row of Z_MODELCACHE differs from the expected one") }
        }
        var rows = zip(Int64(1)..., expected.layout.entityOrder).map { number, name in
            PrimaryKeys.Row(
                number: number, name: name,
                parent: Int64(expected.layout.parentNumber(of: name)),
                maximum: expected.maxima[name] ?? 0)
        }
        if keepsHistory { rows += source.primaryKeys.reserved }
        let keys = try PrimaryKeys.read(connection).rows
        if try PrimaryKeys.hasOddTypes(connection)
            || keys != rows.sorted(by: { $0.number < $1.number })
        {
            found.append("the rows of Z_PRIMARYKEY differ from the expected ones")
        }
        return found
    }

    /// Whether a table has one row, and that one is as it must be.
    private func only(
        _ table: SQLText, _ columns: SQLText, _ connection: Connection,
        isRight: (Statement) -> Bool
    ) throws(StoreError) -> Bool {
        let rows = try connection.prepare("SELECT \(columns) FROM \(table)")
        guard try rows.step(), isRight(rows) else { return false }
        return try !rows.step()
    }

    /// Numbers of `AUTOINCREMENT` and statistics, which must come from the source.
    private func sqliteRows(_ file: FileReading) throws(StoreError) -> [String] {
        let names = try file.schema().columns
        let known: [(SQLText, SQLText)] = [
            ("sqlite_sequence", "name, seq"), ("sqlite_stat1", "tbl, idx, stat"),
        ]
        let wanted = known.filter { names[$0.0.description] != nil }
        guard !wanted.isEmpty else { return [] }
        let connection = try file.connection()
        try connection.attachImmutable(source.database, as: "origin")
        var found: [String] = []
        for (table, columns) in wanted {
            let surplus = try connection.integer(
                "SELECT count(*) FROM (SELECT \(columns) FROM main.\(table) "
                    + "EXCEPT SELECT \(columns) FROM origin.\(table))")
            if surplus != 0 { found.append("rows of \(table) are not the source's") }
        }
        try connection.detach("origin")
        return found
    }

    /// The numbers that an app may keep in the header, which are 0 or the source's.
    private func numbers(_ connection: Connection) throws(StoreError) -> [String] {
        var found: [String] = []
        let headers = try [
            ("user_version", connection.userVersion(), source.header.userVersion),
            ("application_id", connection.applicationID(), source.header.applicationID),
        ]
        for (name, number, known) in headers where number != 0 && number != known {
            found.append("\(name) is \(number)")
        }
        return found
    }
}
