import CoreDataStore
import ManagedObjectModel

/// A to-one, or a hidden key, with the table that it leads to.
struct LinkPlan {
    let scheme: LinkScheme
    /// The place of the target's table among the tables.
    let table: Int
    /// The relationship's destination entity.
    let destination: Int64
}

/// What one column of a table holds.
struct ColumnPlan {
    enum Content {
        case value(ValueScheme)
        /// The key of a link, by the link's place in the plan.
        case linkKey(Int)
        /// The target's entity number.
        case linkEntity(Int)
        /// The place in the owner's list.
        case linkOrder(Int)
        /// The value of an attribute of a link's target.
        case derivedValue(link: Int, ValueScheme)
        /// The number of objects that lead here.
        case derivedCount(LinkScheme)
    }

    let content: Content
    /// The slots of the objects that have the property; others have NULL.
    let slots: Range<Int>
}

/// How the rows of one table are made.
struct RowPlan {
    let table: ForgedTable
    let columns: [ColumnPlan]
    let links: [LinkPlan]
}

/// Plans all tables of a store.
struct ForgePlan {
    let recipe: ForgeRecipe
    let layout: StoreLayout
    let tables: [ForgedTable]
    private let tableOfRoot: [String: Int]

    init(recipe: ForgeRecipe, layout: StoreLayout) throws(ForgeError) {
        self.recipe = recipe
        self.layout = layout
        var tables: [ForgedTable] = []
        var tableOfRoot: [String: Int] = [:]
        for table in layout.tables {
            tableOfRoot[table.rootEntity] = tables.count
            tables.append(try ForgedTable(table, layout: layout, recipe: recipe))
        }
        self.tables = tables
        self.tableOfRoot = tableOfRoot
    }

    private var model: Model { layout.model }

    /// The place of an entity's table; nil for an unknown name.
    func table(of entity: String) -> Int? {
        model.root(of: entity).flatMap { tableOfRoot[$0.name] }
    }

    /// The rows of an entity's table.
    private func rows(of entity: String) -> Int {
        table(of: entity).map { tables[$0].count } ?? 0
    }

    /// The slots of an entity and all that inherit from it.
    func slots(of entity: String) -> Range<Int> {
        guard let table = table(of: entity) else { return 0..<0 }
        return tables[table].slots(ofFamily: model.family(of: entity).map(\.name))
    }

    /// The entity of the two that inherits from the other one; the first where none does.
    func narrower(_ first: String, _ second: String) -> String {
        model.isKind(second, of: first) ? second : first
    }

    /// Plans the rows of one table.
    func rowPlan(of number: Int) -> RowPlan {
        let table = tables[number]
        var builder = LinkCollector(plan: self)
        let columns = table.layout.columns.map { column in
            ColumnPlan(
                content: content(of: column, links: &builder), slots: owners(of: column.role))
        }
        return RowPlan(table: table, columns: columns, links: builder.links)
    }

    private func owners(of role: ColumnRole) -> Range<Int> {
        switch role {
        case .attribute(let key), .toOne(let key), .toOneEntity(let key), .order(let key):
            slots(of: key.entity)
        case .hiddenKey(let key), .hiddenOrder(let key):
            slots(of: relationship(key)?.destination ?? "")
        }
    }

    func relationship(_ key: PropertyKey) -> Relationship? {
        model.entities[key.entity]?.relationships.first { $0.name == key.property }
    }

    private func content(
        of column: ColumnLayout, links: inout LinkCollector
    ) -> ColumnPlan.Content {
        switch column.role {
        case .attribute(let key):
            return derived(key, links: &links) ?? .value(values(of: key))
        case .toOne(let key), .hiddenKey(let key): return .linkKey(links.place(of: key))
        case .toOneEntity(let key): return .linkEntity(links.place(of: key))
        case .order(let key), .hiddenOrder(let key): return .linkOrder(links.place(of: key))
        }
    }

    /// Derived attributes with triggers that are known: key paths and counts.
    private func derived(
        _ key: PropertyKey, links: inout LinkCollector
    ) -> ColumnPlan.Content? {
        guard let attribute = model.attribute(key.property, of: key.entity)?.attribute,
            let derivation = attribute.derivation, derivation.filter == nil
        else { return nil }
        let steps = derivation.expression.split(separator: ".").map(String.init)
        guard steps.count == 2,
            let (owner, relationship) = model.relationship(steps[0], of: key.entity)
        else { return nil }
        if steps[1] == "@count", relationship.isToMany,
            let (inverseOwner, inverse) = model.inverse(of: relationship), !inverse.isToMany
        {
            let link = PropertyKey(inverseOwner.name, inverse.name)
            return LinkPlanner(plan: self).link(link).map { .derivedCount($0.scheme) }
        }
        guard !relationship.isToMany,
            let (source, found) = model.attribute(steps[1], of: relationship.destination),
            found.derivation == nil
        else { return nil }
        let place = links.place(of: PropertyKey(owner.name, relationship.name))
        return .derivedValue(
            link: place, values(of: PropertyKey(source.name, found.name)))
    }

    /// What the values of an attribute, or of an element of a composite one, are like.
    private func values(of key: PropertyKey) -> ValueScheme {
        let stored = model.entities[key.entity]?.attributes.flatMap(\.storedElements) ?? []
        let attribute =
            stored.first { $0.path == key.property }?.attribute
            ?? Attribute(name: key.property, type: .undefined)
        let isUnique = uniqueAttributes(of: key.entity).contains(key.property)
        let isText = attribute.type == .string || attribute.type == .uri
        let salt = ForgeHash.salt(recipe.seed, key.description)
        let cannotDiffer = isUnique && !attribute.type.canDiffer(inRows: rows(of: key.entity))
        let null = cannotDiffer ? 1 : attribute.isOptional ? recipe.nullShare : 0
        return ValueScheme(
            type: attribute.type, salt: salt, null: Share(null),
            lengths: recipe.bytesByAttribute[key]
                ?? (isText ? recipe.textBytes : recipe.blobBytes),
            isExternal: layout.column(.attribute(key))?.column.isExternal ?? false,
            isUnique: isUnique, content: recipe.contents[key])
    }

    /// Attributes that keep uniqueness constraints: one of each, of a type with enough values
    /// where there is one, else the first, which is left NULL.
    private func uniqueAttributes(of entity: String) -> Set<String> {
        var names: Set<String> = []
        for member in model.family(of: entity) {
            for constraint in member.uniquenessConstraints {
                let suitable = constraint.first { name in
                    guard let found = model.attribute(name, of: member.name) else { return false }
                    return found.attribute.derivation == nil
                        && found.attribute.type.canDiffer(inRows: rows(of: entity))
                }
                if let name = suitable ?? constraint.first { names.insert(name) }
            }
        }
        return names
    }
}
