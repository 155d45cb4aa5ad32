package import DurableFiles
package import MigrationPlans

/// Fills one empty table and its indexes from records of other databases, page by page.
///
/// Indexes are written when all rows are there; their entries are collected on the way. Rows of a
/// large table are made by several threads, each of which takes its share of the table that is
/// read; this thread puts the leaves that they fill into the new one, in order.
package final class TableRebuild {
    private let pages: PageAppender
    private let table: TableTreeWriter
    private let indexes: [Index]
    /// What this thread fills, and what other threads fill.
    private let own: RowSink
    private var lanes: [RowLane] = []
    private let order: OrderWatch
    private let settings: Settings

    /// How a table is filled.
    package struct Settings {
        /// Bytes of memory for the entries of all indexes that the threads collect, and as many for
        /// this one's; twice as much beside them.
        package let budget: Int
        /// The most threads that make rows of a large table.
        package let threads: Int
        /// The least bytes for the entries of one index: fewer make many runs.
        package let least: Int
        /// The most bytes of an index's entry, of which one for each run is in memory when runs are
        /// merged; longer ones are out of reach.
        package let longest: Int
        /// A name that scratch files have for a moment, and its beginning.
        package let scratch: FilePath
        package let files: DurableFileSystem

        package init(
            budget: Int, threads: Int = 1, least: Int = 512 << 10, longest: Int = 64 << 10,
            scratch: FilePath, files: DurableFileSystem
        ) {
            self.budget = budget
            self.threads = threads
            self.least = least
            self.longest = longest
            self.scratch = scratch
            self.files = files
        }
    }

    /// Threads that make rows: not so many that their share of memory is too small.
    private var threadCount: Int {
        min(settings.threads, settings.budget / settings.least / max(1, indexes.count))
    }

    /// Whether all rowids came behind each other so far.
    private final class OrderWatch {
        var isKept = true
    }

    /// - Parameters:
    ///   - pages: of the database that is made.
    ///   - root: the page of the empty table.
    ///   - indexes: of the table.
    ///   - settings: how it is filled.
    /// - Throws: `EngineError` where the page is none.
    package init(
        _ pages: PageAppender, root: UInt32, indexes: [Index], _ settings: Settings
    ) throws(EngineError) {
        let table = try TableTreeWriter(pages, root: root)
        let order = OrderWatch()
        self.pages = pages
        self.table = table
        self.indexes = indexes
        self.settings = settings
        self.order = order
        own = RowSink(pages.image.format, indexes, settings, lane: nil) {
            batch throws(EngineError) in
            // What follows a batch that was refused may name its pages.
            if order.isKept, try !table.append(batch) { order.isKept = false }
            batch.clear()
            return batch
        }
    }

    /// Copies rows.
    ///
    /// - Returns: how many; nil where anything is out of reach.
    /// - Throws: `EngineError` for pages that are damaged or cannot be read, and for what writing
    ///   meets.
    package func copy(_ rows: Rows, from image: PageImage) throws(EngineError) -> Int64? {
        guard rows.keys != nil else { return 0 }
        let records = TableRecords(image, root: rows.root, columns: rows.fields)
        // Rows that are numbered have to be counted first.
        if threadCount > 1, rows.offset != nil, !image.isInMemory {
            let parts = try records.parts()
            if parts.count >= 2 * threadCount {
                return try copy(rows, parts, of: image.path)
            }
        }
        let copier = RowCopier(rows)
        let before = own.count
        let isDone = try records.forEach { row throws(EngineError) in
            try copier.copy(row, into: own) && order.isKept
        }
        return isDone && order.isKept ? own.count - before : nil
    }

    /// Copies the rows below inner pages of a table that is read, on several threads.
    private func copy(
        _ rows: Rows, _ parts: [UInt32], of path: FilePath
    ) throws(EngineError) -> Int64? {
        try own.filler.endPart()
        guard order.isKept else { return nil }
        if lanes.isEmpty {
            let count = threadCount
            lanes = (0..<count).map {
                RowLane($0, of: count, pages.image.format, indexes, settings)
            }
        }
        let threads = try RowThreads(lanes, rows, parts, of: path, settings.files)
        var isDone = false
        defer { threads.end(isDone: isDone) }
        var count: Int64 = 0
        for place in parts.indices {
            let lane = lanes[place % lanes.count]
            var isPartDone = false
            while !isPartDone {
                switch lane.next() {
                case .batch(let batch):
                    guard try table.append(batch) else { return nil }
                    lane.giveBack(batch)
                case .end(let rows):
                    count += rows
                    isPartDone = true
                case .outOfReach: return nil
                case .failed(let error): throw error
                }
            }
        }
        isDone = true
        return count
    }

    /// Adds one record behind the others.
    ///
    /// - Parameters:
    ///   - values: of its columns.
    ///   - rowid: above those before.
    /// - Returns: false where it cannot be added.
    /// - Throws: `EngineError` where the file cannot be written.
    package func add(
        _ values: [RecordProgram.Constant], rowid: Int64
    ) throws(EngineError) -> Bool {
        let maker = RecordMaker(RecordProgram(values.map { .init(.constant($0), .blob) }))
        let empty = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
        let none = UnsafeMutablePointer<UnsafePointer<UInt8>?>.allocate(capacity: 1)
        empty.initialize(to: 0)
        none.initialize(to: nil)
        defer {
            empty.deallocate()
            none.deallocate()
        }
        guard maker.make(TableRecords.Row(rowid: rowid, types: empty, values: none)) else {
            return false
        }
        return try own.add(maker.record, rowid: rowid)
    }

    /// Completes the table and writes its indexes.
    ///
    /// - Returns: false where a unique index would have equal entries, or rowids do not come behind
    ///   each other.
    /// - Throws: `EngineError` where files cannot be written.
    package func finish() throws(EngineError) -> Bool {
        try own.filler.finish()
        guard order.isKept else { return false }
        try table.finish()
        let sinks = [own] + lanes.map(\.sink)
        for (place, index) in indexes.enumerated() {
            let tree = try IndexTreeWriter(pages, root: index.root)
            guard
                try tree.fill(
                    from: sinks.map { $0.sorters[place] },
                    IndexKeyOrder(descending: index.descending), isUnique: index.isUnique)
            else { return false }
        }
        return true
    }
}
