import DurableFiles
package import SafeSQLite

/// The file of a store without rows, as bytes that many stores of one layout begin with.
///
/// Small stores cost more for the making of their tables and indexes than for their rows. A blank
/// store has both: rows that are put in later keep the indexes as they go, which pays while an
/// index fills a few pages only. Indexes that allow no equal values are left out, for they are
/// built where the error can be told (`IndexBuilder`).
package struct BlankStore: Hashable, Sendable {
    /// Whole pages.
    package let bytes: [UInt8]

    /// The largest source, in bytes, whose destination is begun with a blank store: above, sorting
    /// is faster and leaves fuller pages.
    package static let sourceLimit: Int64 = 2 << 20

    /// Makes the file in memory.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    package init(_ layout: StoreLayout) throws(StoreError) {
        let connection = try Connection(path: FilePath("blank"), mode: .memory)
        try connection.configure(StoreBuilder.formatPragmas)
        try StoreBuilder.createTables(of: layout, connection)
        try connection.transaction { () throws(StoreError) in
            for index in layout.indexes where BlankStore.holds(index) {
                try connection.create(index.definition)
            }
        }
        bytes = try connection.serialized()
        try connection.close()
    }

    /// Whether blank stores have an index.
    package static func holds(_ index: IndexLayout) -> Bool { !index.isUnique }
}
