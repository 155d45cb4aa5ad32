import CoreDataStore
import ManagedObjectModel
import DurableFiles

/// One pass over a source table: what its rows must become.
struct SourceScan {
    /// The rules of one source entity towards one destination entity.
    struct Program {
        let fate: Fate
        /// Places of its rules among all rules.
        let cells: Range<Int>
    }

    /// What is done with rows of one source entity.
    final class Entity {
        let name: String
        fileprivate(set) var programs: [Program] = []
        /// Readers of links that its rows hold.
        fileprivate(set) var links: [Int] = []
        /// Columns that its rows should leave empty.
        fileprivate(set) var strays: [Int] = []

        init(name: String) { self.name = name }
    }

    let rules: [CellRule]
    let reader: CellReader
    let links: [LinkReader]
    let entities: [Entity?]
    let statement: Statement

    /// - Parameters:
    ///   - table: of the source.
    ///   - keys: of the source.
    ///   - destination: only rows that go there; nil for all.
    init(
        _ table: TableLayout, keys: KeyRange, scope: ValidationScope, places: [LinkPlace],
        connection: Connection, externalData: FilePath, destination: String? = nil
    ) throws(StoreError) {
        var list = SelectList(["Z_PK", "Z_ENT", "Z_OPT"])
        var constants: [StoredConstant] = []
        var rules: [CellRule] = []
        var entities: [Entity?] = []
        let links = try SourceScan.links(
            in: table.name, scope: scope, places: destination == nil ? places : [], list: &list,
            connection: connection)
        for member in scope.source.model.family(of: table.rootEntity) {
            guard let number = scope.source.number(of: member.name) else { continue }
            let entity = Entity(name: member.name)
            for (mapped, fate) in scope.fates(ofSource: member.name)
            where destination == nil || fate.table == destination {
                let made = EntityRules(
                    mapped, fate, scope: scope, list: &list, constants: &constants)
                let cells = rules.count..<(rules.count + made.cells.count)
                entity.programs.append(Program(fate: fate, cells: cells))
                rules += made.cells
            }
            entity.links = links.indices.filter { links[$0].accepts(rowOf: Int64(number)) }
            if destination == nil {
                entity.strays = table.columns.filter {
                    !scope.source.uses($0, by: member.name)
                }.map { list.place(of: $0.name) }
            }
            while entities.count <= number { entities.append(nil) }
            entities[number] = entity
        }
        self.rules = rules
        self.links = links
        self.entities = entities
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
        while try statement.step() {
            tally.rows += 1
            let key = statement.integer(0)
            let number = statement.integer(1)
            guard number >= 0, number < entities.count, let entity = entities[Int(number)] else {
                tally.unknown += 1
                continue
            }
            for program in entity.programs {
                let row = RowKey(key &+ program.fate.offset)
                for cell in program.cells {
                    guard let digest = try reader.expected(rules[cell], statement, row) else {
                        tally.unmade[cell] += 1
                        continue
                    }
                    tally.sums[cell].add(high: digest.high, low: digest.low)
                    if digest.isNull, rules[cell].isFaultIfNull { tally.faulty[cell] += 1 }
                }
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
        }
        return result(tally, table: table, places: places)
    }

    private func result(_ tally: Tally, table: String, places: [LinkPlace]) -> PartialResult {
        var result = PartialResult()
        result.sourceRows = tally.rows
        result.add(Fault(entity: table, property: "", kind: .unknownEntity), source: tally.unknown)
        for (cell, rule) in rules.enumerated() {
            result.addExpected(tally.sums[cell].content, rule.label)
            result.add(Fault(rule.label, .missingValue), source: tally.faulty[cell])
            // What cannot be made is a fault of the result, whatever stands there.
            result.add(Fault(rule.label, .missingFile), destination: tally.unmade[cell])
        }
        for (number, reader) in links.enumerated() {
            let label = places[reader.place].label
            result.addExpected(tally.linkSums[number].content, label)
            result.add(Fault(label, .missingLink), source: tally.missingLinks[number])
        }
        for (number, entity) in entities.enumerated() where tally.strays[number] > 0 {
            guard let fate = entity?.programs.first?.fate else { continue }
            result.add(
                Fault(entity: fate.entity, property: "", kind: .stray),
                source: tally.strays[number])
        }
        return result
    }
}
