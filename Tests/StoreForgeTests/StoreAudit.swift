import CoreDataStore
import DurableFiles
import FaultSupport
import Foundation
import ManagedObjectModel
import SafeSQLite
import StoreForge
import TestSupport
import Testing

/// Forges a store in a fresh folder, opens it as any store, and hands it to a body.
func withForgedStore(
    _ recipe: ForgeRecipe, _ body: (SourceStore, ForgeReceipt) throws -> Void
) throws {
    try withTemporaryFolder { folder in
        let place = try #require(FilePath(folder))
        let receipt = try Forge(recipe).write(to: place.appending("Forged.sqlite"))
        let scratch = place.appending("scratch")
        try DurableFileSystem().makeFolder(scratch)
        let given = recipe.framework.hasModelCache ? nil : recipe.model
        let store = try StoreOpener().open(
            StoreLocation(place.appending("Forged.sqlite")), scratch: scratch, given: given)
        try body(store, receipt)
    }
}

/// Checks what must hold for every store that is whole, by plain SQL.
struct StoreAudit {
    let store: SourceStore
    let connection: Connection
    var layout: StoreLayout { store.layout }

    init(_ store: SourceStore) throws {
        self.store = store
        connection = try store.connect()
    }

    func count(_ sql: String) throws -> Int64 { try connection.integer(sql) ?? 0 }

    func run() throws {
        #expect(try connection.texts("PRAGMA integrity_check") == ["ok"])
        for table in layout.tables { try check(table) }
        for join in layout.joinTables { try check(join) }
        for index in layout.indexes {
            #expect(store.schema.object(.index, index.name)?.sql == index.sql.description)
        }
        #expect(store.oddities.filter { !$0.contains("no known store confirms") } == [])
        try connection.close()
    }

    private func check(_ table: TableLayout) throws {
        let number = Int64(layout.number(of: table.rootEntity) ?? 0)
        let top = try count("SELECT ifnull(max(Z_PK), 0) FROM \(table.name)")
        #expect(try #require(store.primaryKeys.row(number: number)).maximum >= top)
        #expect(
            try count("SELECT count(*) FROM \(table.name) WHERE Z_OPT < 1 OR Z_OPT IS NULL") == 0)
        let concrete = layout.model.family(of: table.rootEntity).filter { !$0.isAbstract }
            .compactMap { layout.number(of: $0.name) }
        let list = concrete.map(String.init).joined(separator: ", ")
        #expect(try count("SELECT count(*) FROM \(table.name) WHERE Z_ENT NOT IN (\(list))") == 0)
        for column in table.columns { try check(column, in: table) }
    }

    private func check(_ column: ColumnLayout, in table: TableLayout) throws {
        switch column.role {
        case .attribute(let key): try checkAttribute(key, column, table)
        case .toOne(let key): try checkLink(key, column, table)
        case .hiddenKey(let key): try checkTarget(column, table, family: key.entity)
        case .order(let key):
            let link = try #require(layout.column(.toOne(key))?.column.name)
            try checkOrder(column, link, table)
        case .hiddenOrder(let key):
            let link = try #require(layout.column(.hiddenKey(key))?.column.name)
            try checkOrder(column, link, table)
        case .toOneEntity: break
        }
    }

    private func family(_ entity: String) -> String {
        layout.model.family(of: entity).compactMap { layout.number(of: $0.name) }
            .map(String.init).joined(separator: ", ")
    }

    private func checkAttribute(
        _ key: PropertyKey, _ column: ColumnLayout, _ table: TableLayout
    ) throws {
        let attribute = layout.model.entities[key.entity]?.attributes
            .first { $0.name == key.property }
        if let attribute, !attribute.isOptional, attribute.derivation == nil,
            attribute.type != .composite
        {
            let missing = try count(
                "SELECT count(*) FROM \(table.name) WHERE Z_ENT IN (\(family(key.entity))) "
                    + "AND \(column.name) IS NULL")
            #expect(missing == 0, "\(key) is required")
        }
        let foreign = try count(
            "SELECT count(*) FROM \(table.name) WHERE Z_ENT NOT IN (\(family(key.entity))) "
                + "AND \(column.name) IS NOT NULL")
        #expect(foreign == 0, "\(key) belongs to its entity alone")
        if attribute?.type == .uuid {
            #expect(
                try count(
                    "SELECT count(*) FROM \(table.name) WHERE length(\(column.name)) <> 16") == 0)
        }
        if column.isExternal {
            let wrong = try count(
                "SELECT count(*) FROM \(table.name) WHERE \(column.name) IS NOT NULL "
                    + "AND hex(substr(\(column.name), 1, 1)) NOT IN ('01', '02')")
            #expect(wrong == 0, "\(key) has prefix bytes")
        }
        if let derivation = attribute?.derivation {
            try checkDerived(derivation, key, column, table)
        }
    }

    private func checkDerived(
        _ derivation: Derivation, _ key: PropertyKey, _ column: ColumnLayout,
        _ table: TableLayout
    ) throws {
        let steps = derivation.expression.split(separator: ".").map(String.init)
        guard steps.count == 2, derivation.filter == nil,
            let (owner, found) = layout.model.relationship(steps[0], of: key.entity),
            let target = layout.table(of: found.destination)?.name
        else { return }
        let wanted: String
        if steps[1] == "@count" {
            guard let (inverseOwner, inverse) = layout.model.inverse(of: found),
                let link = layout.column(.toOne(PropertyKey(inverseOwner.name, inverse.name)))
            else { return }
            wanted = "(SELECT count(*) FROM \(target) o WHERE o.\(link.column.name) = t.Z_PK)"
        } else {
            guard let (source, attribute) = layout.model.attribute(steps[1], of: found.destination),
                attribute.derivation == nil,
                let value = layout.column(.attribute(PropertyKey(source.name, steps[1]))),
                let link = layout.column(.toOne(PropertyKey(owner.name, found.name)))
            else { return }
            wanted =
                "(SELECT \(value.column.name) FROM \(target) o "
                + "WHERE o.Z_PK = t.\(link.column.name))"
        }
        let wrong = try count(
            "SELECT count(*) FROM \(table.name) t WHERE Z_ENT IN (\(family(key.entity))) "
                + "AND \(column.name) IS NOT \(wanted)")
        #expect(wrong == 0, "\(key) is what it is derived from")
    }

    /// Every key leads to a row of the destination's family.
    private func checkTarget(
        _ column: ColumnLayout, _ table: TableLayout, family entity: String
    ) throws {
        let target = try #require(layout.table(of: entity)).name
        let wrong = try count(
            "SELECT count(*) FROM \(table.name) t LEFT JOIN \(target) o "
                + "ON o.Z_PK = t.\(column.name) "
                + "WHERE t.\(column.name) IS NOT NULL AND ifnull(o.Z_ENT, 0) "
                + "NOT IN (\(family(entity)))")
        #expect(wrong == 0, "\(table.name).\(column.name) leads to objects of \(entity)")
    }

    private func checkLink(
        _ key: PropertyKey, _ column: ColumnLayout, _ table: TableLayout
    ) throws {
        let found = layout.model.entities[key.entity]?.relationships
            .first { $0.name == key.property }
        let relationship = try #require(found)
        try checkTarget(column, table, family: relationship.destination)
        let target = try #require(layout.table(of: relationship.destination)).name
        if let entity = layout.column(.toOneEntity(key))?.column.name {
            let wrong = try count(
                "SELECT count(*) FROM \(table.name) t LEFT JOIN \(target) o "
                    + "ON o.Z_PK = t.\(column.name) WHERE t.\(entity) IS NOT o.Z_ENT")
            #expect(wrong == 0, "\(key) names its target's entity")
        }
        guard let (owner, inverse) = layout.model.inverse(of: relationship), !inverse.isToMany,
            inverse.inverse == key.property,
            let back = layout.column(.toOne(PropertyKey(owner.name, inverse.name)))?.column.name
        else { return }
        let oneSided = try count(
            "SELECT count(*) FROM \(table.name) t JOIN \(target) o ON o.Z_PK = t.\(column.name) "
                + "WHERE o.\(back) IS NOT t.Z_PK")
        #expect(oneSided == 0, "\(key) agrees with its inverse")
    }

    private func checkOrder(
        _ column: ColumnLayout, _ link: String, _ table: TableLayout
    ) throws {
        let wrong = try count(
            "SELECT count(*) FROM \(table.name) WHERE "
                + "(\(link) IS NULL) <> (\(column.name) IS NULL) "
                + "OR \(column.name) < 2048")
        #expect(wrong == 0)
        let doubled = try count(
            "SELECT count(*) FROM (SELECT 1 FROM \(table.name) WHERE \(link) IS NOT NULL "
                + "GROUP BY \(link), \(column.name) HAVING count(*) > 1)")
        #expect(doubled == 0, "\(table.name).\(column.name) orders")
    }

    private func check(_ join: JoinTableLayout) throws {
        for (column, key) in [(join.namingColumn, join.naming), (join.inverseColumn, join.inverse)]
        {
            let table = try #require(layout.table(of: key.entity)).name
            let wrong = try count(
                "SELECT count(*) FROM \(join.name) j LEFT JOIN \(table) t ON t.Z_PK = j.\(column) "
                    + "WHERE ifnull(t.Z_ENT, 0) NOT IN (\(family(key.entity)))")
            #expect(wrong == 0, "\(join.name).\(column) leads to objects of \(key.entity)")
        }
        for (order, list) in [
            (join.inverseOrder, join.namingColumn), (join.namingOrder, join.inverseColumn),
        ] {
            guard let order else { continue }
            let doubled = try count(
                "SELECT count(*) FROM (SELECT 1 FROM \(join.name) GROUP BY \(list), \(order) "
                    + "HAVING count(*) > 1)")
            #expect(doubled == 0, "\(join.name).\(order) orders")
        }
    }
}
