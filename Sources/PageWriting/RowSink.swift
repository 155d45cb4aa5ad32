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
    ///   - settings: of the table.
    ///   - lane: the number of the thread, and how many share the memory; nil for the thread that
    ///     owns the table.
    ///   - flush: takes filled leaves away.
    init(
        _ format: PageFormat, _ indexes: [TableRebuild.Index], _ settings: TableRebuild.Settings,
        lane: (number: Int, count: Int)?, flush: @escaping LeafFiller.Flush
    ) {
        filler = LeafFiller(format, flush: flush)
        let share = lane?.count ?? 1
        // Threads make and remove their scratch files at the same time.
        let scratch =
            lane.map { settings.scratch.adding(suffix: "-\($0.number)") } ?? settings.scratch
        sorters = ContiguousArray(
            indexes.map { index in
                IndexSorter(
                    IndexKeyOrder(descending: index.descending), index.columns,
                    budget: settings.budget / indexes.count / share,
                    longest: settings.longest, scratch: scratch, settings.files)
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
        for place in sorters.indices {
            guard try sorters[place].add(row) else { return false }
        }
        return true
    }
}
