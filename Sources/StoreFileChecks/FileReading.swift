import CoreDataStore
import DurableFiles
package import SafeSQLite
import StorePages

/// One file as a validation reads it: a connection of its own, and what the file says of its
/// schema, read once.
///
/// Used by one thread at a time; the file does not change meanwhile.
package final class FileReading {
    let path: FilePath
    private let layout: StoreLayout
    private let stores: StoreCache
    private let schemas: SchemaCache
    private let cacheKibibytes: Int
    /// Whether more than one part reads, so that all indexes are read at once.
    let isShared: Bool
    private var opened: Connection?
    private var knownSchema: StoreSchema?
    private var knownSurplus: SchemaSurplus?
    private var knownFacts: TableFacts?
    private var knownPages: PageFile?
    private var knownFindings: PageFindings?
    private var knownShapes: PageShapes?
    var knownRows: [String: RowNumbers] = [:]

    init(
        _ path: FilePath, layout: StoreLayout, stores: StoreCache, schemas: SchemaCache,
        cacheKibibytes: Int, isShared: Bool, opened: Connection? = nil,
        schema: StoreSchema? = nil
    ) {
        knownSchema = schema
        self.stores = stores
        self.schemas = schemas
        self.opened = opened
        self.isShared = isShared
        self.path = path
        self.layout = layout
        self.cacheKibibytes = cacheKibibytes
    }

    /// The connection, opened by the first who asks.
    package func connection() throws(StoreError) -> Connection {
        if let opened { return opened }
        let connection = try Connection(
            path: path, mode: .immutable, cacheKibibytes: cacheKibibytes)
        opened = connection
        return connection
    }

    /// The pages of the file; nil where its texts are not UTF-8.
    func pages() throws(StoreError) -> PageFile? {
        let file = try pageFile()
        return file.hasPlainTexts ? file : nil
    }

    private func pageFile() throws(StoreError) -> PageFile {
        if let knownPages { return knownPages }
        let file = try PageFile(path)
        knownPages = file
        return file
    }

    /// How records are read.
    func shapes() throws(StoreError) -> PageShapes {
        if let knownShapes { return knownShapes }
        let shapes = schemas.shapes(of: try schema())
        knownShapes = shapes
        return shapes
    }

    /// Everything in `sqlite_master`.
    package func schema() throws(StoreError) -> StoreSchema {
        if let knownSchema { return knownSchema }
        let schema = try StoreSchema.read(connection(), cache: stores)
        knownSchema = schema
        return schema
    }

    /// What the schema has beyond the layout.
    package func surplus() throws(StoreError) -> SchemaSurplus {
        if let knownSurplus { return knownSurplus }
        let surplus = schemas.surplus(of: try schema(), layout: layout)
        knownSurplus = surplus
        return surplus
    }

    /// The indexes of a table, by name.
    package func indexes(of table: String) throws(StoreError) -> [IndexFacts] {
        if let known = knownFacts?.indexes[table] { return known }
        if isShared, knownFacts != nil { return [] }
        let connection = try connection()
        guard isShared else {
            return try IndexFacts.read(table: table, layout: layout, connection: connection)[
                table] ?? []
        }
        return try indexes()[table] ?? []
    }

    /// The tables with indexes that no part of a validation walks: those of the app's own tables
    /// and of history, and those that cannot be walked.
    package func unwalkedTables() throws(StoreError) -> [String] {
        let walked = Set(layout.tables.map(\.name) + layout.joinTables.map(\.name))
        return try indexes().filter { table, indexes in
            !indexes.isEmpty && !(walked.contains(table) && indexes.allSatisfy(\.isWalkable))
        }.keys.sorted()
    }

    /// The indexes of all tables, by table and name.
    func indexes() throws(StoreError) -> [String: [IndexFacts]] { try facts().indexes }

    private func facts() throws(StoreError) -> TableFacts {
        if let knownFacts { return knownFacts }
        let connection = try connection()
        let facts = try schemas.facts(of: schema(), layout: layout) {
            () throws(StoreError) in
            TableFacts(
                indexes: try IndexFacts.read(layout: layout, connection: connection),
                stored: try PageWalk.SchemaFacts(connection))
        }
        knownFacts = facts
        return facts
    }

    /// What is wrong with the pages of the file, and with its records.
    package struct PageFindings: Sendable {
        /// SQLite's words about the pages; empty where nothing is wrong.
        package let pages: [String]
        /// A line for each table and index with records that do not fit its columns.
        package let records: [String]
    }

    /// Reads all pages, once however often it is asked.
    ///
    /// - Returns: what was found; where pages are unsound, SQLite has the last word.
    /// - Throws: `StoreError` where pages cannot be read.
    /// - Complexity: reads every page.
    package func pageFindings() throws(StoreError) -> PageFindings {
        if let knownFindings { return knownFindings }
        let findings = try readPageFindings()
        knownFindings = findings
        return findings
    }

    private func readPageFindings() throws(StoreError) -> PageFindings {
        let schema = try schema()
        let facts = try facts().stored
        let walk = PageWalk(try pageFile())
        if try walk.isSound(schema, facts) { return PageFindings(pages: [], records: []) }
        let lines = try connection().checkPages()
        guard lines == ["ok"] else { return PageFindings(pages: lines, records: []) }
        let records = try walk.faults(in: PageWalk.trees(schema, facts)).map { tree, count in
            "\(count) records of \(StrangersName.text(tree.name)) do not fit its columns"
        }
        return PageFindings(pages: [], records: records)
    }
}
