import DurableFiles
package import SafeSQLite

/// The file of a store without rows, as bytes that many stores of one layout begin with.
///
/// Small stores cost more for the making of their tables and indexes than for their rows. A blank
/// store has both: rows that statements put in later keep the indexes as they go, which pays while
/// an index fills a few pages only.
package struct BlankStore: Hashable, Sendable {
    /// Which indexes a blank store has.
    package enum Indexes: Hashable, Sendable {
        /// Those that hold all rows, for pages to be written.
        case full
        /// Those that allow equal values, for statements: the others are built where the error can
        /// be told (`IndexBuilder`).
        case withEqualValues
    }

    /// Whole pages.
    package let bytes: [UInt8]
    /// Where its tables and their indexes are, by the tables' names.
    package let tables: [String: EmptyTable]

    /// The largest source, in bytes, whose destination statements begin with a blank store: above,
    /// sorting is faster and leaves fuller pages.
    package static let sourceLimit: Int64 = 2 << 20

    /// Makes the file in memory.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    package init(_ layout: StoreLayout, _ indexes: Indexes) throws(StoreError) {
        let connection = try Connection(path: FilePath("blank"), mode: .memory)
        try connection.configure(StoreBuilder.formatPragmas)
        try StoreBuilder.createTables(of: layout, connection)
        try connection.transaction { () throws(StoreError) in
            for index in layout.indexes {
                let isWanted =
                    indexes == .full ? index.condition == nil : BlankStore.holds(index)
                if isWanted { try connection.create(index.definition) }
            }
        }
        tables = try EmptyTable.all(in: connection)
        bytes = try connection.serialized()
        try connection.close()
    }

    /// Whether a blank store for statements has an index.
    package static func holds(_ index: IndexLayout) -> Bool { !index.isUnique }
}

/// Where an empty table and its indexes are in a file, as SQLite made them.
package struct EmptyTable: Hashable, Sendable {
    /// An index, of a statement or of a constraint.
    package struct Index: Hashable, Sendable {
        package let name: String
        package let rootPage: Int64
        /// The indexed columns by their places in the table; nil for the rowid.
        package let columns: [Int?]
        package let descending: [Bool]
        package let isUnique: Bool
        /// Whether it holds all rows, by plain columns and their bytes.
        package let isPlain: Bool
    }

    package let rootPage: Int64
    /// The names of its columns, in order.
    package let columns: [String]
    /// In the order of their names.
    package private(set) var indexes: [Index] = []

    /// Reads them.
    fileprivate static func all(
        in connection: Connection
    ) throws(StoreError) -> [String: EmptyTable] {
        var tables: [String: EmptyTable] = [:]
        let list = try connection.prepare(
            "SELECT m.name, m.rootpage, c.name FROM sqlite_master m, pragma_table_xinfo(m.name) c "
                + "WHERE m.type = 'table' AND m.rootpage > 0 ORDER BY m.rowid, c.cid")
        while try list.step() {
            let known = tables[try list.name(0)]
            tables[try list.name(0)] = EmptyTable(
                rootPage: list.integer(1), columns: (known?.columns ?? []) + [try list.name(2)])
        }
        let found = try connection.prepare(
            "SELECT m.tbl_name, m.name, m.rootpage, l.\"unique\", l.partial, x.cid, x.desc, "
                + "x.coll = 'BINARY', (SELECT count(*) FROM pragma_table_xinfo(m.tbl_name) k, "
                + "sqlite_master t WHERE k.cid = x.cid AND k.pk = 1 AND t.name = m.tbl_name "
                + "AND NOT EXISTS (SELECT 1 FROM pragma_index_list(m.tbl_name) "
                + "WHERE origin = 'pk')) FROM sqlite_master m, pragma_index_list(m.tbl_name) l, "
                + "pragma_index_xinfo(m.name) x WHERE m.type = 'index' AND l.name = m.name "
                + "AND x.key = 1 ORDER BY m.name, x.seqno")
        while try found.step() {
            let (table, name) = (try found.name(0), try found.name(1))
            let last = tables[table]?.indexes.last.flatMap { $0.name == name ? $0 : nil }
            let isRowid = found.integer(5) == -1 || found.integer(8) == 1
            let index = Index(
                name: name, rootPage: found.integer(2),
                columns: (last?.columns ?? []) + [isRowid ? nil : Int(found.integer(5))],
                descending: (last?.descending ?? []) + [found.integer(6) == 1],
                isUnique: found.integer(3) == 1,
                isPlain: (last?.isPlain ?? true) && found.integer(4) == 0
                    && found.integer(5) >= -1 && found.integer(7) == 1)
            if last != nil { tables[table]?.indexes.removeLast() }
            tables[table]?.indexes.append(index)
        }
        return tables
    }
}
