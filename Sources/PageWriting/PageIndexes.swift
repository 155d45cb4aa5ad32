package import CoreDataStore
package import DurableFiles
package import MigrationPlans
package import SafeSQLite

/// Makes the indexes of a destination from sorted runs of entries, page by page.
///
/// The empty indexes are made with the tables, so that their root pages lie where SQLite puts
/// them, and are taken out of the schema until their pages are written (decision 0041).
package struct PageIndexes {
    /// An index with its root page.
    private struct Target {
        let layout: IndexLayout
        let root: UInt32
        /// The indexed columns by their places in the table; nil for the rowid.
        let columns: [Int?]
    }

    private let layout: StoreLayout
    private let files: DurableFileSystem

    /// - Parameters:
    ///   - layout: of the destination.
    ///   - files: opens files.
    package init(layout: StoreLayout, files: DurableFileSystem) {
        self.layout = layout
        self.files = files
    }

    /// Memory that the entries of an index take, in bytes.
    private static let budget = 12 << 20

    /// Whether pages can be written for an index: over columns alone, without a condition.
    package static func makes(_ index: IndexLayout) -> Bool { index.condition == nil }

    /// Brings a file back to what it was when all rows were there, with empty indexes.
    ///
    /// - Parameters:
    ///   - count: of its pages then.
    ///   - path: of the file, which no connection has open.
    ///   - roots: the root pages of the indexes.
    ///   - files: opens it.
    /// - Throws: `EngineError` where it cannot be written.
    package static func restore(
        _ count: Int32, of path: FilePath, roots: [Int64], _ files: DurableFileSystem
    ) throws(EngineError) {
        let image = try PageImage(path, files)
        guard count > 0, UInt32(count) <= image.pageCount else {
            throw .internalError("a file of ours has fewer pages than were noted")
        }
        if UInt32(count) < image.pageCount { try image.setPageCount(UInt32(count)) }
        try image.trim(to: UInt32(count))
        for root in roots {
            guard root > 1, root <= count else {
                throw .internalError("an index of ours has no root page")
            }
            try image.clearIndex(UInt32(root))
        }
    }

    /// The root pages that SQLite gives the empty indexes of a layout, by name.
    ///
    /// The same statements give the same pages in every empty file.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    package func roots() throws(StoreError) -> [String: Int64] {
        let made = layout.indexes.filter(Self.makes)
        let sample = try Connection(path: FilePath("indexes"), mode: .memory)
        try StoreBuilder.makeEmpty(layout, sample, indexes: made)
        let find = try sample.prepare(
            "SELECT rootpage FROM sqlite_master WHERE type = 'index' AND name = ?1")
        var roots: [String: Int64] = [:]
        // Not those that SQLite makes for constraints: they are in use.
        for index in made {
            try find.bind(index.name, at: 1)
            if try find.step() { roots[index.name] = find.integer(0) }
            find.reset()
        }
        return roots
    }

    /// The root pages of a file's tables.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    package static func tables(_ connection: Connection) throws(StoreError) -> [String: Int64] {
        let list = try connection.prepare(
            "SELECT name, rootpage FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
        var tables: [String: Int64] = [:]
        while try list.step() {
            if let name = list.text(0) { tables[name] = list.integer(1) }
        }
        return tables
    }

    /// Writes the pages of all indexes into a file that no connection has open.
    ///
    /// - Parameters:
    ///   - path: of the file.
    ///   - tables: the root pages of its tables.
    ///   - roots: those of the indexes.
    ///   - store: as errors name it.
    ///   - scratch: a folder for entries that are sorted; a file there loses its name at once.
    /// - Throws: `EngineError.dataRefused` where a unique index would have equal entries, and what
    ///   reading and writing the file meets.
    package func write(
        into path: FilePath, tables: [String: Int64], roots: [String: Int64], store: String,
        scratch: FilePath
    ) throws(EngineError) {
        let image = try PageImage(path, files)
        let pages = PageAppender(image)
        for (table, root) in tables.sorted(by: { $0.value < $1.value }) {
            let names = columnNames(of: table)
            // One after the other: the space that is set aside is that of one index's entries.
            for index in layout.indexes where index.table == table && Self.makes(index) {
                guard let place = roots[index.name] else {
                    throw .internalError("an index of ours has no root page")
                }
                let columns = index.columns.map { names.firstIndex(of: $0.name) }
                guard !columns.contains(nil) else {
                    throw .internalError("an index of ours has a column that its table has not")
                }
                let target = Target(
                    layout: index, root: UInt32(clamping: place),
                    columns: columns.map { $0 == 0 && names.first == "Z_PK" ? nil : $0 })
                try write(
                    target, of: UInt32(clamping: root), pages, scratch.appending("index-run"),
                    store)
            }
        }
        try pages.finish()
    }

    private func columnNames(of table: String) -> [String] {
        layout.tables.first { $0.name == table }?.columnNames
            ?? layout.joinTables.first { $0.name == table }?.columnNames ?? []
    }

    private func write(
        _ target: Target, of table: UInt32, _ pages: PageAppender, _ scratch: FilePath,
        _ store: String
    ) throws(EngineError) {
        let columns = target.columns.compactMap { $0 }.max().map { $0 + 1 } ?? 0
        let sorter = IndexSorter(
            IndexKeyOrder(descending: target.layout.columns.map(\.isDescending)), target.columns,
            budget: Self.budget, scratch: scratch, files)
        try TableRecords(pages.image, root: table, columns: columns).forEach {
            row throws(EngineError) in
            try sorter.add(row)
        }
        let isFilled = try IndexTreeWriter(pages, root: target.root).fill(
            from: [sorter], IndexKeyOrder(descending: target.layout.columns.map(\.isDescending)),
            isUnique: target.layout.isUnique)
        guard isFilled else { throw .refused(target.layout, store: store) }
    }
}
