import CoreDataStore
import Jobs
import ManagedObjectModel
import SafeSQLite
import StoreFileChecks
import ValidationScans

/// Holds what policies gave against what was recorded of it.
struct PolicyRowsCheck {
    let rows: PolicyRows
    let scope: ValidationScope
    let places: [LinkLocation]
    let file: FileReading

    /// How far the comparison goes.
    static let note = "values of migration policies were compared with those recorded when they ran"

    /// The sums that these objects add to what must be, and what differs from the record.
    func run() throws(StoreError) -> PartialResult {
        var result = PartialResult()
        guard let table = scope.destination.table(named: rows.table) else { return result }
        let scan = try DestinationScan(
            table, keys: rows.keys, scope: scope, places: places, indexes: [],
            file: file, entity: rows.number)
        let wanted = labels(in: table)
        let found = try scan.sums(table: rows.table, places: places)
        for (label, sum) in found.actual where wanted.contains(label) {
            result.addExpected(sum, label)
        }
        let sums = try recorded()
        var findings: [String] = []
        for column in rows.columns {
            let known = scope.recordedSums[column.label] ?? ContentSum()
            if sums[column.label] ?? ContentSum() != known {
                findings.append(
                    "\(column.label): the result differs from the policy's value")
            }
        }
        if try !areDistinct() {
            findings.append("several objects of \(rows.entity) have the same policy key")
        }
        result.findings["policies"] = findings
        result.notes = [Self.note]
        return result
    }

    /// What the sums are called to which the policy gives something.
    private func labels(in table: TableLayout) -> Set<String> {
        let names = Set(rows.columns.map(\.name))
        var labels: Set<String> = []
        if rows.areCreated {
            labels.formUnion(EntityRules.leading.map { "\(rows.entity).\($0)" })
        }
        for column in table.columns where names.contains(column.name) {
            if case .attribute(let key) = column.role {
                labels.insert("\(rows.entity).\(key.property)")
            }
        }
        for place in places where place.storage.table == rows.table && !place.storage.isJoin {
            let ends = [place.storage.owner.keyColumn, place.storage.target.keyColumn]
            if ends.contains(where: names.contains) { labels.insert(place.label) }
        }
        return labels
    }

    /// The sums as the record has them, found in the result.
    private func recorded() throws(StoreError) -> [String: ContentSum] {
        let names = rows.columns.map { SQLText.quoted($0.name) }
        let range = rows.keys.condition(on: "Z_PK").map { "\($0) AND " } ?? ("" as SQLText)
        let query = try file.connection().prepare(
            "SELECT \((["Z_PK"] + names).joined(separator: ", ")) "
                + "FROM \(SQLText.quoted(rows.table)) NOT INDEXED "
                + "WHERE \(range)Z_ENT = \(rows.number)")
        var targets: [ObjectKeys] = []
        for column in rows.columns {
            targets.append(try ObjectKeys(column.found, file.connection()))
        }
        var sums: [String: ContentSum] = [:]
        while try query.step() {
            let key = query.integer(0)
            for (place, column) in rows.columns.enumerated() {
                var hash = RecordedHash.Builder(column: column.name, key: key)
                let found =
                    query.isNull(place + 1)
                    ? nil : try targets[place].target(query.integer(place + 1))
                if let found {
                    hash.add(found, 0..<found.columnCount)
                } else {
                    hash.add(query, place + 1..<place + 2)
                }
                let finished = hash.finish()
                sums[column.label, default: ContentSum()].add(
                    high: finished.high, low: finished.low)
            }
        }
        return sums
    }

    /// Whether no two objects of the entity, of which one was found, have one key.
    private func areDistinct() throws(StoreError) -> Bool {
        guard !rows.key.isEmpty else { return true }
        let list = rows.key.map { SQLText.quoted($0) }.joined(separator: ", ")
        let isMade = rows.keys.condition(on: "Z_PK") ?? "1"
        return try file.connection().integer(
            "SELECT count(*) FROM (SELECT 1 FROM \(SQLText.quoted(rows.table)) "
                + "WHERE Z_ENT = \(rows.number) GROUP BY \(list) "
                + "HAVING count(*) > 1 AND max(\(isMade)) = 1)") == 0
    }
}
