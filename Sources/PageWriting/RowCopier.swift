import MigrationPlans

/// Makes new rows of those of a table that is read, on one thread.
///
/// A class, because a structure would be copied, and its references counted, for each row.
final class RowCopier {
    private let keys: ClosedRange<Int64>
    /// Columns without which a row is left out.
    private let needed: [Int]
    private let leavesOut: Bool
    private let offset: Int64?
    /// The column whose number tells which maker makes a row; nil where one makes all.
    private let column: Int?
    /// The numbers of the makers.
    private let numbers: [Int64]
    private let makers: ContiguousArray<RecordMaker>

    init(_ rows: TableRebuild.Rows) {
        keys = rows.keys ?? 0...0
        needed = rows.needed
        leavesOut = rows.leavesOut
        offset = rows.offset
        switch rows.programs {
        case .same(let program):
            column = nil
            numbers = [0]
            makers = [RecordMaker(program)]
        case .byNumber(let place, let programs):
            column = place
            numbers = Array(programs.keys)
            makers = ContiguousArray(programs.values.map { RecordMaker($0) })
        }
    }

    /// Adds what becomes of a row to a sink.
    ///
    /// - Returns: false where it is out of reach.
    /// - Throws: `EngineError` where a file cannot be written.
    func copy(_ row: TableRecords.Row, into sink: RowSink) throws(EngineError) -> Bool {
        guard keys.contains(row.rowid) else { return true }
        for column in needed where row.types[column] == 0 { return true }
        var number: Int64 = 0
        if let column {
            let type = row.types[column]
            guard type != 0, type < 10, type != 7, let bytes = row.values[column] else {
                return false
            }
            number = RecordBytes.integer(type, bytes)
        }
        guard let place = numbers.firstIndex(of: number) else { return leavesOut }
        let maker = makers[place]
        guard maker.make(row) else { return false }
        guard let offset else { return try sink.add(maker.record, rowid: sink.count + 1) }
        let (rowid, isOver) = row.rowid.addingReportingOverflow(offset)
        return isOver ? false : try sink.add(maker.record, rowid: rowid)
    }
}
