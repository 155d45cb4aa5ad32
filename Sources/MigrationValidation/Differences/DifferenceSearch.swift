import CoreDataStore
import ManagedObjectModel
import MappingModel
import SafeSQLite
import StoreFileChecks

/// Finds the objects behind sums that differ, by a merge of both sides in the order of keys.
extension Validator {
    /// The first differences of the properties with these labels.
    func differences(in labels: Set<String>, limit: Int) throws(StoreError) -> [Difference] {
        let uuid = try StoreMetadata.read(openDestination()).uuid
        var found: [Difference] = []
        for table in scope.destination.tables where found.count < limit {
            let own = scope.destination.model.family(of: table.rootEntity).map(\.name)
            let isConcerned = own.contains { entity in
                labels.contains { $0.hasPrefix("\(entity).") }
            }
            guard isConcerned else { continue }
            try addRows(of: table, labels: labels, uuid: uuid, limit: limit, to: &found)
        }
        for place in places where labels.contains(place.label) && found.count < limit {
            try addLinks(of: place, uuid: uuid, limit: limit, to: &found)
        }
        return found
    }

    private func addRows(
        of table: TableLayout, labels: Set<String>, uuid: String, limit: Int,
        to found: inout [Difference]
    ) throws(StoreError) {
        var expected = try ExpectedRows(table: table.name, validator: self)
        var actual = try ActualRows(table: table, validator: self)
        var left = try expected.next()
        var right = try actual.next()
        while found.count < limit {
            switch (left, right) {
            case (nil, nil): return
            case (let row?, let other?) where row.key == other.key:
                if row.entity != other.entity {
                    found.append(row.difference(uuid, "", .entity))
                } else {
                    for (mine, theirs) in zip(row.cells, other.cells)
                    where mine.digest != theirs.digest && labels.contains(mine.label) {
                        let property = Fault(mine.label, .missingValue).property
                        found.append(row.difference(uuid, property, .value))
                    }
                }
                left = try expected.next()
                right = try actual.next()
            case (let row?, let other) where other.map({ row.key < $0.key }) ?? true:
                found.append(row.difference(uuid, "", .missing))
                left = try expected.next()
            case (_, let other?):
                if !scope.isCreated(other.key, in: table.name) {
                    found.append(other.difference(uuid, "", .surplus))
                }
                right = try actual.next()
            default: return
            }
        }
    }
}

/// A row as one side has it: its key in the destination and the hashes of its cells.
struct HashedRow {
    struct HashedCell {
        let label: String
        let digest: ContentDigest128?
    }

    let key: Int64
    let entity: String
    let cells: [HashedCell]

    func difference(_ uuid: String, _ property: String, _ kind: Difference.Kind) -> Difference {
        Difference(
            uri: "x-coredata://\(uuid)/\(entity)/p\(key)", property: property, kind: kind)
    }
}

/// The rows that a destination table must have, by ascending keys.
private struct ExpectedRows {
    private let hashKey: HashKey
    private var scans: [SourceScan]
    private var current = 0

    init(table: String, validator: Validator) throws(StoreError) {
        let scope = validator.scope
        let file = ValidationReading(validator).source
        hashKey = scope.key
        // Offsets lie above all earlier keys, so that feeds follow each other.
        var feeding: [ValidationScope.Way: Int64] = [:]
        for mapped in scope.mapping.entityMappings {
            guard let fate = scope.fate(of: mapped), fate.table == table,
                let from = mapped.source.flatMap({ scope.source.table(of: $0)?.name })
            else { continue }
            let way = ValidationScope.Way(source: from, destination: table, layer: fate.layer)
            feeding[way] = fate.offset
        }
        scans = []
        for (way, _) in feeding.sorted(by: { $0.value < $1.value }) {
            guard let source = scope.source.table(named: way.source) else { continue }
            scans.append(
                try SourceScan(
                    source, keys: .all, scope: scope, places: [], file: file,
                    externalData: validator.files.sourceExternalData, destination: way))
        }
    }

    mutating func next() throws(StoreError) -> HashedRow? {
        while current < scans.count {
            let scan = scans[current]
            while try scan.rows.step() {
                let stored = scan.rules.onlyEntity ?? scan.rows.row.integer(1)
                guard
                    let number = try scan.rules.number(
                        stored, scan.rows.row, key: scan.rows.row.integer(0)),
                    number >= 0, number < scan.rules.entities.count,
                    let program = scan.rules.entities[Int(number)]?.programs.first
                else { continue }
                let fate = scan.rules.fates[program]
                let key = scan.rows.row.integer(0) &+ fate.offset
                let row = hashKey.row(key)
                var cells: [HashedRow.HashedCell] = []
                for cell in scan.rules.programs[program].cells {
                    let digest = try scan.reader.expected(
                        scan.rules.cells[cell], scan.rows.row, row)
                    cells.append(
                        HashedRow.HashedCell(
                            label: scan.rules.labels[cell],
                            digest: digest.map(ContentDigest128.init)))
                }
                return HashedRow(key: key, entity: fate.entity, cells: cells)
            }
            current += 1
        }
        return nil
    }
}

/// The rows that a destination table has, by ascending keys.
private struct ActualRows {
    private let hashKey: HashKey
    private let scan: DestinationScan

    init(table: TableLayout, validator: Validator) throws(StoreError) {
        hashKey = validator.scope.key
        scan = try DestinationScan(
            table, keys: .all, scope: validator.scope, places: [], indexes: [],
            file: ValidationReading(validator).destination)
    }

    mutating func next() throws(StoreError) -> HashedRow? {
        while try scan.rows.step() {
            let number = scan.rows.row.integer(1)
            guard number >= 0, number < scan.rules.entities.count,
                let entity = scan.rules.entities[Int(number)]
            else { continue }
            let key = scan.rows.row.integer(0)
            let row = hashKey.row(key)
            let current = scan.rows.row
            let cells = entity.cells.map { place in
                let cell = scan.rules.cells[place]
                let digest = CellReader.stored(current, cell.column, cell.seed, row)
                return HashedRow.HashedCell(
                    label: scan.rules.labels[place], digest: ContentDigest128(digest))
            }
            return HashedRow(key: key, entity: scan.rules.names[Int(number)], cells: cells)
        }
        return nil
    }
}

extension ContentDigest128 {
    init(_ cell: CellDigest) { self.init(high: cell.high, low: cell.low) }
}
