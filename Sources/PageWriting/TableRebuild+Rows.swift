// What fills a table.
extension TableRebuild {
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
}
