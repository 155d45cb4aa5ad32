import CoreDataStore
import ManagedObjectModel
import SafeSQLite
import Testing

/// Reads all objects of a library with their links, by keys.
struct StoreReading {
    private let store: SourceStore
    private let connection: Connection
    /// Keys as texts by tables and primary keys.
    private var names: [String: [Int64: String]] = [:]
    private var entities: [String: [Int64: Int64]] = [:]

    private static let keys = [
        "Author": "name", "Book": "isbn", "Copy": "id", "Locker": "number", "Person": "email",
        "Tag": "name", "Note": "text",
    ]

    init(_ store: SourceStore) throws {
        self.store = store
        connection = try store.connect()
        for (entity, attribute) in Self.keys {
            let column = try column(.attribute(PropertyKey(entity, attribute)))
            let value: SQLText =
                entity == "Copy"
                ? "lower(substr(hex(\(column)), 1, 8) || '-' || substr(hex(\(column)), 9, 4) "
                    + "|| '-' || substr(hex(\(column)), 13, 4) || '-' "
                    + "|| substr(hex(\(column)), 17, 4) || '-' || substr(hex(\(column)), 21))"
                : column
            let rows = try connection.prepare(
                "SELECT Z_PK, \(value), Z_ENT FROM \(table(entity))")
            while try rows.step() {
                names[entity, default: [:]][rows.integer(0)] = "\(entity)/\(rows.text(1) ?? "")"
                entities[entity, default: [:]][rows.integer(0)] = rows.integer(2)
            }
        }
    }

    private var model: Model { store.model }

    private func table(_ entity: String) -> SQLText {
        SQLText.quoted(store.layout.table(of: entity)?.name ?? "")
    }

    private func column(_ role: ColumnRole) throws -> SQLText {
        SQLText.quoted(try #require(store.layout.column(role)).column.name)
    }

    private func root(_ entity: String) -> String { model.root(of: entity)?.name ?? entity }

    /// Every object, lists without an order sorted.
    func objects() throws -> [String: ImportReference.Object] {
        var found: [String: ImportReference.Object] = [:]
        for all in names.values {
            for name in all.values {
                #expect(found.updateValue(.init(), forKey: name) == nil, "\(name) is there twice")
            }
        }
        try readExtras(into: &found)
        for entity in model.numberedEntities {
            for relationship in entity.relationships {
                for (source, target) in try links(relationship, of: entity.name) {
                    found[source]?.links[relationship.name, default: []].append(target)
                }
            }
        }
        return Self.sorted(found, model)
    }

    private func readExtras(into found: inout [String: ImportReference.Object]) throws {
        for (entity, attribute) in [("Book", "price"), ("Person", "age")] {
            let column = try column(.attribute(PropertyKey(entity, attribute)))
            let rows = try connection.prepare("SELECT Z_PK, \(column) FROM \(table(entity))")
            while try rows.step() {
                guard !rows.isNull(1) else { continue }
                found[names[entity]?[rows.integer(0)] ?? ""]?.extra = Int(rows.integer(1))
            }
        }
    }

    /// Pairs of a relationship, those of one source in their order.
    private func links(
        _ relationship: Relationship, of entity: String
    ) throws -> [(String, String)] {
        let key = PropertyKey(entity, relationship.name)
        let (own, other) = (root(entity), root(relationship.destination))
        if let join = store.layout.joinTable(of: key) {
            let isNaming = join.naming == key
            let order = isNaming ? join.inverseOrder : join.namingOrder
            let columns =
                isNaming
                ? [join.namingColumn, join.inverseColumn] : [join.inverseColumn, join.namingColumn]
            var found = try pairs(
                table: SQLText.quoted(join.name), .quoted(columns[0]), .quoted(columns[1]),
                order: order.map(SQLText.quoted), own, other)
            if join.isReflexive { found += found.filter { $0.0 != $0.1 }.map { ($0.1, $0.0) } }
            return found
        }
        if !relationship.isToMany {
            try checkEntities(of: key, own, other)
            return try pairs(
                table: table(entity), "Z_PK", try column(.toOne(key)), order: nil, own, other)
        }
        guard let inverse = model.inverse(of: relationship) else {
            return try pairs(
                table: table(other), try column(.hiddenKey(key)), "Z_PK", order: nil, own, other)
        }
        let back = PropertyKey(inverse.owner.name, inverse.relationship.name)
        let order = relationship.isOrdered ? try column(.order(back)) : nil
        return try pairs(
            table: table(other), try column(.toOne(back)), "Z_PK", order: order, own, other)
    }

    private func pairs(
        table: SQLText, _ source: SQLText, _ target: SQLText, order: SQLText?, _ own: String,
        _ other: String
    ) throws -> [(String, String)] {
        var found: [(String, String)] = []
        let rows = try connection.prepare(
            "SELECT \(source), \(target) FROM \(table) "
                + "WHERE \(source) IS NOT NULL AND \(target) IS NOT NULL "
                + "ORDER BY \(source), \(order ?? target)")
        while try rows.step() {
            let pair = (names[own]?[rows.integer(0)], names[other]?[rows.integer(1)])
            found.append((try #require(pair.0), try #require(pair.1)))
        }
        guard let order else { return found }
        let places = try connection.integer(
            "SELECT count(*) - count(DISTINCT \(source) || ' ' || \(order)) FROM \(table) "
                + "WHERE \(source) IS NOT NULL")
        #expect(places == 0, "two objects have one place in a list of \(table)")
        return found
    }

    /// The entity numbers beside keys are those of the targets.
    private func checkEntities(of key: PropertyKey, _ own: String, _ other: String) throws {
        guard store.layout.column(.toOneEntity(key)) != nil else { return }
        let (target, number) = (try column(.toOne(key)), try column(.toOneEntity(key)))
        let wrong = try connection.integer(
            "SELECT count(*) FROM \(table(own)) AS own WHERE own.\(number) IS NOT "
                + "(SELECT Z_ENT FROM \(table(other)) WHERE Z_PK = own.\(target))")
        #expect(wrong == 0, "\(key) has an entity number that is not its target's")
    }

    /// Objects with the lists sorted that have no order, and without empty lists.
    static func sorted(
        _ objects: [String: ImportReference.Object], _ model: Model
    ) -> [String: ImportReference.Object] {
        let ordered = Set(
            model.numberedEntities.flatMap { entity in
                entity.relationships.filter(\.isOrdered).map { "\(entity.name).\($0.name)" }
            })
        var sorted = objects
        for (name, object) in objects {
            let entity = name.prefix { $0 != "/" }
            for (property, targets) in object.links {
                let keepsOrder = ordered.contains("\(entity).\(property)")
                sorted[name]?.links[property] =
                    targets.isEmpty ? nil : keepsOrder ? targets : targets.sorted()
            }
        }
        return sorted
    }
}
