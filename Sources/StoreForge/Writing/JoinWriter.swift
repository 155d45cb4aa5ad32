import CoreDataStore
import ManagedObjectModel
import SafeSQLite

/// Writes the rows of one many-to-many pair, in the order of the naming side's keys.
struct JoinWriter {
    private let plan: ForgePlan
    private let join: JoinTableLayout
    private let naming: ForgedTable
    private let inverse: ForgedTable
    /// Slots of the objects of either side.
    private let namingSlots: Range<Int>
    private let inverseSlots: Range<Int>
    private let salt: UInt64
    private let order: Permutation

    /// - Returns: nil for a pair whose entities are unknown.
    init?(_ join: JoinTableLayout, plan: ForgePlan) {
        guard let there = plan.relationship(join.naming), let back = plan.relationship(join.inverse)
        else { return nil }
        let first = plan.narrower(join.naming.entity, back.destination)
        let second = plan.narrower(join.inverse.entity, there.destination)
        guard let naming = plan.table(of: first), let inverse = plan.table(of: second) else {
            return nil
        }
        self.plan = plan
        self.join = join
        self.naming = plan.tables[naming]
        self.inverse = plan.tables[inverse]
        namingSlots = plan.slots(of: first)
        inverseSlots = plan.slots(of: second)
        salt = ForgeHash.salt(plan.recipe.seed, "join \(join.naming)")
        order = Permutation(count: inverseSlots.count, salt: salt)
    }

    /// One row: the other object's key and the places in both lists.
    private struct Row {
        var key: Int64
        var namingPlace: Int
        var inversePlace: Int
    }

    /// Writes all rows; there must be a transaction.
    ///
    /// - Returns: how many.
    func write(to connection: Connection) throws -> Int {
        guard !inverseSlots.isEmpty else { return 0 }
        let names = join.columnNames.map(SQLText.quoted).joined(separator: ", ")
        let marks = join.columnNames.map { _ in "?" as SQLText }.joined(separator: ", ")
        let insert = try connection.prepare(
            "INSERT INTO \(SQLText.quoted(join.name)) (\(names)) VALUES (\(marks))")
        var count = 0
        var rows: [Row] = []
        for ordinal in 0..<naming.count {
            let slot = naming.slot(ofOrdinal: ordinal)
            guard namingSlots.contains(slot) else { continue }
            rows.removeAll(keepingCapacity: true)
            let place = slot - namingSlots.lowerBound
            if join.isReflexive { addMutual(place, to: &rows) } else { add(place, to: &rows) }
            rows.sort { $0.key < $1.key }
            for row in rows {
                try insert.bind(naming.key(ofOrdinal: ordinal), at: 1)
                try insert.bind(row.key, at: 2)
                var parameter = 3
                if join.namingOrder != nil {
                    try insert.bind(2048 + 1024 * Int64(row.namingPlace), at: parameter)
                    parameter += 1
                }
                if join.inverseOrder != nil {
                    try insert.bind(2048 + 1024 * Int64(row.inversePlace), at: parameter)
                }
                try insert.run()
            }
            count += rows.count
        }
        return count
    }

    private func add(_ place: Int, to rows: inout [Row]) {
        let hash = ForgeHash.number(salt, place)
        guard Share(plan.recipe.linkShare).contains(hash) else { return }
        let wanted = 1 + Int((hash >> 8) % UInt64(2 * plan.recipe.linksPerObject))
        let start = Int((hash >> 32) % UInt64(order.count))
        for step in 0..<min(wanted, order.count) {
            let other = order.backward((start + step) % order.count)
            rows.append(
                Row(
                    key: inverse.key(ofSlot: inverseSlots.lowerBound + other),
                    // The order key in the other one's list: sparse, but without doubles.
                    namingPlace: place, inversePlace: step))
        }
    }

    /// Links within one set: each pair once, some in both directions, as in real stores.
    private func addMutual(_ place: Int, to rows: inout [Row]) {
        for step in 1...plan.recipe.linksPerObject {
            let other = place ^ step
            guard other < order.count else { continue }
            let hash = ForgeHash.number(salt ^ UInt64(step), min(place, other))
            guard Share(plan.recipe.linkShare).contains(hash) else { continue }
            if place < other || hash & 3 == 0 {
                rows.append(
                    Row(
                        key: inverse.key(ofSlot: inverseSlots.lowerBound + other),
                        namingPlace: step - 1, inversePlace: step - 1))
            }
        }
    }
}
