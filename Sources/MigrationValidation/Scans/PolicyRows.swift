import CoreDataStore
import Jobs
import ManagedObjectModel
package import SafeSQLite
import StoreFileChecks

/// Objects of the destination of which something comes from a migration policy, with what was
/// recorded when the policy ran.
///
/// What a policy gives cannot be worked out again: it is held against the record, and everything
/// else is checked as of all objects.
package struct PolicyRows: Hashable, Sendable {
    /// A column with what comes from the policy.
    package struct Column: Hashable, Sendable {
        package let name: String
        /// What the record calls the sum over it.
        package let label: String
        /// Objects that are found by a key, and to which its links may lead.
        package let found: [Found]

        package init(name: String, label: String, found: [Found]) {
            self.name = name
            self.label = label
            self.found = found
        }
    }

    /// Objects that were found by a key: a link to one is recorded as that key.
    package struct Found: Hashable, Sendable {
        package let table: String
        /// The number of the entity.
        package let number: Int64
        /// The columns of the key, in their order.
        package let columns: [String]

        package init(table: String, number: Int64, columns: [String]) {
            self.table = table
            self.number = number
            self.columns = columns
        }
    }

    package let entity: String
    package let number: Int64
    package let table: String
    package let keys: KeyRange
    /// Whether the policy made the objects; else the mapping did, and only some columns are the
    /// policy's.
    package let areCreated: Bool
    package let columns: [Column]
    /// Columns by which the objects themselves were found; empty where they were not.
    package let key: [String]

    package init(
        entity: String, number: Int64, table: String, keys: KeyRange, areCreated: Bool,
        columns: [Column], key: [String]
    ) {
        self.entity = entity
        self.number = number
        self.table = table
        self.keys = keys
        self.areCreated = areCreated
        self.columns = columns
        self.key = key
    }
}

/// Holds what policies gave against what was recorded of it.
struct PolicyRowsCheck {
    let rows: PolicyRows
    let scope: ValidationScope
    let places: [LinkLocation]
    let file: FileReading

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
        result.notes = [
            "values of migration policies were compared with those recorded when they ran"
        ]
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
        var targets: [[Statement]] = []
        for column in rows.columns { targets.append(try lookups(column)) }
        var sums: [String: ContentSum] = [:]
        while try query.step() {
            let key = query.integer(0)
            for (place, column) in rows.columns.enumerated() {
                var hash = RecordedHash(
                    column: column.name, key: key, of: query, place + 1...place + 1)
                for target in targets[place] where !query.isNull(place + 1) {
                    target.reset()
                    try target.bind(query.integer(place + 1), at: 1)
                    guard try target.step() else { continue }
                    hash = RecordedHash(
                        column: column.name, key: key, of: target, 0..<target.columnCount)
                    break
                }
                sums[column.label, default: ContentSum()].add(high: hash.high, low: hash.low)
            }
        }
        return sums
    }

    /// Statements that give the key by which the target of a link was found.
    private func lookups(_ column: PolicyRows.Column) throws(StoreError) -> [Statement] {
        var lookups: [Statement] = []
        for found in column.found {
            let list: [SQLText] = ["Z_ENT"] + found.columns.map { SQLText.quoted($0) }
            lookups.append(
                try file.connection().prepare(
                    "SELECT \(list.joined(separator: ", ")) FROM \(SQLText.quoted(found.table)) "
                        + "WHERE Z_PK = ?1 AND Z_ENT = \(found.number)"))
        }
        return lookups
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

extension ValidationScope {
    /// Whether a policy made the object with a key.
    func isCreated(_ key: Int64, in table: String) -> Bool {
        policyRows.contains { rows in
            rows.areCreated && rows.table == table && (rows.keys.lower ?? Int64.min) <= key
                && key <= (rows.keys.upper ?? Int64.max)
        }
    }

    /// By destination table, the highest key below those of objects that policies make.
    var keysBelowCreated: [String: Int64] {
        var keys: [String: Int64] = [:]
        for rows in policyRows where rows.areCreated {
            let below = (rows.keys.lower ?? 1) - 1
            keys[rows.table] = min(keys[rows.table] ?? Int64.max, below)
        }
        return keys
    }
}
