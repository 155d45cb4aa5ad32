package import CoreDataStore
import ManagedObjectModel
package import SafeSQLite
package import StoreFileChecks

/// One pass over a destination table: what its rows are, and what its indexes must hold.
package struct DestinationScan {
    let rules: DestinationRules
    let links: [LinkReader]
    let rows: RowPass
    let hashKey: HashKey

    /// Prepares the pass; entries of the given indexes are summed along.
    ///
    /// `entity`: the number of the entity whose rows alone are read; nil for all.
    /// `shared`: rules made for the same scope and all its places.
    package init(
        _ table: TableLayout, keys: KeyRange, scope: ValidationScope, places: [LinkLocation],
        indexes: [IndexFacts], file: FileReading, entity: Int64? = nil,
        shared: SharedRules? = nil
    ) throws(StoreError) {
        let layout = scope.destination
        hashKey = scope.key
        var list = SelectList(table.columnNames)
        var links: [LinkReader] = []
        for (number, place) in places.enumerated()
        where place.storage.table == table.name && !place.storage.isJoin {
            links.append(
                LinkReader(place, number: number, layout: layout, key: scope.key, list: &list))
        }
        self.links = links
        let make = {
            DestinationRules(table, layout: layout, links: links, list: list, indexes: indexes)
        }
        rules = shared?.destinationRules(table.name, indexes, make: make) ?? make()
        let conditions = indexes.compactMap(\.condition)
        if conditions.isEmpty, entity == nil,
            let cursor = try file.cursor(
                table: table.name, values: rules.list.names, range: keys)
        {
            rows = RowPass(cursor)
            return
        }
        rows = RowPass(
            try file.connection().prepare(
                rules.list.sql(
                    table: table.name, key: "Z_PK", range: keys, extra: conditions,
                    condition: entity.map { "Z_ENT = \($0)" })))
    }

    /// What a pass counts, by the places of cells, links, indexes and entities.
    private struct Tally {
        var sums: [CellSum]
        var missing: [Int64]
        var linkSums: [CellSum]
        var missingLinks: [Int64]
        var strayLinks: [Int64]
        var indexSums: [CellSum]
        var strays: [Int64]
        /// The hashes of the row's columns, for indexes.
        var digests: [CellDigest]
        var unknown: Int64 = 0
        var rows: Int64 = 0

        init(_ scan: DestinationScan) {
            sums = [CellSum](repeating: CellSum(), count: scan.rules.cells.count)
            missing = [Int64](repeating: 0, count: scan.rules.cells.count)
            linkSums = [CellSum](repeating: CellSum(), count: scan.links.count)
            missingLinks = [Int64](repeating: 0, count: scan.links.count)
            strayLinks = missingLinks
            indexSums = [CellSum](repeating: CellSum(), count: scan.rules.indexes.count)
            strays = [Int64](repeating: 0, count: scan.rules.entities.count)
            let nothing = CellDigest(ContentDigest128(high: 0, low: 0))
            digests = [CellDigest](repeating: nothing, count: scan.rules.seeds.count)
        }
    }

    /// Sums over all rows of the range.
    package func sums(table: String, places: [LinkLocation]) throws(StoreError) -> PartialResult {
        var tally = Tally(self)
        var link = FoundLink()
        let (rows, rules) = (rows, rules)
        let current = rows.row
        while try rows.step() {
            tally.rows += 1
            let key = current.integer(0)
            let number = current.integer(1)
            let row = hashKey.row(key)
            let known =
                number >= 0 && number < rules.entities.count ? rules.entities[Int(number)] : nil
            if known == nil { tally.unknown += 1 }
            let entity = known ?? rules.fallback
            for place in entity.cells {
                let cell = rules.cells[place]
                let digest = CellReader.stored(current, cell.column, cell.seed, row)
                tally.digests[cell.column] = digest
                tally.sums[place].add(high: digest.high, low: digest.low)
                if digest.isNull, cell.isRequired { tally.missing[place] += 1 }
            }
            for entry in entity.links {
                let place = rules.linkList[entry]
                switch try links[place].read(current, key: key, number: number, into: &link) {
                case .link: tally.linkSums[place].add(high: link.digest.high, low: link.digest.low)
                case .missing: tally.missingLinks[place] += 1
                case .stray: tally.strayLinks[place] += 1
                case .none, .lost, .dropped: break
                }
            }
            for entry in entity.strays where !current.isNull(rules.strayList[entry]) {
                tally.strays[Int(number)] += 1
            }
            addIndexEntries(of: row, current, entity, rules, to: &tally)
        }
        return result(tally, table: table, places: places)
    }

    @inline(__always)
    private func addIndexEntries(
        of row: RowKey, _ current: RawRow, _ entity: DestinationRules.Entity,
        _ rules: DestinationRules, to tally: inout Tally
    ) {
        for entry in entity.indexed {
            let column = rules.indexedList[entry]
            tally.digests[column] = CellReader.stored(
                current, column, rules.seeds[column], row)
        }
        for entry in rules.indexColumns {
            if let condition = entry.condition, current.integer(condition) == 0 { continue }
            let digest = tally.digests[entry.column]
            tally.indexSums[entry.index].add(high: digest.high, low: digest.low)
        }
    }

    private func result(_ tally: Tally, table: String, places: [LinkLocation]) -> PartialResult {
        var result = PartialResult()
        result.destinationRows = tally.rows
        result.add(
            Fault(entity: table, property: "", kind: .unknownEntity), destination: tally.unknown)
        for (place, label) in rules.labels.enumerated() {
            result.addActual(tally.sums[place].content, label)
            result.add(Fault(label, .missingValue), destination: tally.missing[place])
        }
        for (number, reader) in links.enumerated() {
            let label = places[reader.place].label
            result.addActual(tally.linkSums[number].content, label)
            result.add(Fault(label, .missingLink), destination: tally.missingLinks[number])
            result.add(Fault(label, .stray), destination: tally.strayLinks[number])
        }
        for (number, name) in rules.names.enumerated() where tally.strays[number] > 0 {
            result.add(
                Fault(entity: name, property: "", kind: .stray),
                destination: tally.strays[number])
        }
        for (number, index) in rules.indexes.enumerated() {
            result.addExpected(tally.indexSums[number].content, index.label)
        }
        return result
    }
}
