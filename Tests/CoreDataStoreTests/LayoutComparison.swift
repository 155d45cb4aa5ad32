import ManagedObjectModel
import SafeSQLite

@testable import CoreDataStore

/// How much of a store's file a layout predicts, counted by kind over any number of stores.
struct LayoutComparison {
    /// How much of a kind was derived right.
    struct Score: Equatable, CustomStringConvertible {
        var right = 0
        var all = 0

        mutating func count(_ isRight: Bool) {
            all += 1
            if isRight { right += 1 }
        }

        var description: String { "\(right) of \(all)" }
    }

    private(set) var scores: [String: Score] = [:]
    /// What was derived wrong: kind, store, and name.
    private(set) var exceptions: [String] = []

    /// A score as text; `0 of 0` for a kind that was not met.
    subscript(kind: String) -> String { (scores[kind] ?? Score()).description }

    private mutating func count(_ kind: String, _ isRight: Bool, _ name: String) {
        scores[kind, default: Score()].count(isRight)
        if !isRight { exceptions.append("\(kind): \(name)") }
    }

    mutating func compare(_ store: SourceStore, _ layout: StoreLayout, name: String) {
        scores["stores", default: Score()].count(true)
        for table in layout.tables { compare(table, store, name) }
        for join in layout.joinTables {
            let found = store.schema.columns[join.name] ?? []
            count(
                "join tables", Set(found.map(\.name)) == Set(join.columnNames),
                "\(name) \(join.name)")
        }
        for (number, entity) in zip(Int64(1)..., layout.entityOrder) {
            let row = store.primaryKeys.row(number: number)
            count(
                "Z_PRIMARYKEY",
                row?.name == entity && row?.parent == Int64(layout.parentNumber(of: entity)),
                "\(name) \(entity)")
        }
        for index in layout.indexes {
            let found = store.schema.object(.index, index.name)?.sql.map(Self.normal)
            count("indexes", found == Self.normal(index.sql.description), "\(name) \(index.name)")
        }
        for trigger in layout.triggers {
            let found = store.schema.object(.trigger, trigger.name)?.sql
            count("triggers", found == trigger.sql.description, "\(name) \(trigger.name)")
        }
        exceptions += layout.unsupported.map { "unsupported: \(name) \($0)" }
        let known = Set(layout.tables.map(\.name) + layout.joinTables.map(\.name))
        let rows = layout.tables.map(\.name).filter { store.schema.columns[$0] == nil }
        count("table sets", rows.isEmpty && known.isSubset(of: store.schema.columns.keys), name)
    }

    private mutating func compare(_ table: TableLayout, _ store: SourceStore, _ name: String) {
        let found = store.schema.columns[table.name] ?? []
        count("tables", !found.isEmpty, "\(name) \(table.name)")
        let wanted = Set(table.columns.map { "\($0.name) \($0.type.rawValue)" })
            .union(["Z_PK INTEGER", "Z_ENT INTEGER", "Z_OPT INTEGER"])
        count(
            "column types", wanted == Set(found.map { "\($0.name) \($0.type)" }),
            "\(name) \(table.name)")
        let sql = store.schema.object(.table, table.name)?.sql ?? ""
        // A table that was altered in place has quotes, or no blank at its end.
        let isOriginal =
            !sql.contains("\"") && (sql.hasSuffix(" )") || sql.contains("CONSTRAINT"))
        if isOriginal { count("DDL", sql == table.sql.description, "\(name) \(table.name)") }
    }

    private static func normal(_ sql: String) -> String {
        sql.replacing("\"", with: "").split(separator: " ").joined(separator: " ")
    }
}
