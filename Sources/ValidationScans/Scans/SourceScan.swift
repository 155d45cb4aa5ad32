package import CoreDataStore
package import DurableFiles
import ManagedObjectModel
import MappingModel
package import SafeSQLite
package import StoreFileChecks

/// One pass over a source table: what its rows must become.
package struct SourceScan {
    let rules: SourceRules
    let reader: CellReader
    let links: [LinkReader]
    /// What the readers' links are links of in the source.
    private let linkSubjects: [Loss.Subject?]
    let rows: RowPass
    let hashKey: HashKey

    /// Prepares the pass; with a destination only for rows that go that way, without links.
    ///
    /// `shared`: rules made for the same scope, all its places and every destination.
    package init(
        _ table: TableLayout, keys: KeyRange, scope: ValidationScope, places: [LinkLocation],
        file: FileReading, externalData: FilePath, destination: ValidationScope.Way? = nil,
        shared: SharedRules? = nil
    ) throws(StoreError) {
        let connection = try file.connection()
        hashKey = scope.key
        var list = SelectList(["Z_PK", "Z_ENT", "Z_OPT"])
        let found = try SourceScan.links(
            in: table.name, scope: scope, places: destination == nil ? places : [], list: &list,
            connection: connection)
        let links = found.map(\.reader)
        self.links = links
        linkSubjects = found.map(\.subject)
        let make = {
            SourceRules(
                table, scope: scope, places: places, links: links, list: list,
                destination: destination)
        }
        rules = shared?.sourceRules(table.name, make: make) ?? make()
        reader = CellReader(
            rules: rules, connection: connection, externalData: externalData)
        if rules.areColumns,
            let cursor = try file.cursor(
                table: table.name, values: rules.list.names, tests: rules.lostTests, range: keys)
        {
            rows = RowPass(cursor)
            return
        }
        rows = RowPass(
            try connection.prepare(rules.sql(table: table.name, range: keys)))
    }

    private static func links(
        in table: String, scope: ValidationScope, places: [LinkLocation], list: inout SelectList,
        connection: Connection
    ) throws(StoreError) -> [(reader: LinkReader, subject: Loss.Subject?)] {
        var readers: [(LinkReader, Loss.Subject?)] = []
        for (number, place) in places.enumerated() {
            for feed in place.feeds where feed.storage.table == table && !feed.storage.isJoin {
                let reader = try LinkReader(
                    feed, of: place, number: number, mustExist: scope.dangling == .nullify,
                    key: scope.key, list: &list, connection: connection)
                readers.append((reader, feed.subject(at: place.key, scope)))
            }
        }
        return readers
    }

    /// What a pass counts, by the places of rules, links and entities.
    private struct Tally {
        var sums: [CellSum]
        var faulty: [Int64]
        var unmade: [Int64]
        var replaced: [Int64]
        var linkSums: [CellSum]
        var missingLinks: [Int64]
        var lostLinks: [Int64]
        var strayLinks: [Int64]
        var droppedLinks: [Int64]
        var strays: [Int64]
        /// By the places of subjects.
        var lost: [Int64]
        /// Rows of a table of one entity that carry another number.
        var misnumbered: Int64 = 0
        var unknown: Int64 = 0
        var rows: Int64 = 0

        init(_ scan: SourceScan) {
            sums = [CellSum](repeating: CellSum(), count: scan.rules.cells.count)
            faulty = [Int64](repeating: 0, count: scan.rules.cells.count)
            (unmade, replaced) = (faulty, faulty)
            linkSums = [CellSum](repeating: CellSum(), count: scan.links.count)
            missingLinks = [Int64](repeating: 0, count: scan.links.count)
            (lostLinks, strayLinks, droppedLinks) = (missingLinks, missingLinks, missingLinks)
            lost = [Int64](repeating: 0, count: scan.rules.subjects.count)
            strays = [Int64](repeating: 0, count: scan.rules.entities.count)
        }
    }

    /// Sums over all rows of the range.
    package func sums(table: String, places: [LinkLocation]) throws(StoreError) -> PartialResult {
        var tally = Tally(self)
        var link = FoundLink()
        let (rows, rules) = (rows, rules)
        let current = rows.row
        let tests = rules.list.names.count
        while try rows.step() {
            tally.rows += 1
            let key = current.integer(0)
            var number = current.wholeNumber(1, hashKey)
            if let only = rules.onlyEntity, only != number {
                tally.misnumbered += 1
                number = only
            }
            guard let kind = try rules.number(number, current, key: key), kind >= 0,
                kind < rules.entities.count, let entity = rules.entities[Int(kind)]
            else {
                tally.unknown += 1
                continue
            }
            number = kind
            for program in entity.programs {
                let row = hashKey.row(key &+ rules.programs[program].offset)
                for cell in rules.programs[program].cells {
                    guard let digest = try reader.expected(rules.cells[cell], current, row)
                    else {
                        if rules.cells[cell].origin != .policy { tally.unmade[cell] += 1 }
                        continue
                    }
                    tally.sums[cell].add(high: digest.high, low: digest.low)
                    if digest.isReplaced { tally.replaced[cell] += 1 }
                    if digest.isNull, rules.cells[cell].isFaultIfNull { tally.faulty[cell] += 1 }
                }
            }
            var hasDropped = false
            for entry in entity.links {
                let place = rules.linkList[entry]
                switch try links[place].read(current, key: key, number: number, into: &link) {
                case .link: tally.linkSums[place].add(high: link.digest.high, low: link.digest.low)
                case .missing: tally.missingLinks[place] += 1
                case .lost: tally.lostLinks[place] += 1
                case .stray: tally.strayLinks[place] += 1
                case .dropped: hasDropped = true
                case .none: break
                }
            }
            if hasDropped { try countDropped(current, key, number, entity, &tally) }
            for entry in entity.strays where !current.isNull(rules.strayList[entry]) {
                tally.strays[Int(number)] += 1
            }
            for entry in entity.lost {
                let (test, subject) = rules.lostList[entry]
                tally.lost[subject] += current.integer(tests + test)
            }
            if let gone = entity.gone { tally.lost[gone] += 1 }
        }
        return result(tally, table: table, places: places)
    }

    /// Counts the links of a row that a relationship of the destination does not take and that no
    /// other one takes.
    private func countDropped(
        _ row: RawRow, _ key: Int64, _ number: Int64, _ entity: SourceRules.Entity,
        _ tally: inout Tally
    ) throws(StoreError) {
        var link = FoundLink()
        var dropped: Set<Int> = []
        var carried: Set<Int> = []
        for entry in entity.links {
            let place = rules.linkList[entry]
            // The first of the readers of one relationship stands for all.
            let first = linkSubjects.firstIndex(of: linkSubjects[place]) ?? place
            switch try links[place].read(row, key: key, number: number, into: &link) {
            case .dropped: dropped.insert(first)
            case .link: carried.insert(first)
            case .none, .missing, .lost, .stray: continue
            }
        }
        for first in dropped.subtracting(carried) { tally.droppedLinks[first] += 1 }
    }

    private func result(_ tally: Tally, table: String, places: [LinkLocation]) -> PartialResult {
        var result = PartialResult()
        result.sourceRows = tally.rows
        result.add(Fault(entity: table, property: "", kind: .unknownEntity), source: tally.unknown)
        let misnumbered = Fault(entity: rules.name, property: "Z_ENT", kind: .foreignEntity)
        result.addInherited(misnumbered, tally.misnumbered)
        for (cell, label) in rules.labels.enumerated() {
            result.addExpected(tally.sums[cell].content, label)
            result.add(Fault(label, .missingValue), source: tally.faulty[cell])
            // What cannot be made is a fault of the result, whatever stands there.
            result.add(Fault(label, .missingFile), destination: tally.unmade[cell])
        }
        for (cell, subject) in rules.replacements {
            result.addLoss(subject, tally.replaced[cell])
        }
        for (number, reader) in links.enumerated() {
            let label = places[reader.place].label
            result.addExpected(tally.linkSums[number].content, label)
            result.add(Fault(label, .missingLink), source: tally.missingLinks[number])
            result.add(Fault(label, .stray), source: tally.strayLinks[number])
            result.addInherited(Fault(label, .dangling), tally.lostLinks[number])
            if let subject = linkSubjects[number] {
                result.addLoss(subject, tally.droppedLinks[number])
            }
        }
        for (place, subject) in rules.subjects.enumerated() {
            result.addLoss(subject, tally.lost[place])
        }
        for (number, entity) in rules.entities.enumerated() where tally.strays[number] > 0 {
            guard let program = entity?.programs.first else { continue }
            result.add(
                Fault(entity: rules.fates[program].entity, property: "", kind: .stray),
                source: tally.strays[number])
        }
        return result
    }
}
