import CoreDataStore
import ManagedObjectModel

/// One pass over a destination table: what its rows are, and what its indexes must hold.
struct DestinationScan {
    /// One attribute, or one of the leading columns.
    struct Cell {
        let column: Int
        let seed: HashSeed
        let isRequired: Bool
        let label: String
    }

    /// What is done with rows of one entity.
    final class Entity {
        let name: String
        let cells: Range<Int>
        /// Columns that indexes hold and that are not among the cells.
        let indexed: [Int]
        let strays: [Int]
        let links: [Int]

        init(
            name: String, cells: Range<Int> = 0..<0, indexed: [Int], strays: [Int] = [],
            links: [Int] = []
        ) {
            self.name = name
            self.cells = cells
            self.indexed = indexed
            self.strays = strays
            self.links = links
        }
    }

    let cells: [Cell]
    let links: [LinkReader]
    let indexes: [IndexFacts]
    /// The places of each index's columns, and that of its condition.
    let indexColumns: [(columns: [Int], condition: Int?)]
    let entities: [Entity?]
    /// For rows whose entity is unknown: indexes hold them all the same.
    let fallback: Entity
    let seeds: [HashSeed]
    let statement: Statement

    /// - Parameters:
    ///   - keys: of the destination.
    ///   - indexes: of the table; their entries are summed along.
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
        let columns = indexes.map { index in index.columns.map { list.place(of: $0.name) } }
        let conditions = indexes.compactMap(\.condition)
        var next = list.names.count
        self.indexColumns = zip(indexes, columns).map { index, columns in
            guard index.condition != nil else { return (columns, nil) }
            next += 1
            return (columns, next - 1)
        }
        let seeds = list.names.map { HashSeed("\(table.name).\($0)") }
        let indexed = Set(columns.joined())
        var cells: [Cell] = []
        var entities: [Entity?] = []
        for member in layout.model.family(of: table.rootEntity) {
            guard let number = layout.number(of: member.name) else { continue }
            let made = DestinationScan.cells(
                of: member.name, table: table, layout: layout, list: &list)
            while entities.count <= number { entities.append(nil) }
            entities[number] = Entity(
                name: member.name, cells: cells.count..<(cells.count + made.count),
                indexed: indexed.subtracting(made.map(\.column)).sorted(),
                strays: table.columns.filter { !layout.uses($0, by: member.name) }
                    .map { list.place(of: $0.name) },
                links: links.indices.filter { links[$0].accepts(rowOf: Int64(number)) })
            cells += made
        }
        self.cells = cells
        self.links = links
        self.indexes = indexes
        self.entities = entities
        self.seeds = seeds
        fallback = Entity(name: "", indexed: indexed.sorted())
        statement = try connection.prepare(
            list.sql(table: table.name, key: "Z_PK", range: keys, extra: conditions))
    }

    /// The cells of an entity in the order of the columns, the leading two first.
    private static func cells(
        of entity: String, table: TableLayout, layout: StoreLayout, list: inout SelectList
    ) -> [Cell] {
        var cells = EntityRules.leading.map { name in
            Cell(
                column: list.place(of: name), seed: HashSeed("\(table.name).\(name)"),
                isRequired: false, label: "\(entity).\(name)")
        }
        for column in table.columns {
            guard case .attribute(let key) = column.role, layout.uses(column, by: entity) else {
                continue
            }
            cells.append(
                Cell(
                    column: list.place(of: column.name),
                    seed: HashSeed("\(table.name).\(column.name)"),
                    isRequired: EntityRules.isRequired(column, in: layout),
                    label: "\(entity).\(key.property)"))
        }
        return cells
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
        while try statement.step() {
            tally.rows += 1
            let key = statement.integer(0)
            let number = statement.integer(1)
            let row = RowKey(key)
            let known = number >= 0 && number < entities.count ? entities[Int(number)] : nil
            if known == nil { tally.unknown += 1 }
            let entity = known ?? fallback
            for place in entity.cells {
                let column = cells[place].column
                let digest = CellReader.stored(statement, column, cells[place].seed, row)
                tally.digests[column] = digest
                tally.sums[place].add(high: digest.high, low: digest.low)
                if digest.isNull, cells[place].isRequired { tally.missing[place] += 1 }
            }
            for place in entity.links {
                switch try links[place].read(statement, key: key, number: number, into: &link) {
                case .link: tally.linkSums[place].add(high: link.digest.high, low: link.digest.low)
                case .missing: tally.missingLinks[place] += 1
                case .none: break
                }
            }
            for column in entity.strays where !statement.isNull(column) {
                tally.strays[Int(number)] += 1
            }
            addIndexEntries(of: row, entity, to: &tally)
        }
        return result(tally, table: table, places: places)
    }

    @inline(__always)
    private func addIndexEntries(of row: RowKey, _ entity: Entity, to tally: inout Tally) {
        for column in entity.indexed {
            tally.digests[column] = CellReader.stored(statement, column, seeds[column], row)
        }
        for index in indexColumns.indices {
            if let condition = indexColumns[index].condition, statement.integer(condition) == 0 {
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
        for (place, cell) in cells.enumerated() {
            result.addActual(tally.sums[place].content, cell.label)
            result.add(Fault(cell.label, .missingValue), destination: tally.missing[place])
        }
        for (number, reader) in links.enumerated() {
            let label = places[reader.place].label
            result.addActual(tally.linkSums[number].content, label)
            result.add(Fault(label, .missingLink), destination: tally.missingLinks[number])
        }
        for (number, entity) in entities.enumerated() where tally.strays[number] > 0 {
            result.add(
                Fault(entity: entity?.name ?? table, property: "", kind: .stray),
                destination: tally.strays[number])
        }
        for (number, index) in indexes.enumerated() {
            result.addExpected(tally.indexSums[number].content, index.label)
        }
        return result
    }
}
