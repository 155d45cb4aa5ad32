import CoreDataStore
import SafeSQLite

/// Places of ordered lists, which grow at their ends.
///
/// The last places are remembered: looking for them reads a whole list.
final class PlaceStatement {
    /// Core Data's first place in an ordered list, and the distance between two places.
    static let first: Int64 = 2048
    static let step: Int64 = 1024

    private let query: Statement
    private var last: [Int64: Int64] = [:]
    /// Lists whose last places are remembered, at most.
    private static let limit = 100_000

    /// - Parameters:
    ///   - order: the column of places.
    ///   - table: that has it.
    ///   - owner: the column of the list's owner.
    ///   - connection: on which it runs.
    /// - Throws: `StoreError` with SQLite's reason.
    init(
        _ order: String, in table: String, of owner: String, _ connection: Connection
    ) throws(StoreError) {
        query = try connection.prepare(
            "SELECT max(\(SQLText.quoted(order))) FROM main.\(SQLText.quoted(table)) "
                + "WHERE \(SQLText.quoted(owner)) = ?1")
    }

    /// The place behind the last one of an owner's list.
    func next(of owner: Int64) throws(StoreError) -> Int64 {
        let last: Int64
        if let known = self.last[owner] {
            last = known
        } else {
            defer { query.reset() }
            try query.bind(owner, at: 1)
            guard try query.step(), !query.isNull(0) else { return Self.first }
            last = query.integer(0)
        }
        // A list of strangers may end at the largest number; then its last places are equal.
        let (next, overflows) = last.addingReportingOverflow(Self.step)
        return overflows ? last : next
    }

    /// Notes a place that was taken.
    func take(_ place: Int64, of owner: Int64) throws(StoreError) {
        let free = try next(of: owner)
        if last.count >= Self.limit { last.removeAll(keepingCapacity: true) }
        last[owner] = max(place, free == Self.first ? place : free - Self.step)
    }
}

/// The ordered lists of a store, each once: both sides of a relationship write into them.
final class PlaceRegister {
    private let connection: Connection
    private var lists: [[String]: PlaceStatement] = [:]

    init(_ connection: Connection) { self.connection = connection }

    /// The list of a column of places.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    func list(
        _ order: String, in table: String, of owner: String
    ) throws(StoreError) -> PlaceStatement {
        if let known = lists[[order, table, owner]] { return known }
        let made = try PlaceStatement(order, in: table, of: owner, connection)
        lists[[order, table, owner]] = made
        return made
    }
}
