package import ManagedObjectModel
package import SafeSQLite

/// Everything that a model says about the SQL of its store: entity numbers, tables, columns,
/// join tables, indexes, R-trees and triggers.
///
/// Derived from the model and the framework version alone; equal inputs give equal layouts.
package struct StoreLayout: Sendable, Hashable {
    package let model: Model
    package let framework: FrameworkVersion
    /// Entity names by number: the first has number 1.
    package let entityOrder: [String]
    /// Entity tables, in the order of their root entities' numbers.
    package let tables: [TableLayout]
    /// Join tables in the order in which Core Data visits relationships.
    package let joinTables: [JoinTableLayout]
    /// Indexes of entity tables and join tables.
    package let indexes: [IndexLayout]
    /// R-tree tables that fetch indexes ask for.
    package let rTrees: [RTreeLayout]
    /// Triggers of R-trees and derived attributes.
    package let triggers: [TriggerLayout]
    /// What the model asks for and no rule is known for: indexes over other expressions,
    /// derived attributes beyond a key path and a count.
    ///
    /// Named, not invented.
    package let unsupported: [String]

    /// All that the model demands, each object behind what it is about.
    package var definitions: [SchemaDefinition] {
        tables.map(\.definition) + joinTables.map(\.definition) + indexes.map(\.definition)
            + rTrees.map(\.definition) + triggers.map(\.definition)
    }

    private let numbers: [String: Int]
    private let tableIndex: [String: Int]
    private let columnIndex: [ColumnRole: ColumnLocation]
    private let joinIndex: [PropertyKey: Int]

    private struct ColumnLocation: Hashable, Sendable {
        let table: Int
        let column: Int
    }

    /// Derives the layout.
    ///
    /// - Throws: `StoreError.layoutUnknown` for a model whose join-table names cannot be derived
    ///   (an entity with more than 843 names) or whose tables collide in name.
    /// - Complexity: O(properties · log) but for hash tables' probing.
    package init(model: Model, framework: FrameworkVersion) throws(StoreError) {
        let entities = model.numberedEntities
        let order = entities.map(\.name)
        let numbers = Dictionary(uniqueKeysWithValues: zip(order, 1...))
        var columns = ColumnNaming(model: model, numbers: numbers)
        columns.nameAttributesAndToOnes()
        let relations = try RelationNaming(model: model, numbers: numbers, columns: columns)
        self.model = model
        self.framework = framework
        self.entityOrder = order
        self.numbers = numbers
        let tables = try StoreLayout.arrange(
            model: model, framework: framework, columns: relations.columns)
        self.tables = tables
        self.joinTables = relations.joinTables
        let lookup = ColumnLookup(model: model, columns: relations.columns, numbers: numbers)
        let indexes = IndexDerivation(
            lookup: lookup, framework: framework, joinTables: relations.joinTables)
        let triggers = TriggerDerivation(lookup: lookup)
        self.indexes = indexes.indexes
        self.rTrees = indexes.rTrees
        self.triggers = indexes.rTrees.flatMap(\.triggers) + triggers.triggers
        self.unsupported = indexes.unsupported + triggers.unsupported
        var tableIndex: [String: Int] = [:]
        var columnIndex: [ColumnRole: ColumnLocation] = [:]
        for (number, table) in tables.enumerated() {
            for entity in model.family(of: table.rootEntity) { tableIndex[entity.name] = number }
            for (place, column) in table.columns.enumerated() {
                columnIndex[column.role] = ColumnLocation(table: number, column: place)
            }
        }
        self.tableIndex = tableIndex
        self.columnIndex = columnIndex
        var joinIndex: [PropertyKey: Int] = [:]
        for (number, join) in relations.joinTables.enumerated() {
            joinIndex[join.naming] = number
            joinIndex[join.inverse] = number
        }
        self.joinIndex = joinIndex
    }

    /// The number of an entity, from 1; nil for an unknown name.
    package func number(of entity: String) -> Int? { numbers[entity] }

    /// The number of an entity's parent, 0 for a root.
    package func parentNumber(of entity: String) -> Int {
        model.entities[entity]?.parent.flatMap { numbers[$0] } ?? 0
    }

    /// The table that holds an entity's rows; nil for an unknown name.
    package func table(of entity: String) -> TableLayout? {
        tableIndex[entity].map { tables[$0] }
    }

    /// The number of the only entity whose rows a table holds; nil where several share it.
    ///
    /// Core Data reads every row of such a table as that entity, whatever its `Z_ENT` says.
    package func onlyEntity(of table: TableLayout) -> Int64? {
        guard model.family(of: table.rootEntity).count == 1 else { return nil }
        return numbers[table.rootEntity].map { Int64($0) }
    }

    /// The column with a role, with its table; nil where the layout has none.
    package func column(_ role: ColumnRole) -> (table: TableLayout, column: ColumnLayout)? {
        columnIndex[role].map { (tables[$0.table], tables[$0.table].columns[$0.column]) }
    }

    /// The join table of a many-to-many relationship, named by either side's declaring entity.
    package func joinTable(of key: PropertyKey) -> JoinTableLayout? {
        joinIndex[key].map { joinTables[$0] }
    }

    package static func == (left: StoreLayout, right: StoreLayout) -> Bool {
        left.model == right.model && left.framework == right.framework
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(model)
        hasher.combine(framework)
    }
}

extension StoreLayout {
    /// Puts the named columns into Core Data's order, table by table.
    private static func arrange(
        model: Model, framework: FrameworkVersion, columns: ColumnNaming
    ) throws(StoreError) -> [TableLayout] {
        var seen: Set<String> = []
        var result: [TableLayout] = []
        for root in model.roots {
            let name = "Z" + root.name.uppercased()
            guard seen.insert(name).inserted else {
                throw .layoutUnknown("two root entities would share the table \(name)")
            }
            let named = columns.columns[root.name] ?? []
            let sorted = named.enumerated().sorted { left, right in
                let (first, second) = (left.element.rank, right.element.rank)
                return first == second ? left.offset < right.offset : first < second
            }
            let constraints =
                framework.hasUniquenessInTable
                ? uniqueColumns(of: root, model: model, columns: columns) : []
            result.append(
                TableLayout(
                    name: name, rootEntity: root.name, columns: sorted.map(\.element.layout),
                    constraints: constraints))
        }
        return result
    }

    private static func uniqueColumns(
        of root: Entity, model: Model, columns: ColumnNaming
    ) -> [[String]] {
        model.family(of: root.name).flatMap { entity in
            entity.uniquenessConstraints.compactMap { names in
                let found = names.compactMap { columns.name(of: $0, seenFrom: entity.name) }
                return found.count == names.count ? found : nil
            }
        }
    }
}

extension StoreLayout {
    /// The numbers of an entity and of all that inherit from it.
    package func familyNumbers(of entity: String) -> [Int64] {
        model.family(of: entity).compactMap { number(of: $0.name).map(Int64.init) }
    }

    /// The entity table of that name.
    package func table(named name: String) -> TableLayout? { tables.first { $0.name == name } }

    /// The column of an attribute that an entity has or inherits, with its table; nil where the
    /// layout has none.
    ///
    /// `name`: elements of composites are named `composite.element`.
    package func column(
        ofAttribute name: String, of entity: String
    ) -> (table: TableLayout, column: ColumnLayout)? {
        model.ancestry(of: entity).lazy.compactMap {
            column(.attribute(PropertyKey($0.name, name)))
        }.first
    }

    /// Whether rows of an entity use a column.
    package func uses(_ column: ColumnLayout, by entity: String) -> Bool {
        switch column.role {
        case .attribute(let key), .toOne(let key), .toOneEntity(let key), .order(let key):
            return model.isKind(entity, of: key.entity)
        case .hiddenKey(let key), .hiddenOrder(let key):
            guard
                let target = model.relationship(key.property, of: key.entity)?.relationship
                    .destination
            else { return false }
            return model.isKind(entity, of: target)
        }
    }

    /// The attribute of a column, with whether it may be without a value.
    package func attribute(_ key: PropertyKey) -> (element: Attribute, isOptional: Bool)? {
        let name = key.property.split(separator: ".").first.map(String.init) ?? key.property
        guard let attribute = model.attribute(name, of: key.entity)?.attribute,
            let element = attribute.storedElements.first(where: { $0.path == key.property })
        else { return nil }
        return (element.attribute, attribute.isOptional || element.attribute.isOptional)
    }
}
