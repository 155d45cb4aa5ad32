import CoreDataStore
import DurableFiles
import FaultSupport
import MigrationPlans
import SafeSQLite

/// Places in lists that a migration made up: any order without a tie is right.
struct FreeOrder: Hashable {
    let table: String
    /// The column of the list's holder.
    let holder: String
    let order: String
}

extension MigrationPlan {
    /// The places in lists for which the source has no order.
    func freeOrders(_ layout: StoreLayout) -> Set<FreeOrder> {
        var found: Set<FreeOrder> = []
        for link in links {
            guard let order = link.orderColumn else { continue }
            let storage = link.relation.storage
            let before: String?
            switch link.purpose {
            case .target, .ownerRank: before = storage.ownerOrder
            case .owner, .targetRank: before = storage.targetOrder
            }
            let table = layout.tables.first { $0.name == link.table }
            guard before == nil,
                let column = table?.columns.first(where: { $0.name == order }),
                let holder = layout.keyColumn(of: column)
            else { continue }
            found.insert(FreeOrder(table: link.table, holder: holder, order: order))
        }
        for join in joins {
            let storages = join.feeds.map(\.relation.storage)
            if let order = join.ownerOrder, storages.allSatisfy({ $0.ownerOrder == nil }) {
                found.insert(FreeOrder(table: join.table, holder: join.targetColumn, order: order))
            }
            if let order = join.targetOrder, storages.allSatisfy({ $0.targetOrder == nil }) {
                found.insert(FreeOrder(table: join.table, holder: join.ownerColumn, order: order))
            }
        }
        return found
    }
}

/// Everything that the rows of a result mean: results are equal in content or not, without any
/// help of what judges them.
struct ResultContent: Equatable, Sendable {
    /// Rows by table, every value with its storage class.
    private var rows: [String: [String]] = [:]
    /// Ties, gaps and surplus in the places that are free.
    private var disorder: [Int64] = []

    init(_ path: FilePath, layout: StoreLayout, freeOrders: Set<FreeOrder>) throws {
        let connection = try Connection(path: path, mode: .immutable)
        let tables =
            layout.tables.map { ($0.name, $0.columnNames) }
            + layout.joinTables.map { ($0.name, $0.columnNames) }
        for (name, columns) in tables {
            let free = Set(freeOrders.filter { $0.table == name }.map(\.order))
            let cells = columns.filter { !free.contains($0) }.map { column in
                let c = SQLText.quoted(column)
                return "typeof(\(c)) || CASE typeof(\(c)) WHEN 'real' THEN quote(\(c)) "
                    + "ELSE hex(\(c)) END"
            }
            rows[name] = try connection.texts(
                "SELECT \(cells.joined(separator: " || ' ' || ")) FROM \(SQLText.quoted(name))"
            ).sorted()
        }
        for free in freeOrders.sorted(by: { ($0.table, $0.order) < ($1.table, $1.order) }) {
            let (table, holder, order) = (
                SQLText.quoted(free.table), SQLText.quoted(free.holder), SQLText.quoted(free.order)
            )
            for sql in [
                "SELECT count(*) FROM \(table) WHERE \(holder) IS NULL <> (\(order) IS NULL)",
                "SELECT count(*) FROM (SELECT 1 FROM \(table) WHERE \(holder) IS NOT NULL "
                    + "GROUP BY \(holder), \(order) HAVING count(*) > 1)",
                "SELECT count(*) FROM \(table) WHERE typeof(\(order)) NOT IN ('integer', 'null')",
            ] {
                disorder.append(try connection.integer(sql) ?? 0)
            }
        }
        try connection.close()
    }
}
