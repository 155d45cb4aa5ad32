import CoreDataStore
import ManagedObjectModel
import MappingModel
import SafeSQLite
import StoreFileChecks
import ValidationScans

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
        let actual = try DestinationScan(
            table, keys: .all, scope: scope, places: [], indexes: [],
            file: ValidationReading(self).destination)
        var left = try expected.next()
        var right = try actual.nextRow()
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
                right = try actual.nextRow()
            case (let row?, let other) where other.map({ row.key < $0.key }) ?? true:
                found.append(row.difference(uuid, "", .missing))
                left = try expected.next()
            case (_, let other?):
                if !scope.policyRows.contains(where: { $0.makes(other.key, in: table.name) }) {
                    found.append(other.difference(uuid, "", .surplus))
                }
                right = try actual.nextRow()
            default: return
            }
        }
    }
}

extension HashedRow {
    fileprivate func difference(
        _ uuid: String, _ property: String, _ kind: Difference.Kind
    ) -> Difference {
        Difference(
            uri: "x-coredata://\(uuid)/\(entity)/p\(key)", property: property, kind: kind)
    }
}

/// The rows that a destination table must have, by ascending keys.
private struct ExpectedRows {
    private var scans: [SourceScan]
    private var current = 0

    init(table: String, validator: Validator) throws(StoreError) {
        let scope = validator.scope
        let file = ValidationReading(validator).source
        scans = []
        for way in scope.ways(to: table) {
            guard let source = scope.source.table(named: way.source) else { continue }
            scans.append(
                try SourceScan(
                    source, keys: .all, scope: scope, places: [], file: file,
                    externalData: validator.files.sourceExternalData, destination: way))
        }
    }

    mutating func next() throws(StoreError) -> HashedRow? {
        while current < scans.count {
            if let row = try scans[current].nextRow() { return row }
            current += 1
        }
        return nil
    }
}
