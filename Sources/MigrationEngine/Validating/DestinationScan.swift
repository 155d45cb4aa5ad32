import CoreDataStore
import ManagedObjectModel

/// One pass over a destination table: what its rows are, and what its indexes must hold.
struct DestinationScan {
    /// One attribute, or one of the leading columns.
    struct StoredCell {
        let column: Int
        let seed: HashSeed
        let isRequired: Bool
    }

    /// What is done with rows of one entity: ranges of the lists below, so that a loop over rows
    /// touches no counted reference.
    struct Entity {
        /// Of `cells`.
        let cells: Range<Int>
        /// Of `indexedList`: columns that indexes hold and that are not among the cells.
        let indexed: Range<Int>
        /// Of `strayList`: columns that its rows should leave empty.
        let strays: Range<Int>
        /// Of `linkList`: readers of links that its rows hold.
        let links: Range<Int>
    }

    private(set) var cells: [StoredCell] = []
    /// What the sums of the cells are called.
    private(set) var labels: [String] = []
    private(set) var entities: [Entity?] = []
    private(set) var names: [String] = []
    private var indexedList: [Int] = []
    private var strayList: [Int] = []
    private var linkList: [Int] = []
    /// For rows whose entity is unknown: indexes hold them all the same.
    private let fallback: Entity
    let links: [LinkReader]
    private let indexes: [IndexFacts]
    /// The places of each index's columns, and that of its condition.
    private let indexColumns: [(columns: [Int], condition: Int?)]
    private let seeds: [HashSeed]
    let statement: Statement

    /// Prepares the pass; entries of the given indexes are summed along.
    init(
        _ table: TableLayout, keys: KeyRange, scope: ValidationScope, places: [LinkPlace],
        indexes: [IndexFacts], connection: Connection
    ) throws(StoreError) {
        let layout = scope.destination
        var list = SelectList(table.columnNames)
        var links: [LinkReader] = []
        for (number, place) in places.enumerated()
        where place.storage.table == table.name && !place.storage.isJoin {
            links.append(LinkReader(place, number: number, layout: layout, list: &list))
        }
        self.links = links
        self.indexes = indexes
        let columns = indexes.map { index in index.columns.map { list.place(of: $0.name) } }
        let conditions = indexes.compactMap(\.condition)
        var next = list.names.count
        indexColumns = zip(indexes, columns).map { index, columns in
            guard index.condition != nil else { return (columns, nil) }
            next += 1
            return (columns, next - 1)
        }
        seeds = list.names.map { HashSeed("\(table.name).\($0)") }
        let indexed = Set(columns.joined()).sorted()
        indexedList = indexed
        fallback = Entity(cells: 0..<0, indexed: 0..<indexed.count, strays: 0..<0, links: 0..<0)
        statement = try connection.prepare(
            list.sql(table: table.name, key: "Z_PK", range: keys, extra: conditions))
        for member in layout.model.family(of: table.rootEntity) {
            guard let number = layout.number(of: member.name) else { continue }
            let starts = (cells.count, indexedList.count, strayList.count, linkList.count)
            addCells(of: member.name, table: table, layout: layout, list: &list)
            let own = Set(cells[starts.0...].map(\.column))
            indexedList += indexed.filter { !own.contains($0) }
            strayList += table.columns.filter { !layout.uses($0, by: member.name) }
                .map { list.place(of: $0.name) }
            linkList += links.indices.filter { links[$0].accepts(rowOf: Int64(number)) }
            while entities.count <= number {
                entities.append(nil)
                names.append(table.name)
            }
            names[number] = member.name
            entities[number] = Entity(
                cells: starts.0..<cells.count, indexed: starts.1..<indexedList.count,
                strays: starts.2..<strayList.count, links: starts.3..<linkList.count)
        }
    }

    /// The cells of an entity in the order of the columns, the leading two first.
    private mutating func addCells(
        of entity: String, table: TableLayout, layout: StoreLayout, list: inout SelectList
    ) {
        for name in EntityRules.leading {
            cells.append(
                StoredCell(
                    column: list.place(of: name), seed: HashSeed("\(table.name).\(name)"),
                    isRequired: false))
            labels.append("\(entity).\(name)")
        }
        for column in table.columns {
            guard case .attribute(let key) = column.role, layout.uses(column, by: entity) else {
                continue
            }
            cells.append(
                StoredCell(
                    column: list.place(of: column.name),
                    seed: HashSeed("\(table.name).\(column.name)"),
                    isRequired: EntityRules.isRequired(column, in: layout)))
            labels.append("\(entity).\(key.property)")
        }
    }

    /// What a pass counts, by the places of cells, links, indexes and entities.
    private struct Tally {
        var sums: [CellSum]
        var missing: [Int64]
        var linkSums: [CellSum]
        var missingLinks: [Int64]
        var indexSums: [CellSum]
        var strays: [Int64]
        /// The hashes of the row's columns, for indexes.
        var digests: [CellDigest]
        var unknown: Int64 = 0
        var rows: Int64 = 0

        init(_ scan: DestinationScan) {
            sums = [CellSum](repeating: CellSum(), count: scan.cells.count)
            missing = [Int64](repeating: 0, count: scan.cells.count)
            linkSums = [CellSum](repeating: CellSum(), count: scan.links.count)
            missingLinks = [Int64](repeating: 0, count: scan.links.count)
            indexSums = [CellSum](repeating: CellSum(), count: scan.indexes.count)
            strays = [Int64](repeating: 0, count: scan.entities.count)
            let nothing = CellDigest(ContentDigest128(high: 0, low: 0))
            digests = [CellDigest](repeating: nothing, count: scan.seeds.count)
        }
    }

    /// Sums over all rows of the range.
    func sums(table: String, places: [LinkPlace]) throws(StoreError) -> PartialResult {
        var tally = Tally(self)
        var link = FoundLink()
        let current = RawRow(statement)
        while try statement.step() {
            tally.rows += 1
            let key = current.integer(0)
            let number = current.integer(1)
            let row = RowKey(key)
            let known = number >= 0 && number < entities.count ? entities[Int(number)] : nil
            if known == nil { tally.unknown += 1 }
            let entity = known ?? fallback
            for place in entity.cells {
                let cell = cells[place]
                let digest = CellReader.stored(current, cell.column, cell.seed, row)
                tally.digests[cell.column] = digest
                tally.sums[place].add(high: digest.high, low: digest.low)
                if digest.isNull, cell.isRequired { tally.missing[place] += 1 }
            }
            for entry in entity.links {
                let place = linkList[entry]
                switch try links[place].read(current, key: key, number: number, into: &link) {
                case .link: tally.linkSums[place].add(high: link.digest.high, low: link.digest.low)
                case .missing: tally.missingLinks[place] += 1
                case .none: break
                }
            }
            for entry in entity.strays where !current.isNull(strayList[entry]) {
                tally.strays[Int(number)] += 1
            }
            addIndexEntries(of: row, current, entity, to: &tally)
        }
        return result(tally, table: table, places: places)
    }

    @inline(__always)
    private func addIndexEntries(
        of row: RowKey, _ current: RawRow, _ entity: Entity, to tally: inout Tally
    ) {
        for entry in entity.indexed {
            let column = indexedList[entry]
            tally.digests[column] = CellReader.stored(current, column, seeds[column], row)
        }
        for index in indexColumns.indices {
            if let condition = indexColumns[index].condition, current.integer(condition) == 0 {
                continue
            }
            for column in indexColumns[index].columns {
                let digest = tally.digests[column]
                tally.indexSums[index].add(high: digest.high, low: digest.low)
            }
        }
    }

    private func result(_ tally: Tally, table: String, places: [LinkPlace]) -> PartialResult {
        var result = PartialResult()
        result.destinationRows = tally.rows
        result.add(
            Fault(entity: table, property: "", kind: .unknownEntity), destination: tally.unknown)
        for (place, label) in labels.enumerated() {
            result.addActual(tally.sums[place].content, label)
            result.add(Fault(label, .missingValue), destination: tally.missing[place])
        }
        for (number, reader) in links.enumerated() {
            let label = places[reader.place].label
            result.addActual(tally.linkSums[number].content, label)
            result.add(Fault(label, .missingLink), destination: tally.missingLinks[number])
        }
        for (number, name) in names.enumerated() where tally.strays[number] > 0 {
            result.add(
                Fault(entity: name, property: "", kind: .stray),
                destination: tally.strays[number])
        }
        for (number, index) in indexes.enumerated() {
            result.addExpected(tally.indexSums[number].content, index.label)
        }
        return result
    }
}
