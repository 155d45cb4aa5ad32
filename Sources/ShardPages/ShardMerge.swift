import CoreDataStore
package import DurableFiles
package import MigrationPlans
import PageWriting
package import SafeSQLite

/// Puts what shards have of one table into a file of its own, page by page.
///
/// Keys interleave where shards hold the rows of UUID prefixes or of entities; SQLite appends the
/// merged file to the destination as it appends a shard of one range of keys.
package struct ShardMerge {
    private let definition: SchemaDefinition
    private let isKeyed: Bool
    private let files: DurableFileSystem

    /// Bytes for the pages that are read at one time, of all shards.
    private static let windowBytes = 8 << 20

    /// - Parameters:
    ///   - definition: of the table, without indexes.
    ///   - isKeyed: whether rowids are keys; otherwise rows are numbered, shard by shard.
    ///   - files: opens files.
    package init(
        _ definition: SchemaDefinition, isKeyed: Bool, files: DurableFileSystem
    ) {
        self.definition = definition
        self.isKeyed = isKeyed
        self.files = files
    }

    /// Writes the rows of one range of keys.
    ///
    /// - Parameters:
    ///   - range: of rowids; all rows of a table without keys.
    ///   - shards: each with its rows by ascending keys.
    ///   - path: of the file, which must not exist.
    /// - Throws: `EngineError` for a shard that is damaged, a key that occurs twice, and what
    ///   reading and writing files meets.
    /// - Complexity: O(rows · log shards) comparisons; memory for a few pages of each shard, and
    ///   for the longest record.
    package func write(
        _ range: KeyRange, of shards: [FilePath], to path: FilePath
    ) throws(EngineError) {
        let root = try makeFile(path)
        let image = try PageImage(path, files)
        let pages = PageAppender(image)
        let tree = try TableTreeWriter(pages, root: root)
        var isInOrder = true
        let filler = LeafFiller(image.format) { batch throws(EngineError) in
            if isInOrder { isInOrder = try tree.append(batch) }
            batch.clear()
            return batch
        }
        let cursors = try cursors(shards, from: range.lower ?? .min)
        let isMerged =
            isKeyed
            ? try merge(cursors, upTo: range.upper ?? .max, into: filler)
            : try number(cursors, into: filler)
        try filler.finish()
        guard isMerged, isInOrder else {
            throw .wrongPlan("two shards of table \(definition.name) have the same key")
        }
        try tree.finish()
        try pages.finish()
    }

    /// Makes the file with the empty table; returns the table's root page.
    private func makeFile(_ path: FilePath) throws(EngineError) -> UInt32 {
        let root = try EngineError.translating { () throws(StoreError) in
            let target = try Connection(path: path, mode: .create)
            try target.configure(StoreBuilder.bulkPragmas)
            try target.create(definition)
            let root = try PageIndexes.tables(target)[definition.name]
            try target.close()
            return root
        }
        guard let root else { throw .internalError("a table of ours was not made") }
        return UInt32(clamping: root)
    }

    /// Cursors over the table in each shard, which stand before the first row.
    private func cursors(
        _ shards: [FilePath], from lower: Int64
    ) throws(EngineError) -> [RecordCursor] {
        var cursors: [RecordCursor] = []
        for shard in shards {
            // There are more shards than files that a process may have open.
            let image = try PageImage(reading: shard, files, staysOpen: false)
            let pages = max(2, Self.windowBytes / image.pageSize / shards.count)
            cursors.append(
                try RecordCursor(
                    image, below: try root(in: image), from: lower,
                    (ReadWindow(image, most: pages), ReadWindow(image, most: 2)),
                    keptRoom: Self.windowBytes / shards.count))
        }
        return cursors
    }

    /// The root page of the table in a shard, from its schema (SQLite file format §2.6).
    private func root(in shard: PageImage) throws(EngineError) -> UInt32 {
        let name = Array(definition.name.utf8)
        var root: Int64?
        try TableRecords(shard, root: 1, columns: 4).forEach { row throws(EngineError) in
            guard Self.text(row, 0) == Array("table".utf8), Self.text(row, 1) == name,
                let place = row.values[3], (1...6).contains(row.types[3])
            else { return true }
            root = RecordBytes.integer(row.types[3], place)
            return false
        }
        guard let root, root > 1 else { throw shard.damaged() }
        return UInt32(clamping: root)
    }

    private static func text(_ row: TableRecords.Row, _ column: Int) -> [UInt8]? {
        let type = row.types[column]
        guard type >= 13, type % 2 == 1, let size = RecordBytes.size(ofType: type) else {
            return nil
        }
        return Array(UnsafeBufferPointer(start: row.values[column], count: size))
    }

    /// Takes the lowest key again and again; false where one occurs twice.
    private func merge(
        _ cursors: [RecordCursor], upTo upper: Int64, into filler: LeafFiller
    ) throws(EngineError) -> Bool {
        let record = NewRecord(columns: 0)
        var heap = KeyHeap()
        for (place, cursor) in cursors.enumerated() where try cursor.next() {
            heap.push(key: cursor.rowid, reader: place)
        }
        while let lowest = heap.lowest {
            let cursor = cursors[lowest]
            guard cursor.rowid <= upper else { return true }
            record.take(try cursor.record(), cursor.count)
            guard try filler.append(record, rowid: cursor.rowid) else { return false }
            if try cursor.next() {
                heap.replaceLowest(key: cursor.rowid)
            } else {
                heap.removeLowest()
            }
        }
        return true
    }

    /// Takes one shard after the other.
    private func number(
        _ cursors: [RecordCursor], into filler: LeafFiller
    ) throws(EngineError) -> Bool {
        let record = NewRecord(columns: 0)
        var rowid: Int64 = 0
        for cursor in cursors {
            while try cursor.next() {
                rowid += 1
                record.take(try cursor.record(), cursor.count)
                guard try filler.append(record, rowid: rowid) else { return false }
            }
        }
        return true
    }
}
