package import CoreDataStore
import MappingModel
package import SafeSQLite
package import StoreFileChecks

/// One pass over a join table of either side.
package enum JoinScan {
    /// What the rows of a source join table must become.
    ///
    /// `table`: of the source.
    /// `keys`: of the naming side's objects.
    package static func source(
        _ join: JoinTableLayout, keys: KeyRange, scope: ValidationScope, places: [LinkLocation],
        file: FileReading
    ) throws(StoreError) -> PartialResult {
        let connection = try file.connection()
        var list = SelectList(join.columnNames)
        var readers: [LinkReader] = []
        // Both sides of the relationship have one name here.
        let subject = Loss.Subject(linksOf: join.naming, in: scope.source)
        let isCarried = places.carry(join)
        for (number, place) in places.enumerated() {
            for feed in place.feeds where feed.storage.table == join.name && feed.storage.isJoin {
                readers.append(
                    try LinkReader(
                        feed, of: place, number: number, mustExist: scope.dangling == .nullify,
                        key: scope.key, list: &list, connection: connection))
            }
        }
        let rows = try rows(of: join, list, keys, file)
        var sums = [CellSum](repeating: CellSum(), count: readers.count)
        var link = FoundLink()
        var incomplete: Int64 = 0
        var dropped: Int64 = 0
        var count: Int64 = 0
        while try rows.pass.step() {
            guard rows.contain(rows.pass.row) else { continue }
            count += 1
            if rows.pass.row.isNull(0) || rows.pass.row.isNull(1) { incomplete += 1 }
            var isDropped = false
            var isTaken = false
            for (place, reader) in readers.enumerated() {
                switch try reader.read(rows.pass.row, key: 0, number: 0, into: &link) {
                case .link:
                    sums[place].add(high: link.digest.high, low: link.digest.low)
                    isTaken = true
                case .dropped: isDropped = true
                case .none, .missing, .lost, .stray: continue
                }
            }
            if isDropped, !isTaken { dropped += 1 }
        }
        var result = PartialResult()
        if !scope.isLinkCarriedByPolicy(join.naming) {
            result.addLoss(subject, isCarried ? dropped : count)
        }
        for (place, reader) in readers.enumerated() {
            result.addExpected(sums[place].content, places[reader.place].label)
        }
        // Rows without one of their ends, by the relationship that they become.
        for label in Set(readers.map { places[$0.place].label }) {
            result.add(Fault(label, .stray), source: incomplete)
        }
        return result
    }

    /// What the rows of a destination join table are, and what its indexes must hold.
    ///
    /// `links`: the only rows that count; nil for all.
    package static func destination(
        _ join: JoinTableLayout, keys: KeyRange, scope: ValidationScope, places: [LinkLocation],
        indexes: [IndexFacts], file: FileReading, onlyOf links: PolicyLinks? = nil
    ) throws(StoreError) -> PartialResult {
        guard let number = places.firstIndex(where: { $0.storage.table == join.name }) else {
            return PartialResult()
        }
        var list = SelectList(["rowid"] + join.columnNames)
        let reader = LinkReader(
            places[number], number: number, layout: scope.destination, key: scope.key, list: &list)
        let columns = indexes.map { index in index.columns.map { list.place(of: $0.name) } }
        let seeds = list.names.map { HashSeed("\(join.name).\($0)") }
        let rows = try rows(of: join, list, keys, file)
        var sum = CellSum()
        var indexSums = [CellSum](repeating: CellSum(), count: indexes.count)
        var link = FoundLink()
        var result = PartialResult()
        var incomplete: Int64 = 0
        while try rows.pass.step() {
            let current = rows.pass.row
            guard rows.contain(current),
                links?.contains(naming: current.integer(1), inverse: current.integer(2)) != false
            else { continue }
            result.joinRows += 1
            if current.isNull(1) || current.isNull(2) { incomplete += 1 }
            if try reader.read(rows.pass.row, key: 0, number: 0, into: &link) == .link {
                sum.add(high: link.digest.high, low: link.digest.low)
            }
            let row = scope.key.row(current.integer(0))
            for (index, columns) in columns.enumerated() {
                for column in columns {
                    let digest = CellReader.stored(current, column, seeds[column], row)
                    indexSums[index].add(high: digest.high, low: digest.low)
                }
            }
        }
        result.addActual(sum.content, places[number].label)
        result.add(Fault(places[number].label, .stray), destination: incomplete)
        for (place, index) in indexes.enumerated() {
            result.addExpected(indexSums[place].content, index.label)
        }
        return result
    }

    /// Rows of a join table by the keys of its naming side.
    private struct Rows {
        let pass: RowPass
        /// The column of those keys, and which are wanted; nil where the pass gives no others.
        let keys: (column: Int, range: KeyRange)?

        @inline(__always)
        func contain(_ row: RawRow) -> Bool {
            guard let keys else { return true }
            // As in SQL, a row without a key is in no range.
            return !row.isNull(keys.column) && keys.range.contains(row.integer(keys.column))
        }
    }

    private static func rows(
        of join: JoinTableLayout, _ list: SelectList, _ keys: KeyRange, _ file: FileReading
    ) throws(StoreError) -> Rows {
        let cursor = list.isPlain ? try file.cursor(table: join.name, values: list.names) : nil
        guard let cursor, let column = list.names.firstIndex(of: join.namingColumn) else {
            let statement = try file.connection().prepare(
                list.sql(table: join.name, key: join.namingColumn, range: keys))
            return Rows(pass: RowPass(statement), keys: nil)
        }
        return Rows(pass: RowPass(cursor), keys: keys == .all ? nil : (column, keys))
    }
}
