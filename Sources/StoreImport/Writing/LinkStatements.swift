import CoreDataStore
import MappingExpressions
import MigrationPlans
import SafeSQLite

/// The statements on the columns of a row that lead to its owner.
struct ForeignStatements {
    private let query: Statement
    private let update: Statement
    private let hasEntity: Bool
    /// Of the owner's ordered list; nil for a list without order.
    let places: PlaceStatement?

    init(
        _ columns: ForeignColumns, _ places: PlaceRegister, _ connection: Connection
    ) throws(StoreError) {
        let table = SQLText.quoted(columns.table)
        query = try connection.prepare(
            "SELECT \(SQLText.quoted(columns.key)) FROM main.\(table) WHERE Z_PK = ?1")
        var sets = ["\(SQLText.quoted(columns.key)) = ?2" as SQLText]
        if let order = columns.order { sets.append("\(SQLText.quoted(order)) = ?3") }
        if let entity = columns.entity { sets.append("\(SQLText.quoted(entity)) = ?4") }
        update = try connection.prepare(
            "UPDATE main.\(table) SET \(sets.joined(separator: ", ")) WHERE Z_PK = ?1")
        hasEntity = columns.entity != nil
        self.places = try columns.order.map { order throws(StoreError) in
            try places.list(order, in: columns.table, of: columns.key)
        }
    }

    /// The key of a row's owner; nil where it has none.
    func owner(of row: Int64) throws(StoreError) -> Int64? {
        defer { query.reset() }
        try query.bind(row, at: 1)
        guard try query.step(), !query.isNull(0) else { return nil }
        return query.integer(0)
    }

    /// Leads a row to an owner, or to none.
    ///
    /// - Parameters:
    ///   - row: its key.
    ///   - owner: nil for none.
    ///   - place: in the owner's ordered list; nil for its end, or for the place that a row has
    ///     already in the list of this owner.
    /// - Throws: `StoreError` with SQLite's reason.
    func set(
        _ row: Int64, to owner: ObjectReference?, place: Int64? = nil
    ) throws(StoreError) {
        var order: Int64?
        if let places, let owner {
            if let place {
                order = place
            } else {
                if try self.owner(of: row) == owner.key { return }
                order = try places.next(of: owner.key)
            }
            if let order { try places.take(order, of: owner.key) }
        }
        try update.bind(row, at: 1)
        try update.bind(owner.map { .integer($0.key) }, at: 2)
        if places != nil { try update.bind(order.map { .integer($0) }, at: 3) }
        if hasEntity { try update.bind(owner.map { .integer($0.entity) }, at: 4) }
        try update.run()
    }
}

/// The statements on a join table, seen from one side.
struct JoinStatements {
    private let query: Statement
    private let insertion: Statement
    /// Moves a link in this object's ordered list.
    private let move: Statement?
    private let isReflexive: Bool
    /// Of this object's ordered list, and of the other one's; nil for lists without order.
    let places: PlaceStatement?
    private let inversePlaces: PlaceStatement?

    init(
        _ columns: JoinColumns, _ places: PlaceRegister, _ connection: Connection
    ) throws(StoreError) {
        let table = SQLText.quoted(columns.table)
        let (own, other) = (SQLText.quoted(columns.own), SQLText.quoted(columns.other))
        query = try connection.prepare(
            "SELECT 1 FROM main.\(table) WHERE \(own) = ?1 AND \(other) = ?2")
        let orders = [columns.order, columns.inverseOrder].compactMap { $0 }
        let names = [own, other] + orders.map(SQLText.quoted)
        let marks = names.map { _ in "?" as SQLText }.joined(separator: ", ")
        insertion = try connection.prepare(
            "INSERT INTO main.\(table) (\(names.joined(separator: ", "))) VALUES (\(marks))")
        isReflexive = columns.isReflexive
        move = try columns.order.map { order throws(StoreError) in
            try connection.prepare(
                "UPDATE main.\(table) SET \(SQLText.quoted(order)) = ?3 "
                    + "WHERE \(own) = ?1 AND \(other) = ?2")
        }
        self.places = try columns.order.map { order throws(StoreError) in
            try places.list(order, in: columns.table, of: columns.own)
        }
        inversePlaces = try columns.inverseOrder.map { order throws(StoreError) in
            try places.list(order, in: columns.table, of: columns.other)
        }
    }

    /// Links two objects; those that are linked move to the place, if there is one.
    func add(
        _ source: Int64, _ target: Int64, place: Int64?, inversePlace: Int64?
    ) throws(StoreError) {
        if try isThere(source, target) {
            guard let move, let place else { return }
            try move.bind(source, at: 1)
            try move.bind(target, at: 2)
            try move.bind(place, at: 3)
            try move.run()
            try places?.take(place, of: source)
            return
        }
        if isReflexive, try isThere(target, source) { return }
        try insertion.bind(source, at: 1)
        try insertion.bind(target, at: 2)
        var parameter = 3
        for (places, place, owner) in [
            (places, place, source), (inversePlaces, inversePlace, target),
        ] {
            guard let places else { continue }
            let taken: Int64
            if let place { taken = place } else { taken = try places.next(of: owner) }
            try insertion.bind(taken, at: parameter)
            try places.take(taken, of: owner)
            parameter += 1
        }
        try insertion.run()
    }

    private func isThere(_ source: Int64, _ target: Int64) throws(StoreError) -> Bool {
        defer { query.reset() }
        try query.bind(source, at: 1)
        try query.bind(target, at: 2)
        return try query.step()
    }
}
