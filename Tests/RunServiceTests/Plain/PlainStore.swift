import CoreDataStore
import DurableFiles
import FaultSupport
import Foundation
import ManagedObjectModel
import SafeSQLite

/// One object, read as a row.
struct PlainObject {
    let entity: String
    let saves: PlainValue
    /// Columns of the row by name.
    let cells: [String: PlainValue]
}

/// A link from an owner to a target, by their keys.
struct PlainLink: Hashable {
    let owner: Int64
    let target: Int64

    var turned: PlainLink { PlainLink(owner: target, target: owner) }
}

/// Places in lists: of the target in the owner's list, of the owner in the target's list.
struct PlainOrder: Hashable {
    var target: Int64?
    var owner: Int64?

    var turned: PlainOrder { PlainOrder(target: owner, owner: target) }
}

/// The links of one relationship, seen from its owners.
typealias PlainRelation = [PlainLink: PlainOrder]

/// A store that was read row by row into plain values, by rules of its own.
///
/// Column names come from the layout, everything else from the file.
struct PlainStore {
    let model: Model
    let layout: StoreLayout
    /// Objects by root entity and key.
    private(set) var objects: [String: [Int64: PlainObject]] = [:]
    /// Links by relationship, by the entity that declares it.
    private(set) var relations: [PropertyKey: PlainRelation] = [:]
    /// The rows of join tables by their names, from the naming relationship's owners.
    private(set) var joinRows: [String: [PlainLink]] = [:]
    /// `Z_MAX` by root entity.
    private(set) var maxima: [String: Int64] = [:]
    /// What is wrong with the file, in words.
    private(set) var faults: [String] = []
    private var entityNames: [Int64: String] = [:]
    private let externalData: URL

    /// Reads a file.
    init(_ path: FilePath, model: Model) throws {
        self.model = model
        layout = try StoreLayout(model: model, framework: .newestVerified)
        let folder = StoreLocation(path).externalData
        externalData = URL(fileURLWithPath: folder.description)
        let connection = try Connection(path: path, mode: .immutable)
        try readNumbers(connection)
        for table in layout.tables { try readRows(table, connection) }
        for join in layout.joinTables {
            let rows = try connection.prepare(
                "SELECT \(join.namingColumn), \(join.inverseColumn) FROM \(join.name)")
            while try rows.step() {
                joinRows[join.name, default: []].append(
                    PlainLink(owner: rows.integer(0), target: rows.integer(1)))
            }
        }
        for entity in model.numberedEntities {
            for relationship in entity.relationships where !relationship.isTransient {
                let key = PropertyKey(entity.name, relationship.name)
                relations[key] = try read(relationship, key, connection)
            }
        }
        checkEntityColumns()
        checkStrays()
        try connection.close()
    }

    func root(of entity: String) -> String { model.root(of: entity)?.name ?? entity }

    func object(_ key: Int64, of entity: String) -> PlainObject? {
        objects[root(of: entity)]?[key]
    }

    /// The value of an attribute, without the prefix byte of external storage and with what a
    /// file holds in the place of a reference to it.
    func value(_ name: String, of object: PlainObject) -> PlainValue? {
        guard let owner = model.attribute(name, of: object.entity)?.owner.name,
            let (_, column) = layout.column(.attribute(PropertyKey(owner, name))),
            let cell = object.cells[column.name]
        else { return nil }
        guard column.isExternal, case .blob(let bytes) = cell else { return cell }
        if bytes.first == 1 { return .blob(Array(bytes.dropFirst())) }
        guard bytes.first == 2, bytes.count == 38 else { return nil }
        let file = String(decoding: bytes[1..<37], as: UTF8.self)
        let content = FileManager.default.contents(
            atPath: externalData.appendingPathComponent(file).path)
        return content.map { .blob(Array($0)) }
    }
}

// MARK: - Rows

extension PlainStore {
    private mutating func readNumbers(_ connection: Connection) throws {
        let rows = try connection.prepare("SELECT Z_ENT, Z_NAME, Z_MAX FROM Z_PRIMARYKEY")
        while try rows.step() {
            let name = rows.text(1) ?? ""
            entityNames[rows.integer(0)] = name
            if model.entities[name]?.parent == nil { maxima[name] = rows.integer(2) }
        }
    }

    private mutating func readRows(_ table: TableLayout, _ connection: Connection) throws {
        let names = table.columns.map(\.name)
        let rows = try connection.prepare("SELECT * FROM \(table.name)")
        let listed = try connection.texts("SELECT name FROM pragma_table_info('\(table.name)')")
        var found: [Int64: PlainObject] = [:]
        while try rows.step() {
            var cells: [String: PlainValue] = [:]
            for (place, name) in listed.enumerated() { cells[name] = PlainValue(rows, place) }
            let key = cells["Z_PK"]?.integer ?? -1
            guard let entity = cells["Z_ENT"]?.integer.flatMap({ entityNames[$0] }),
                root(of: entity) == table.rootEntity
            else {
                faults.append("\(table.name) \(key): its entity is not of this table")
                continue
            }
            found[key] = PlainObject(entity: entity, saves: cells["Z_OPT"] ?? .null, cells: cells)
        }
        if Set(listed) != Set(names + ["Z_PK", "Z_ENT", "Z_OPT"]) {
            faults.append("\(table.name): its columns are not those of its model")
        }
        objects[table.rootEntity] = found
    }

    /// Objects of an entity and of those that inherit from it.
    private func members(of entity: String) -> [(key: Int64, object: PlainObject)] {
        (objects[root(of: entity)] ?? [:]).filter { model.isKind($0.value.entity, of: entity) }
            .map { (key: $0.key, object: $0.value) }
    }

    private func cell(_ role: ColumnRole, _ object: PlainObject) -> Int64? {
        layout.column(role).flatMap { object.cells[$0.column.name]?.integer }
    }
}

// MARK: - Links

extension PlainStore {
    private func inverse(of relationship: Relationship) -> (PropertyKey, Relationship)? {
        guard let name = relationship.inverse,
            let (owner, found) = model.relationship(name, of: relationship.destination)
        else { return nil }
        return (PropertyKey(owner.name, name), found)
    }

    private func read(
        _ relationship: Relationship, _ key: PropertyKey, _ connection: Connection
    ) throws -> PlainRelation {
        var links: PlainRelation = [:]
        let inverse = inverse(of: relationship)
        if !relationship.isToMany {
            for (owner, object) in members(of: key.entity) {
                guard let target = cell(.toOne(key), object) else { continue }
                links[PlainLink(owner: owner, target: target)] = PlainOrder(
                    owner: cell(.order(key), object))
            }
        } else if let (back, other) = inverse, other.isToMany {
            try readJoin(key, back, connection, &links)
        } else if let (back, _) = inverse {
            for (target, object) in members(of: back.entity) {
                guard let owner = cell(.toOne(back), object) else { continue }
                links[PlainLink(owner: owner, target: target)] = PlainOrder(
                    target: cell(.order(back), object))
            }
        } else {
            for (target, object) in members(of: relationship.destination) {
                guard let owner = cell(.hiddenKey(key), object) else { continue }
                links[PlainLink(owner: owner, target: target)] = PlainOrder(
                    target: cell(.hiddenOrder(key), object))
            }
        }
        return links
    }

    private func readJoin(
        _ key: PropertyKey, _ back: PropertyKey, _ connection: Connection,
        _ links: inout PlainRelation
    ) throws {
        guard let join = layout.joinTable(of: key) else { return }
        let names = [join.namingOrder ?? "NULL", join.inverseOrder ?? "NULL"]
        let rows = try connection.prepare(
            "SELECT \(join.namingColumn), \(join.inverseColumn), \(names[0]), \(names[1]) "
                + "FROM \(join.name)")
        while try rows.step() {
            let link = PlainLink(owner: rows.integer(0), target: rows.integer(1))
            // The naming object's place is one in the other object's list.
            let order = PlainOrder(
                target: PlainValue(rows, 3).integer, owner: PlainValue(rows, 2).integer)
            if key == back {
                // Each object of the pair has the other one in its list.
                links[link] = order
                links[link.turned] = links[link.turned] ?? order.turned
            } else if join.naming == key {
                links[link] = order
            } else {
                links[link.turned] = order.turned
            }
        }
    }

    /// The entity that a row names as that of its to-one's target; nil where it names none.
    func namedTarget(of key: PropertyKey, _ object: PlainObject) -> String? {
        cell(.toOneEntity(key), object).flatMap { entityNames[$0] }
    }

    /// Holds `Z<n>_` columns against the entities of the targets.
    private mutating func checkEntityColumns() {
        for entity in model.numberedEntities {
            for relationship in entity.relationships where !relationship.isToMany {
                let key = PropertyKey(entity.name, relationship.name)
                guard layout.column(.toOneEntity(key)) != nil else { continue }
                for (owner, object) in members(of: entity.name) {
                    let number = cell(.toOneEntity(key), object)
                    let target = cell(.toOne(key), object)
                    let found = target.flatMap { self.object($0, of: relationship.destination) }
                    if (number == nil) != (target == nil) {
                        faults.append("\(key) of \(owner): entity column without key or key alone")
                    } else if let found, let number, entityNames[number] != found.entity {
                        faults.append("\(key) of \(owner): entity column \(number) is wrong")
                    }
                }
            }
        }
    }

    /// Finds values in columns that the row's entity does not have.
    private mutating func checkStrays() {
        for table in layout.tables {
            for column in table.columns {
                let key = column.role.key
                let holder: String
                switch column.role {
                case .hiddenKey, .hiddenOrder:
                    holder =
                        model.relationship(key.property, of: key.entity)?.relationship
                        .destination ?? key.entity
                case .attribute, .toOne, .toOneEntity, .order: holder = key.entity
                }
                for (number, object) in objects[table.rootEntity] ?? [:]
                where !model.isKind(object.entity, of: holder)
                    && object.cells[column.name] != .null
                {
                    faults.append("\(table.name).\(column.name) of \(number) is not its entity's")
                }
            }
        }
    }
}
