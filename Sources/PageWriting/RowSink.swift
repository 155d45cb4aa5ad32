import DurableFiles
import MigrationPlans

/// Takes rows of a new table on one thread: fills leaves, and collects the entries of indexes.
///
/// `@unchecked Sendable`: it is made by one thread, used by another until that ends, and then by
/// the first one again.
final class RowSink: @unchecked Sendable {
    let filler: LeafFiller
    /// One for each index.
    let sorters: ContiguousArray<IndexSorter>
    /// Rows that were added.
    private(set) var count: Int64 = 0

    /// - Parameters:
    ///   - format: of the pages.
    ///   - indexes: of the table.
    ///   - settings: of the table; all sinks share its memory.
    ///   - lane: the number of the thread; nil for the one that owns the table.
    ///   - flush: takes filled leaves away.
    init(
        _ format: PageFormat, _ indexes: [TableRebuild.Index], _ settings: TableRebuild.Settings,
        lane: Int?, flush: @escaping LeafFiller.Flush
    ) {
        filler = LeafFiller(format, flush: flush)
        let share = lane == nil ? 1 : settings.threads
        // Threads make and remove their scratch files at the same time.
        let scratch = lane.map { settings.scratch.adding(suffix: "-\($0)") } ?? settings.scratch
        sorters = ContiguousArray(
            indexes.map { index in
                IndexSorter(
                    IndexKeyOrder(descending: index.descending), index.columns,
                    budget: settings.budget / indexes.count / share, scratch: scratch,
                    settings.files)
            })
    }

    /// Adds a row behind the others.
    ///
    /// - Returns: false where it cannot be added.
    /// - Throws: `EngineError` where a file cannot be written.
    func add(_ record: NewRecord, rowid: Int64) throws(EngineError) -> Bool {
        guard rowid >= 0, rowid < 1 << 56, record.size < 1 << 30,
            try filler.append(record, rowid: rowid)
        else { return false }
        count += 1
        guard !sorters.isEmpty else { return true }
        let row = TableRecords.Row(
            rowid: rowid, types: UnsafePointer(record.types),
            values: UnsafePointer(record.values))
        for place in sorters.indices { try sorters[place].add(row) }
        return true
    }
}

/// Makes new rows of those of a table that is read, on one thread.
///
/// A class, because a structure would be copied, and its references counted, for each row.
final class RowCopier {
    private let rows: TableRebuild.Rows
    private let keys: ClosedRange<Int64>
    /// The column whose number tells which maker makes a row; nil where one makes all.
    private let column: Int?
    private let makers: [(number: Int64, maker: RecordMaker)]

    init(_ rows: TableRebuild.Rows) {
        self.rows = rows
        keys = rows.keys ?? 0...0
        switch rows.programs {
        case .same(let program):
            column = nil
            makers = [(0, RecordMaker(program))]
        case .byNumber(let place, let programs):
            column = place
            makers = programs.map { ($0.key, RecordMaker($0.value)) }
        }
    }

    /// Adds what becomes of a row to a sink.
    ///
    /// - Returns: false where it is out of reach.
    /// - Throws: `EngineError` where a file cannot be written.
    func copy(_ row: TableRecords.Row, into sink: RowSink) throws(EngineError) -> Bool {
        guard keys.contains(row.rowid) else { return true }
        for column in rows.needed where row.types[column] == 0 { return true }
        guard let found = maker(of: row) else { return false }
        guard let maker = found else { return rows.leavesOut }
        guard maker.make(row) else { return false }
        guard let offset = rows.offset else {
            return try sink.add(maker.record, rowid: sink.count + 1)
        }
        let (rowid, isOver) = row.rowid.addingReportingOverflow(offset)
        return isOver ? false : try sink.add(maker.record, rowid: rowid)
    }

    /// The maker of a row: nil in it where there is none, nil for a row whose number is none.
    @inline(__always)
    private func maker(of row: TableRecords.Row) -> RecordMaker?? {
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
