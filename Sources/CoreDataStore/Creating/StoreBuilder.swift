package import DurableFiles
import ModelFiles
package import SafeSQLite

/// Makes a store's file as Core Data would: pages, tables, system tables, indexes, triggers.
///
/// Rows are put in between `createTables` and `createIndexes`. Until `finish` the file is written
/// without syncs: a crash of the machine costs the file, which no program uses yet. How much a
/// killed process costs is what `Recovery` says.
package final class StoreBuilder {
    package let layout: StoreLayout
    /// The connection that writes the file.
    ///
    /// Another one after `reopen`.
    package private(set) var connection: Connection
    /// The file.
    package let path: FilePath
    private let recovery: Recovery
    private let cacheKibibytes: Int

    /// What is left of a file whose process is killed.
    package enum Recovery: Hashable, Sendable {
        /// Nothing: there is no journal, and the file is built from the beginning again.
        case none
        /// Everything up to the last transaction: a rollback journal brings the file there when
        /// it is opened again. Rows that are appended cost next to nothing, for only pages that
        /// were there before are journaled.
        case transactions
    }

    /// Makes a file, or goes on with one that was made with `.transactions`.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    package init(
        creating path: FilePath, layout: StoreLayout, recovery: Recovery = .none,
        cacheKibibytes: Int = 2048
    ) throws(StoreError) {
        self.layout = layout
        self.path = path
        self.recovery = recovery
        self.cacheKibibytes = cacheKibibytes
        connection = try StoreBuilder.open(path, recovery, cacheKibibytes)
    }

    private static func open(
        _ path: FilePath, _ recovery: Recovery, _ cacheKibibytes: Int
    ) throws(StoreError) -> Connection {
        let connection = try Connection(
            path: path, mode: .create, cacheKibibytes: cacheKibibytes)
        switch recovery {
        case .none: try connection.configure(StoreBuilder.bulkPragmas)
        case .transactions: try connection.configure(StoreBuilder.recoverablePragmas)
        }
        // After synchronous = OFF: before it, a new file costs four syncs.
        try connection.configure(StoreBuilder.formatPragmas)
        return connection
    }

    /// Closes the file for as long as its pages are written without SQLite.
    ///
    /// - Throws: `StoreError` where statements are still open.
    package func suspend() throws(StoreError) { try connection.close() }

    /// Opens the file again, so that what was changed in its schema is read.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    package func reopen() throws(StoreError) {
        try connection.close()
        connection = try StoreBuilder.open(path, recovery, cacheKibibytes)
    }

    /// Settings of every file that is written in bulk and synced at the end.
    package static let bulkPragmas: StaticString = """
        PRAGMA page_size = 4096; PRAGMA encoding = 'UTF-8'; PRAGMA synchronous = OFF;
        PRAGMA secure_delete = OFF; PRAGMA journal_mode = OFF; PRAGMA locking_mode = EXCLUSIVE
        """

    /// The same for a file that survives the death of its process.
    private static let recoverablePragmas: StaticString = """
        PRAGMA page_size = 4096; PRAGMA encoding = 'UTF-8'; PRAGMA synchronous = OFF;
        PRAGMA secure_delete = OFF; PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE
        """

    /// What is written into the header of a new file.
    static let formatPragmas: StaticString = """
        PRAGMA page_size = 4096; PRAGMA encoding = 'UTF-8'; PRAGMA auto_vacuum = INCREMENTAL
        """

    /// Makes entity tables, join tables and the system tables.
    ///
    /// - Parameter hidden: indexes that get their root pages, and that no statement knows before
    ///   `Connection.reveal`.
    /// - Throws: `StoreError` with SQLite's reason.
    package func createTables(hiding hidden: [IndexLayout] = []) throws(StoreError) {
        try connection.transaction { () throws(StoreError) in
            try StoreBuilder.createTables(of: layout, connection)
            for index in hidden { try connection.create(index.definition) }
            try connection.hide(indexes: hidden.map(\.name))
        }
    }

    /// Makes the same in a new database in memory, with the indexes visible.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    package static func makeEmpty(
        _ layout: StoreLayout, _ connection: Connection, indexes: [IndexLayout]
    ) throws(StoreError) {
        try connection.configure(formatPragmas)
        try createTables(of: layout, connection)
        for index in indexes { try connection.create(index.definition) }
    }

    static func createTables(
        of layout: StoreLayout, _ connection: Connection
    ) throws(StoreError) {
        try connection.transaction { () throws(StoreError) in
            for table in layout.tables { try connection.create(table.definition) }
            for join in layout.joinTables { try connection.create(join.definition) }
            try connection.create(
                SchemaDefinition(
                    .table, "Z_PRIMARYKEY",
                    sql: "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, "
                        + "Z_SUPER INTEGER, Z_MAX INTEGER)"))
            try connection.create(
                SchemaDefinition(
                    .table, "Z_METADATA",
                    sql: "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, "
                        + "Z_UUID VARCHAR(255), Z_PLIST BLOB)"))
            guard layout.framework.hasModelCache else { return }
            try connection.create(
                SchemaDefinition(
                    .table, "Z_MODELCACHE", sql: "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)"))
        }
    }

    /// Fills `Z_PRIMARYKEY`, `Z_METADATA` and `Z_MODELCACHE`.
    ///
    /// - Parameters:
    ///   - maxima: `Z_MAX` by root entity; entities that are not named get 0.
    ///   - reserved: rows of persistent history, where it is kept.
    ///   - metadata: to be written whole.
    ///   - modelCache: the deflated archive of the layout's model; ignored by eras without one.
    /// - Throws: `StoreError` with SQLite's reason.
    package func writeSystemTables(
        maxima: [String: Int64], reserved: [PrimaryKeys.Row] = [], metadata: StoreMetadata,
        modelCache: [UInt8]
    ) throws(StoreError) {
        try connection.transaction { () throws(StoreError) in
            let insert = try connection.prepare("INSERT INTO Z_PRIMARYKEY VALUES (?, ?, ?, ?)")
            for (number, name) in zip(Int64(1)..., layout.entityOrder) {
                try insert.bind(number, at: 1)
                try insert.bind(name, at: 2)
                try insert.bind(Int64(layout.parentNumber(of: name)), at: 3)
                try insert.bind(maxima[name] ?? 0, at: 4)
                try insert.run()
            }
            for row in reserved {
                try insert.bind(row.number, at: 1)
                try insert.bind(row.name, at: 2)
                try insert.bind(row.parent, at: 3)
                try insert.bind(row.maximum, at: 4)
                try insert.run()
            }
            let told = try connection.prepare("INSERT INTO Z_METADATA VALUES (1, ?, ?)")
            try told.bind(metadata.uuid, at: 1)
            try told.bind(BinaryPropertyList.write(metadata.properties), at: 2)
            try told.run()
            guard layout.framework.hasModelCache else { return }
            let cache = try connection.prepare("INSERT INTO Z_MODELCACHE VALUES (?)")
            try cache.bind(modelCache, at: 1)
            try cache.run()
        }
    }

    /// Lets indexes be sorted by helper threads beside the calling one.
    package func setSorterThreads(_ count: Int) throws(StoreError) {
        _ = try connection.pragma("threads", Int64(max(0, min(count, 8))))
    }

    /// Makes the triggers of R-trees and derived attributes, R-trees filled from their tables.
    ///
    /// Last of all: writes to such tables would run into functions that only Core Data has.
    package func createRTreesAndTriggers() throws(StoreError) {
        guard !layout.rTrees.isEmpty || !layout.triggers.isEmpty else { return }
        try connection.transaction { () throws(StoreError) in
            for tree in layout.rTrees {
                try connection.create(tree.definition)
                try connection.execute(tree.fillSQL)
            }
            for trigger in layout.triggers { try connection.create(trigger.definition) }
        }
    }

    /// Closes the file.
    ///
    /// - Parameter isWriteAheadLogged: whether the file is marked as Core Data marks it; a store
    ///   that had a rollback journal keeps to it.
    /// - Throws: `StoreError` when SQLite leaves a log behind or cannot switch.
    package func finish(isWriteAheadLogged: Bool) throws(StoreError) {
        guard isWriteAheadLogged else {
            try connection.close()
            return
        }
        try connection.configure("PRAGMA journal_mode = WAL")
        guard try connection.pragma("journal_mode") == ["wal"] else {
            throw .inputOutput(path: connection.path, reason: "it cannot be set to WAL mode")
        }
        // In exclusive locking mode no log is begun before a write, and there is none; the rollback
        // journal, which that mode keeps, goes when the journal mode changes.
        try connection.close()
    }
}
