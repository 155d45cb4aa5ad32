import CoreDataStore
import Jobs
import SafeSQLite
import StoreFileChecks
import ValidationScans

/// Holds many-to-many links that policies set against what was recorded of them.
struct PolicyLinksCheck {
    let links: PolicyLinks
    let scope: ValidationScope
    let places: [LinkLocation]
    let file: FileReading

    /// The sum that these links add to what must be, and what differs from the record.
    func run() throws(StoreError) -> PartialResult {
        var result = PartialResult()
        guard let join = scope.destination.joinTables.first(where: { $0.name == links.table }),
            let place = places.first(where: { $0.storage.table == links.table })
        else { return result }
        let found = try JoinScan.destination(
            join, keys: .all, scope: scope, places: places, indexes: [], file: file, onlyOf: links)
        if let sum = found.actual[place.label] { result.addExpected(sum, place.label) }
        let known = scope.recordedSums[links.label] ?? ContentSum()
        if try recorded() != known {
            result.findings["policies"] = [
                "\(links.label): the result differs from what the policies linked"
            ]
        }
        result.notes = [PolicyRowsCheck.note]
        return result
    }

    /// The sum as the record has it, found in the result.
    private func recorded() throws(StoreError) -> ContentSum {
        let names = [links.naming.column, links.inverse.column] + links.orders
        let list = names.map { SQLText.quoted($0) }.joined(separator: ", ")
        let query = try file.connection().prepare(
            "SELECT \(list) FROM \(SQLText.quoted(links.table)) NOT INDEXED")
        let ends = [
            try ObjectKeys(links.naming.found, file.connection()),
            try ObjectKeys(links.inverse.found, file.connection()),
        ]
        var sum = ContentSum()
        while try query.step() {
            guard links.contains(naming: query.integer(0), inverse: query.integer(1)) else {
                continue
            }
            var hash = RecordedHash.Builder(column: links.table, key: 0)
            for (place, end) in ends.enumerated() {
                if let target = try end.target(query.integer(place)) {
                    hash.add(target, 0..<target.columnCount)
                } else {
                    hash.add(query, place..<place + 1)
                }
            }
            hash.add(query, 2..<names.count)
            let finished = hash.finish()
            sum.add(high: finished.high, low: finished.low)
        }
        return sum
    }
}

/// Looks up by what key objects were found to which links lead.
struct ObjectKeys {
    private let queries: [Statement]

    /// - Parameters:
    ///   - kinds: of the objects.
    ///   - connection: with the result.
    /// - Throws: `StoreError` with SQLite's reason.
    init(_ kinds: [PolicyRows.Found], _ connection: Connection) throws(StoreError) {
        var queries: [Statement] = []
        for kind in kinds {
            let list: [SQLText] = ["Z_ENT"] + kind.columns.map { SQLText.quoted($0) }
            queries.append(
                try connection.prepare(
                    "SELECT \(list.joined(separator: ", ")) FROM \(SQLText.quoted(kind.table)) "
                        + "WHERE Z_PK = ?1 AND Z_ENT = \(kind.number)"))
        }
        self.queries = queries
    }

    /// A row with the entity's number and the key of an object; nil for one that is not found by a
    /// key.
    func target(_ key: Int64) throws(StoreError) -> Statement? {
        for query in queries {
            query.reset()
            try query.bind(key, at: 1)
            if try query.step() { return query }
        }
        return nil
    }
}
