import CoreDataStore
import MappingModel
import SafeSQLite
import StoreFileChecks

/// One pass over a join table of either side.
enum JoinScan {
    /// What the rows of a source join table must become.
    ///
    /// `table`: of the source.
    /// `keys`: of the naming side's objects.
    static func source(
        _ join: JoinTableLayout, keys: KeyRange, scope: ValidationScope, places: [LinkLocation],
        connection: Connection
    ) throws(StoreError) -> PartialResult {
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
        let statement = try connection.prepare(
            list.sql(table: join.name, key: join.namingColumn, range: keys))
        var sums = [CellSum](repeating: CellSum(), count: readers.count)
        var link = FoundLink()
        var incomplete: Int64 = 0
        var dropped: Int64 = 0
        var rows: Int64 = 0
        while try statement.step() {
            rows += 1
            if statement.isNull(0) || statement.isNull(1) { incomplete += 1 }
            var isDropped = false
            var isTaken = false
            for (place, reader) in readers.enumerated() {
                switch try reader.read(RawRow(statement), key: 0, number: 0, into: &link) {
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
            result.addLoss(subject, isCarried ? dropped : rows)
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
    static func destination(
        _ join: JoinTableLayout, keys: KeyRange, scope: ValidationScope, places: [LinkLocation],
        indexes: [IndexFacts], connection: Connection
    ) throws(StoreError) -> PartialResult {
        guard let number = places.firstIndex(where: { $0.storage.table == join.name }) else {
            return PartialResult()
        }
        var list = SelectList(["rowid"] + join.columnNames)
        let reader = LinkReader(
            places[number], number: number, layout: scope.destination, key: scope.key, list: &list)
        let columns = indexes.map { index in index.columns.map { list.place(of: $0.name) } }
        let seeds = list.names.map { HashSeed("\(join.name).\($0)") }
        let statement = try connection.prepare(
            list.sql(table: join.name, key: join.namingColumn, range: keys))
        var sum = CellSum()
        var indexSums = [CellSum](repeating: CellSum(), count: indexes.count)
        var link = FoundLink()
        var result = PartialResult()
        var incomplete: Int64 = 0
        while try statement.step() {
            result.joinRows += 1
            if statement.isNull(1) || statement.isNull(2) { incomplete += 1 }
            if try reader.read(RawRow(statement), key: 0, number: 0, into: &link) == .link {
                sum.add(high: link.digest.high, low: link.digest.low)
            }
            let row = scope.key.row(statement.integer(0))
            for (index, columns) in columns.enumerated() {
                for column in columns {
                    let digest = CellReader.stored(RawRow(statement), column, seeds[column], row)
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
}
