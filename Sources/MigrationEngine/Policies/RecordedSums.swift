import CoreDataStore
import Jobs
import MigrationPlans
import SafeSQLite

/// Sums over what policies made in the main schema of a connection.
struct RecordedSums {
    let connection: Connection

    /// The sums over some rows, by the labels of columns.
    ///
    /// A link to an object that is found by a key counts as that key: which object it leads to is
    /// known in the link stage alone.
    ///
    /// - Parameters:
    ///   - rows: of a plan.
    ///   - limit: a table with keys `loser` of the only objects that count; nil for all.
    /// - Returns: none for columns of no objects.
    /// - Throws: `StoreError` with SQLite's reason.
    func sums(
        over rows: RecordedRows, onlyIn limit: SQLText? = nil
    ) throws(StoreError) -> [String: ContentSum] {
        var list: [SQLText] = ["d.Z_PK"]
        var joins: SQLText = ""
        var places: [(own: Int, found: [Range<Int>])] = []
        for (number, column) in rows.columns.enumerated() {
            let own = list.count
            list.append("d.\(SQLText.quoted(column.name))")
            var found: [Range<Int>] = []
            for (place, block) in column.found.enumerated() {
                let name: SQLText = "f\(number)_\(place)"
                joins +=
                    " LEFT JOIN main.\(SQLText.quoted(block.objects.table)) \(name) "
                    + "ON \(name).Z_PK = d.\(SQLText.quoted(column.name)) "
                    + "AND \(name).Z_ENT = \(block.objects.number)"
                let first = list.count
                list.append("\(name).Z_ENT")
                list += block.key.map { "\(name).\(SQLText.quoted($0.column))" }
                found.append(first..<list.count)
            }
            places.append((own, found))
        }
        var conditions = rows.objects.keys.conditions(on: "d.Z_PK")
        conditions.append("d.Z_ENT = \(rows.objects.number)")
        if let limit { conditions.append("d.Z_PK IN (SELECT loser FROM \(limit))") }
        let query = try connection.prepare(
            "SELECT \(list.joined(separator: ", ")) "
                + "FROM main.\(SQLText.quoted(rows.objects.table)) d\(joins) "
                + "WHERE \(conditions.joined(separator: " AND "))")
        var sums = [ContentSum](repeating: ContentSum(), count: rows.columns.count)
        while try query.step() {
            let key = query.integer(0)
            for (number, place) in places.enumerated() {
                // The entity of an object that is found, and then its key; else the own value.
                let found = place.found.first { !query.isNull($0.lowerBound) }
                let hash = RecordedHash(
                    column: rows.columns[number].name, key: key, of: query,
                    found ?? place.own..<place.own + 1)
                sums[number].add(high: hash.high, low: hash.low)
            }
        }
        var result: [String: ContentSum] = [:]
        for (column, sum) in zip(rows.columns, sums) where sum.count > 0 {
            result[rows.label(of: column)] = sum
        }
        return result
    }
}
