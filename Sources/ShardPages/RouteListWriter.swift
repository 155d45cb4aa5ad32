import CoreDataStore
import DurableFiles
import MigrationPlans
import PageWriting
import SafeSQLite

/// Writes lists of keys as tables of one file, all at the same time.
final class RouteListWriter {
    private let pages: PageAppender
    private let trees: [TableTreeWriter]
    private var fillers: [LeafFiller] = []
    private let record = NewRecord(columns: 1)
    private let name: String

    /// Bytes that a list keeps before they are written.
    private static let batchBytes = 8 << 10

    /// Makes the file with empty tables.
    ///
    /// - Throws: `EngineError` where it cannot be made.
    init(_ count: Int, _ path: FilePath, _ files: DurableFileSystem) throws(EngineError) {
        let roots = try EngineError.translating { () throws(StoreError) in
            let file = try Connection(path: path, mode: .create)
            try file.configure(StoreBuilder.bulkPragmas)
            for list in 0..<count {
                let table = RouteFile.table(of: list)
                try file.create(
                    SchemaDefinition(
                        .table, table,
                        sql: "CREATE TABLE \(.quoted(table)) (key INTEGER PRIMARY KEY)"))
            }
            let roots = try PageIndexes.tables(file)
            try file.close()
            return roots
        }
        let pages = PageAppender(try PageImage(path, files))
        var trees: [TableTreeWriter] = []
        for list in 0..<count {
            let root = roots[RouteFile.table(of: list)] ?? 0
            trees.append(try TableTreeWriter(pages, root: UInt32(clamping: root)))
        }
        self.pages = pages
        self.trees = trees
        name = path.description
        // Its one column is NULL: the rowid has the key.
        record.close()
        fillers = trees.map { tree in
            LeafFiller(pages.image.format, batchBytes: Self.batchBytes) {
                batch throws(EngineError) in
                guard try tree.append(batch) else { throw Self.disordered(path.description) }
                batch.clear()
                return batch
            }
        }
    }

    /// Appends a key, which must lie above those before.
    ///
    /// - Throws: `EngineError` where it does not, or the file cannot be written.
    @inline(__always)
    func append(_ key: Int64, to list: Int) throws(EngineError) {
        guard fillers.indices.contains(list) else {
            throw .internalError("a row belongs to no list of \(name)")
        }
        guard try fillers[list].append(record, rowid: key) else { throw Self.disordered(name) }
    }

    private static func disordered(_ name: String) -> EngineError {
        .internalError("the keys of a list in \(name) do not ascend")
    }

    /// Completes the file.
    ///
    /// - Throws: `EngineError` where it cannot be written.
    func finish() throws(EngineError) {
        for (tree, filler) in zip(trees, fillers) {
            try filler.finish()
            try tree.finish()
        }
        try pages.finish()
    }
}
