import CoreDataStore
import ManagedObjectModel
import DurableFiles

/// One pass over a source table: what its rows must become.
struct SourceScan {
    /// The rules of one source entity towards one destination entity.
    struct Program {
        /// How far keys move.
        let offset: Int64
        /// Places of its rules among all rules.
        let cells: Range<Int>
    }

    /// What is done with rows of one source entity: ranges of the lists below, so that a loop
    /// over rows touches no counted reference.
    struct Entity {
        /// Of `programs`.
        let programs: Range<Int>
        /// Of `linkList`: readers of links that its rows hold.
        let links: Range<Int>
        /// Of `strayList`: columns that its rows should leave empty.
        let strays: Range<Int>
    }

    private(set) var rules: [CellRule] = []
    /// What the sums of the rules are called.
    private(set) var labels: [String] = []
    private(set) var programs: [Program] = []
    /// Where each program's rows go.
    private(set) var fates: [Fate] = []
    private(set) var entities: [Entity?] = []
    private var linkList: [Int] = []
    private var strayList: [Int] = []
    let reader: CellReader
    let links: [LinkReader]
    let statement: Statement

    /// Prepares the pass; with a destination table only for rows that go there, without links.
    init(
        _ table: TableLayout, keys: KeyRange, scope: ValidationScope, places: [LinkPlace],
        connection: Connection, externalData: FilePath, destination: String? = nil
    ) throws(StoreError) {
        var list = SelectList(["Z_PK", "Z_ENT", "Z_OPT"])
        var constants: [StoredConstant] = []
        let links = try SourceScan.links(
            in: table.name, scope: scope, places: destination == nil ? places : [], list: &list,
            connection: connection)
        for member in scope.source.model.family(of: table.rootEntity) {
            guard let number = scope.source.number(of: member.name) else { continue }
            let starts = (programs.count, linkList.count, strayList.count)
            for (mapped, fate) in scope.fates(ofSource: member.name)
            where destination == nil || fate.table == destination {
                let made = EntityRules(
                    mapped, fate, scope: scope, list: &list, constants: &constants)
                let cells = rules.count..<(rules.count + made.cells.count)
                programs.append(Program(offset: fate.offset, cells: cells))
                fates.append(fate)
                rules += made.cells
                labels += made.labels
            }
            linkList += links.indices.filter { links[$0].accepts(rowOf: Int64(number)) }
            if destination == nil {
                strayList += table.columns.filter {
                    !scope.source.uses($0, by: member.name)
                }.map { list.place(of: $0.name) }
            }
            while entities.count <= number { entities.append(nil) }
            entities[number] = Entity(
                programs: starts.0..<programs.count, links: starts.1..<linkList.count,
                strays: starts.2..<strayList.count)
        }
        self.links = links
        reader = CellReader(
            constants: constants, connection: connection, externalData: externalData)
        statement = try connection.prepare(list.sql(table: table.name, key: "Z_PK", range: keys))
    }

    private static func links(
        in table: String, scope: ValidationScope, places: [LinkPlace], list: inout SelectList,
        connection: Connection
    ) throws(StoreError) -> [LinkReader] {
        var readers: [LinkReader] = []
        for (number, place) in places.enumerated() {
            for feed in place.feeds where feed.storage.table == table && !feed.storage.isJoin {
                readers.append(
                    try LinkReader(
                        feed, of: place, number: number, mustExist: scope.dangling == .nullify,
                        list: &list, connection: connection))
            }
        }
        return readers
    }

    /// What a pass counts, by the places of rules, links and entities.
    private struct Tally {
        var sums: [CellSum]
        var faulty: [Int64]
        var unmade: [Int64]
        var linkSums: [CellSum]
        var missingLinks: [Int64]
        var strays: [Int64]
        var unknown: Int64 = 0
        var rows: Int64 = 0

        init(_ scan: SourceScan) {
            sums = [CellSum](repeating: CellSum(), count: scan.rules.count)
            faulty = [Int64](repeating: 0, count: scan.rules.count)
            unmade = faulty
            linkSums = [CellSum](repeating: CellSum(), count: scan.links.count)
            missingLinks = [Int64](repeating: 0, count: scan.links.count)
            strays = [Int64](repeating: 0, count: scan.entities.count)
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
            guard number >= 0, number < entities.count, let entity = entities[Int(number)] else {
                tally.unknown += 1
                continue
            }
            for program in entity.programs {
                let row = RowKey(key &+ programs[program].offset)
                for cell in programs[program].cells {
                    guard let digest = try reader.expected(rules[cell], current, row) else {
                        tally.unmade[cell] += 1
                        continue
                    }
                    tally.sums[cell].add(high: digest.high, low: digest.low)
                    if digest.isNull, rules[cell].isFaultIfNull { tally.faulty[cell] += 1 }
                }
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
        }
        return result(tally, table: table, places: places)
    }

    private func result(_ tally: Tally, table: String, places: [LinkPlace]) -> PartialResult {
        var result = PartialResult()
        result.sourceRows = tally.rows
        result.add(Fault(entity: table, property: "", kind: .unknownEntity), source: tally.unknown)
        for (cell, label) in labels.enumerated() {
            result.addExpected(tally.sums[cell].content, label)
            result.add(Fault(label, .missingValue), source: tally.faulty[cell])
            // What cannot be made is a fault of the result, whatever stands there.
            result.add(Fault(label, .missingFile), destination: tally.unmade[cell])
        }
        for (number, reader) in links.enumerated() {
            let label = places[reader.place].label
            result.addExpected(tally.linkSums[number].content, label)
            result.add(Fault(label, .missingLink), source: tally.missingLinks[number])
        }
        for (number, entity) in entities.enumerated() where tally.strays[number] > 0 {
            guard let program = entity?.programs.first else { continue }
            result.add(
                Fault(entity: fates[program].entity, property: "", kind: .stray),
                source: tally.strays[number])
        }
        return result
    }
}
