package import ManagedObjectModel

/// Where a column stands in its table: group, entity number, kind, name.
struct ColumnRank: Comparable {
    let group: Int
    let entity: Int
    let kind: Int
    let name: String

    static func < (left: ColumnRank, right: ColumnRank) -> Bool {
        if left.group != right.group { return left.group < right.group }
        if left.entity != right.entity { return left.entity < right.entity }
        if left.kind != right.kind { return left.kind < right.kind }
        return left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
    }
}

/// A column that has its name, with the rank that decides its place.
struct NamedColumn {
    let layout: ColumnLayout
    let rank: ColumnRank
}

/// Hands out column names, table by table.
struct ColumnNaming {
    let model: Model
    let numbers: [String: Int]
    /// Columns by root entity, in the order in which they were named.
    private(set) var columns: [String: [NamedColumn]] = [:]
    private var taken: [String: Set<String>] = [:]
    private var names: [ColumnRole: String] = [:]

    init(model: Model, numbers: [String: Int]) {
        self.model = model
        self.numbers = numbers
    }

    /// The name of the column with a role; nil where there is none.
    func name(of role: ColumnRole) -> String? { names[role] }

    /// The column of an attribute or to-one that an entity declares or inherits.
    func name(of property: String, seenFrom entity: String) -> String? {
        for owner in model.ancestry(of: entity) {
            let key = PropertyKey(owner.name, property)
            if let found = names[.attribute(key)] ?? names[.toOne(key)] { return found }
        }
        return nil
    }

    /// Names the columns of attributes and to-ones of all entities, by number.
    mutating func nameAttributesAndToOnes() {
        for entity in model.numberedEntities {
            for attribute in entity.attributes where !attribute.isTransient {
                nameAttribute(attribute, of: entity)
            }
            for relationship in entity.relationships
            where !relationship.isTransient && !relationship.isToMany {
                nameToOne(relationship, of: entity)
            }
        }
    }

    private mutating func nameAttribute(_ attribute: Attribute, of entity: Entity) {
        for (path, element) in attribute.storedElements {
            guard let (type, group) = ColumnNaming.storage(of: element.type) else { continue }
            add(
                "Z" + element.name.uppercased(), type: type,
                role: .attribute(PropertyKey(entity.name, path)), entity: entity.name,
                group: group, kind: 0, sortName: element.name,
                isExternal: element.allowsExternalBinaryDataStorage)
        }
    }

    private mutating func nameToOne(_ relationship: Relationship, of entity: Entity) {
        let key = PropertyKey(entity.name, relationship.name)
        add(
            "Z" + relationship.name.uppercased(), type: .integer, role: .toOne(key),
            entity: entity.name, group: 1, kind: 1, sortName: relationship.name)
        guard !model.children(of: relationship.destination).isEmpty,
            let number = numbers[relationship.destination]
        else { return }
        add(
            "Z\(number)_\(relationship.name.uppercased())", type: .integer,
            role: .toOneEntity(key), entity: entity.name, group: 1, kind: 1,
            sortName: relationship.name)
    }

    /// Names the column of a to-many without inverse in its destination's table.
    mutating func nameHiddenKey(_ relationship: Relationship, of entity: Entity) {
        guard let number = numbers[entity.name] else { return }
        let key = PropertyKey(entity.name, relationship.name)
        let base = "\(number)\(relationship.name.uppercased())"
        add(
            "Z" + base, type: .integer, role: .hiddenKey(key),
            entity: relationship.destination, group: 2, kind: 0, sortName: "", visited: true)
        guard relationship.isOrdered else { return }
        add(
            "Z_FOK_" + base, type: .integer, role: .hiddenOrder(key),
            entity: relationship.destination, group: 3, kind: 0, sortName: "", visited: true)
    }

    /// Names the order column of a to-one whose inverse is ordered.
    mutating func nameOrder(_ relationship: Relationship, of entity: Entity) {
        let key = PropertyKey(entity.name, relationship.name)
        guard names[.order(key)] == nil else { return }
        add(
            "Z_FOK_" + relationship.name.uppercased(), type: .integer, role: .order(key),
            entity: entity.name, group: 3, kind: 0, sortName: "", visited: true)
    }

    // Columns made during the visit keep its order: their rank is the same for all of a group.
    private mutating func add(
        _ wanted: String, type: ColumnType, role: ColumnRole, entity: String, group: Int,
        kind: Int, sortName: String, isExternal: Bool = false, visited: Bool = false
    ) {
        guard let root = model.root(of: entity) else { return }
        var used = taken[root.name] ?? ["Z_PK", "Z_ENT", "Z_OPT"]
        let name = uniqueName(wanted, in: &used)
        taken[root.name] = used
        names[role] = name
        let layout = ColumnLayout(name: name, type: type, role: role, isExternal: isExternal)
        let rank = ColumnRank(
            group: group, entity: visited ? 0 : numbers[entity] ?? 0, kind: kind, name: sortName)
        columns[root.name, default: []].append(NamedColumn(layout: layout, rank: rank))
    }

    /// Column type and group of the order of columns; nil for what has no column.
    private static func storage(of type: AttributeType) -> (ColumnType, Int)? {
        switch type {
        case .integer16, .integer32, .integer64, .boolean: (.integer, 1)
        case .date: (.timestamp, 4)
        case .double, .float: (.float, 4)
        case .decimal: (.decimal, 5)
        case .string: (.varchar, 6)
        case .uri: (.varchar, 7)
        case .uuid: (.blob, 8)
        case .transformable: (.blob, 9)
        case .binary: (.blob, 10)
        case .undefined, .objectID, .composite: nil
        }
    }
}

extension Attribute {
    /// The attributes that have columns: itself, or the elements of a composite, nested ones
    /// flattened, with their paths (`composite.element`).
    package var storedElements: [(path: String, attribute: Attribute)] {
        guard type == .composite else { return [(name, self)] }
        return elements.flatMap { element in
            element.storedElements.map { (path: "\(name).\($0.path)", attribute: $0.attribute) }
        }
    }
}

/// The wanted name, or the name with 1, 2, … behind it where it is taken.
func uniqueName(_ wanted: String, in taken: inout Set<String>) -> String {
    var name = wanted
    var suffix = 0
    while !taken.insert(name).inserted {
        suffix += 1
        name = "\(wanted)\(suffix)"
    }
    return name
}
