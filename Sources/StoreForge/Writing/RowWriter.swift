import CoreDataStore
import SafeSQLite

/// Writes rows of one table in key order.
struct RowWriter {
    /// A link of the row at hand: the target's key, entity number, slot, and place in a list.
    private struct Resolved {
        var key: Int64
        var entity: Int64
        var slot: Int?
        var position: Int
    }

    private let plan: RowPlan
    private let tables: [ForgedTable]
    private let values: ValueWriter
    private let optSalt: UInt64

    init(plan: RowPlan, tables: [ForgedTable], values: ValueWriter, seed: UInt64) {
        self.plan = plan
        self.tables = tables
        self.values = values
        optSalt = ForgeHash.salt(seed, "Z_OPT \(plan.table.layout.name)")
    }

    /// Writes the rows with these ordinals; there must be a transaction.
    func write(_ ordinals: Range<Int>, to connection: Connection) throws {
        guard !ordinals.isEmpty else { return }
        let layout = plan.table.layout
        let names = layout.columnNames.map(SQLText.quoted).joined(separator: ", ")
        let marks = layout.columnNames.map { _ in "?" as SQLText }.joined(separator: ", ")
        let insert = try connection.prepare(
            "INSERT INTO \(SQLText.quoted(layout.name)) (\(names)) VALUES (\(marks))")
        var links = [Resolved?](repeating: nil, count: plan.links.count)
        for ordinal in ordinals {
            let slot = plan.table.slot(ofOrdinal: ordinal)
            try insert.bind(plan.table.key(ofOrdinal: ordinal), at: 1)
            try insert.bind(plan.table.part(ofSlot: slot).number, at: 2)
            let saves = ForgeHash.number(optSalt, slot)
            // Most objects were saved once.
            try insert.bind(saves & 7 == 0 ? 2 + Int64(saves >> 8 & 15) : 1, at: 3)
            for index in links.indices { links[index] = resolve(plan.links[index], slot) }
            for index in plan.columns.indices {
                let column = plan.columns[index]
                if column.slots.contains(slot) {
                    try bind(column.content, slot, links, to: insert, at: index + 4)
                } else {
                    try insert.bindNull(at: index + 4)
                }
            }
            try insert.run()
        }
    }

    private func resolve(_ link: LinkPlan, _ slot: Int) -> Resolved? {
        switch link.scheme.target(ofSlot: slot) {
        case .none: return nil
        case .dangling(let hash):
            let table = tables[link.table]
            let key = table.maximum(afterRows: table.count) + 1 + Int64(hash % 1_000)
            return Resolved(
                key: key, entity: link.destination, slot: nil, position: Int(hash >> 44))
        case .object(let target, let position):
            let table = tables[link.table]
            return Resolved(
                key: table.key(ofSlot: target), entity: table.part(ofSlot: target).number,
                slot: target, position: position)
        }
    }

    private func bind(
        _ content: ColumnPlan.Content, _ slot: Int, _ links: [Resolved?],
        to insert: Statement, at parameter: Int
    ) throws {
        switch content {
        case .value(let scheme):
            try values.bind(scheme, slot: slot, to: insert, at: parameter)
        case .linkKey(let place):
            try bind(link(place, links)?.key, to: insert, at: parameter)
        case .linkEntity(let place):
            try bind(link(place, links)?.entity, to: insert, at: parameter)
        case .linkOrder(let place):
            // Core Data's first order key is 2048, its step 1024.
            let order = link(place, links).map { 2048 + 1024 * Int64($0.position) }
            try bind(order, to: insert, at: parameter)
        case .derivedValue(let place, let scheme):
            guard let target = link(place, links)?.slot else {
                return try insert.bindNull(at: parameter)
            }
            try values.bind(scheme, slot: target, to: insert, at: parameter)
        case .derivedCount(let scheme):
            try insert.bind(Int64(scheme.count(ofTarget: slot)), at: parameter)
        }
    }

    private func link(_ place: Int, _ links: [Resolved?]) -> Resolved? {
        links.indices.contains(place) ? links[place] : nil
    }

    private func bind(_ value: Int64?, to insert: Statement, at parameter: Int) throws {
        if let value {
            try insert.bind(value, at: parameter)
        } else {
            try insert.bindNull(at: parameter)
        }
    }
}
