package import DurableFiles
package import MigrationPlans

/// Fills one empty table and its indexes from records of other databases, page by page.
///
/// Indexes are written when all rows are there; their entries are collected on the way.
package final class TableRebuild {
    /// An index of the table.
    package struct Index: Sendable {
        /// The page of the empty index.
        package let root: UInt32
        /// The indexed columns by their places in the table; nil for the rowid.
        package let columns: [Int?]
        package let descending: [Bool]
        package let isUnique: Bool

        package init(root: UInt32, columns: [Int?], descending: [Bool], isUnique: Bool) {
            self.root = root
            self.columns = columns
            self.descending = descending
            self.isUnique = isUnique
        }
    }

    /// What makes records.
    package enum Programs: Sendable {
        /// The number in a column tells which program makes a row.
        case byNumber(column: Int, [Int64: RecordProgram])
        case same(RecordProgram)
    }

    /// Rows of a table that is read, and what they become.
    package struct Rows: Sendable {
        /// The root page of the table.
        package let root: UInt32
        /// Which rowids are read; nil reads none.
        package let keys: ClosedRange<Int64>?
        package let programs: Programs
        /// What is added to rowids; nil numbers rows from 1.
        package let offset: Int64?
        /// Columns without which a row is left out.
        package let needed: [Int]
        /// Whether rows that no program makes are left out: otherwise they are out of reach.
        package let leavesOut: Bool

        package init(
            root: UInt32, keys: ClosedRange<Int64>?, programs: Programs, offset: Int64?,
            needed: [Int], leavesOut: Bool
        ) {
            self.root = root
            self.keys = keys
            self.programs = programs
            self.offset = offset
            self.needed = needed
            self.leavesOut = leavesOut
        }

        /// How many columns, from the first, are read.
        var fields: Int {
            let read: [Int] =
                switch programs {
                case .same(let program): [program.fields]
                case .byNumber(let column, let programs):
                    [column + 1] + programs.values.map(\.fields)
                }
            return (read + needed.map { $0 + 1 }).max() ?? 0
        }
    }

    private let pages: PageAppender
    private let table: TableTreeWriter
    private let indexes: [Index]
    /// One for each index.
    private let sorters: ContiguousArray<IndexSorter>

    /// - Parameters:
    ///   - pages: of the database that is made.
    ///   - root: the page of the empty table.
    ///   - indexes: of the table.
    ///   - budget: bytes of memory for the entries of all indexes; twice as much beside them.
    ///   - scratch: a name that scratch files have for a moment.
    ///   - files: makes them.
    /// - Throws: `EngineError` where the page is none.
    package init(
        _ pages: PageAppender, root: UInt32, indexes: [Index], budget: Int, scratch: FilePath,
        _ files: DurableFileSystem
    ) throws(EngineError) {
        self.pages = pages
        table = try TableTreeWriter(pages, root: root)
        self.indexes = indexes
        sorters = ContiguousArray(
            indexes.map { index in
                IndexSorter(
                    IndexKeyOrder(descending: index.descending), index.columns,
                    budget: budget / indexes.count, scratch: scratch, files)
            })
    }

    /// Copies rows.
    ///
    /// - Returns: how many; nil where anything is out of reach.
    /// - Throws: `EngineError` for pages that are damaged or cannot be read, and for what writing
    ///   meets.
    package func copy(_ rows: Rows, from image: PageImage) throws(EngineError) -> Int64? {
        guard let keys = rows.keys else { return 0 }
        let makers = Makers(rows.programs)
        let before = table.count
        let records = TableRecords(image, root: rows.root, columns: rows.fields)
        let isDone = try records.forEach { row throws(EngineError) in
            guard keys.contains(row.rowid) else { return true }
            for column in rows.needed where row.types[column] == 0 { return true }
            guard let found = makers.maker(of: row) else { return false }
            guard let maker = found else { return rows.leavesOut }
            guard maker.make(row) else { return false }
            guard let offset = rows.offset else { return try add(maker.record, nil) }
            return try add(maker.record, (offset, row.rowid))
        }
        return isDone ? table.count - before : nil
    }

    private struct Makers {
        private let column: Int?
        private let makers: [(number: Int64, maker: RecordMaker)]

        init(_ programs: Programs) {
            switch programs {
            case .same(let program):
                column = nil
                makers = [(0, RecordMaker(program))]
            case .byNumber(let place, let programs):
                column = place
                makers = programs.map { ($0.key, RecordMaker($0.value)) }
            }
        }

        /// The maker of a row: nil in it where there is none, nil for a row whose number is none.
        @inline(__always)
        func maker(of row: TableRecords.Row) -> RecordMaker?? {
            var number: Int64 = 0
            if let column {
                let type = row.types[column]
                guard type != 0, type < 10, type != 7, let bytes = row.values[column] else {
                    return nil
                }
                number = RecordBytes.integer(type, bytes)
            }
            for entry in makers where entry.number == number { return .some(entry.maker) }
            return .some(nil)
        }
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
        return try add(maker.record, (0, rowid))
    }

    private func add(
        _ record: NewRecord, _ key: (offset: Int64, rowid: Int64)?
    ) throws(EngineError) -> Bool {
        var rowid = table.count + 1
        if let key {
            let (sum, isOver) = key.rowid.addingReportingOverflow(key.offset)
            if isOver { return false }
            rowid = sum
        }
        guard rowid >= 0, rowid < 1 << 56, record.size < 1 << 30,
            try table.append(record, rowid: rowid)
        else { return false }
        guard !sorters.isEmpty else { return true }
        let row = TableRecords.Row(
            rowid: rowid, types: UnsafePointer(record.types),
            values: UnsafePointer(record.values))
        for place in sorters.indices { try sorters[place].add(row) }
        return true
    }

    /// Completes the table and writes its indexes.
    ///
    /// - Returns: false where a unique index would have equal entries.
    /// - Throws: `EngineError` where files cannot be written.
    package func finish() throws(EngineError) -> Bool {
        try table.finish()
        for (index, sorter) in zip(indexes, sorters) {
            let tree = try IndexTreeWriter(pages, root: index.root)
            guard
                try tree.fill(
                    from: sorter, IndexKeyOrder(descending: index.descending),
                    isUnique: index.isUnique)
            else { return false }
        }
        return true
    }
}
