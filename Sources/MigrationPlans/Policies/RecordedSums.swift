package import CoreDataStore
package import Jobs
package import SafeSQLite

/// Sums over what policies made in the main schema of a connection.
package struct RecordedSums {
    private let connection: Connection

    /// - Parameter connection: with a store, or a shard, as its main schema.
    package init(_ connection: Connection) { self.connection = connection }

    /// The sums over everything that policies made, by labels.
    ///
    /// - Parameters:
    ///   - rows: objects of a plan.
    ///   - links: join tables of a plan.
    /// - Returns: none for columns of no objects, and for tables without links.
    /// - Throws: `StoreError` with SQLite's reason.
    package func sums(
        over rows: [RecordedRows], _ links: [PolicyLinks]
    ) throws(StoreError) -> [String: ContentSum] {
        var all: [String: ContentSum] = [:]
        for rows in rows { all.merge(try sums(over: rows)) { $1 } }
        for links in links {
            let sum = try sum(over: links)
            if sum.count > 0 { all[links.label] = sum }
        }
        return all
    }

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
    package func sums(
        over rows: RecordedRows, onlyIn limit: SQLText? = nil
    ) throws(StoreError) -> [String: ContentSum] {
        var list = IdentityList(["d.Z_PK"])
        let ends = rows.columns.map { list.add($0.name, found: $0.found) }
        var conditions = rows.objects.keys.conditions(on: "d.Z_PK")
        conditions.append("d.Z_ENT = \(rows.objects.number)")
        if let limit { conditions.append("d.Z_PK IN (SELECT loser FROM \(limit))") }
        let query = try connection.prepare(
            list.sql(table: rows.objects.table, where: conditions.joined(separator: " AND ")))
        var sums = [ContentSum](repeating: ContentSum(), count: rows.columns.count)
        while try query.step() {
            let key = query.integer(0)
            for (number, end) in ends.enumerated() {
                let hash = RecordedHash(
                    column: rows.columns[number].name, key: key, of: query, end.places(in: query))
                sums[number].add(high: hash.high, low: hash.low)
            }
        }
        var result: [String: ContentSum] = [:]
        for (column, sum) in zip(rows.columns, sums) where sum.count > 0 {
            result[rows.label(of: column)] = sum
        }
        return result
    }

    /// The sum over the rows of a join table that come from policies.
    private func sum(over links: PolicyLinks) throws(StoreError) -> ContentSum {
        var list = IdentityList([])
        let ends = [links.naming, links.inverse].map { list.add($0.column, found: $0.found) }
        let orders = links.orders.map { list.add($0, found: []) }
        let query = try connection.prepare(
            list.sql(table: links.table, where: links.condition(alias: "d")))
        var sum = ContentSum()
        while try query.step() {
            let places = (ends + orders).flatMap { $0.places(in: query) }
            let hash = RecordedHash(column: links.table, key: 0, of: query, places)
            sum.add(high: hash.high, low: hash.low)
        }
        return sum
    }
}

/// Columns of a query in which an object that is found by a key stands for that key.
private struct IdentityList {
    private var list: [SQLText]
    private var joins: SQLText = ""

    init(_ list: [SQLText]) { self.list = list }

    /// The places of a column, and of the keys of the objects that it may lead to.
    struct End {
        let own: Int
        /// Of each kind of object that is found: the number of its entity, and then its key.
        let found: [Range<Int>]

        /// The places that say which object it is: its key where it is found, else the own value.
        func places(in query: Statement) -> Range<Int> {
            found.first { !query.isNull($0.lowerBound) } ?? own..<own + 1
        }
    }

    mutating func add(_ column: String, found: [PolicyRows.Found]) -> End {
        let own = list.count
        let cell: SQLText = "d.\(SQLText.quoted(column))"
        list.append(cell)
        var places: [Range<Int>] = []
        for kind in found {
            let first = list.count
            let name: SQLText = "f\(first)"
            joins +=
                " LEFT JOIN main.\(SQLText.quoted(kind.table)) \(name) "
                + "ON \(name).Z_PK = \(cell) AND \(name).Z_ENT = \(kind.number)"
            list.append("\(name).Z_ENT")
            list += kind.columns.map { "\(name).\(SQLText.quoted($0))" }
            places.append(first..<list.count)
        }
        return End(own: own, found: places)
    }

    func sql(table: String, where condition: SQLText) -> SQLText {
        "SELECT \(list.joined(separator: ", ")) FROM main.\(SQLText.quoted(table)) d\(joins) "
            + "WHERE \(condition)"
    }
}
