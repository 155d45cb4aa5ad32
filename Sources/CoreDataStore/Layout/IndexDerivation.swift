import ManagedObjectModel
import SafeSQLite

/// Derives the indexes that a model demands.
struct IndexDerivation {
    private(set) var indexes: [IndexLayout] = []
    private(set) var rTrees: [RTreeLayout] = []
    private(set) var unsupported: [String] = []
    private let lookup: ColumnLookup
    private let framework: FrameworkVersion

    init(lookup: ColumnLookup, framework: FrameworkVersion, joinTables: [JoinTableLayout]) {
        self.lookup = lookup
        self.framework = framework
        let entities = lookup.model.numberedEntities
        // Models compiled before fetch indexes existed have none: their marks are all there is.
        let hasFetchIndexes = entities.contains { !$0.fetchIndexes.isEmpty }
        let usesFetchIndexes = framework.hasFetchIndexes && hasFetchIndexes
        for entity in entities {
            if usesFetchIndexes {
                for index in entity.fetchIndexes { addFetchIndex(index, of: entity) }
            } else {
                addMarkedAttributes(of: entity)
            }
            if !framework.hasUniquenessInTable { addUniqueness(of: entity) }
            addKeyColumns(of: entity)
        }
        if framework.hasJoinIndexes {
            for join in joinTables { addJoinIndex(join) }
        }
    }

    /// Columns of to-ones, hidden keys, and `Z_ENT` of a tree.
    private mutating func addKeyColumns(of entity: Entity) {
        let table = lookup.table(of: entity.name)
        let omits = entity.userInfo["_NSEntityOmitSubentityColumnIndex"] == "YES"
        if entity.parent == nil, !lookup.model.children(of: entity.name).isEmpty, !omits {
            addPlain("\(table)_Z_ENT_INDEX", table, ["Z_ENT"])
        }
        for relationship in entity.relationships {
            let key = PropertyKey(entity.name, relationship.name)
            if let column = lookup.columns.name(of: .toOne(key)) {
                addPlain("\(table)_\(column)_INDEX", table, [column])
            }
            if let column = lookup.columns.name(of: .hiddenKey(key)) {
                let target = lookup.table(of: relationship.destination)
                addPlain("\(target)_\(column)_INDEX", target, [column])
            }
        }
    }

    /// Indexes of the old era.
    private mutating func addMarkedAttributes(of entity: Entity) {
        let table = lookup.table(of: entity.name)
        for attribute in entity.attributes where attribute.isIndexed {
            let key = PropertyKey(entity.name, attribute.name)
            if let column = lookup.columns.name(of: .attribute(key)) {
                addPlain("\(table)_\(column)_INDEX", table, [column])
            }
        }
        for names in entity.compoundIndexes where !names.isEmpty {
            let columns = names.compactMap { lookup.column($0, of: entity.name) }
            guard columns.count == names.count else { continue }
            addPlain("\(table)_\(columns.joined(separator: "_"))", table, columns)
        }
    }

    private mutating func addFetchIndex(_ index: FetchIndex, of entity: Entity) {
        if index.elements.contains(where: { $0.type == .rTree }) {
            addRTree(index, of: entity)
            return
        }
        // A fetch index over nothing but a relationship is left out.
        if index.elements.count == 1, case .property(let name) = index.elements[0].target,
            lookup.isRelationship(name, of: entity.name)
        {
            return
        }
        let name = "Z_\(entity.name)_\(index.name)"
        var columns: [IndexLayout.Column] = []
        for element in index.elements {
            guard let column = column(of: element.target, entity: entity.name) else {
                unsupported.append("index \(name): no column is known for one of its elements")
                return
            }
            columns.append(IndexLayout.Column(column, isDescending: !element.isAscending))
        }
        var condition: SQLText?
        if let predicate = index.partialPredicate {
            condition = sql(of: predicate, entity: entity.name)
            if condition == nil {
                unsupported.append("index \(name): its condition cannot be written as SQL")
                return
            }
        }
        guard !columns.isEmpty, !indexes.contains(where: { $0.name == name }) else { return }
        indexes.append(
            IndexLayout(
                name: name, table: lookup.table(of: entity.name), columns: columns,
                isUnique: false, spellsCollation: true, condition: condition))
    }

    private mutating func addRTree(_ index: FetchIndex, of entity: Entity) {
        let columns = index.elements.compactMap { column(of: $0.target, entity: entity.name) }
        guard columns.count == index.elements.count, (1...5).contains(columns.count) else {
            unsupported.append("R-tree Z_RT_\(entity.name)_\(index.name): columns unknown")
            return
        }
        rTrees.append(
            RTreeLayout(
                name: "Z_RT_\(entity.name)_\(index.name)", table: lookup.table(of: entity.name),
                columns: columns))
    }

    private func column(of target: FetchIndexTarget, entity: String) -> String? {
        switch target {
        case .property(let name): lookup.column(name, of: entity)
        case .entity: "Z_ENT"
        case .objectID: "Z_PK"
        case .expression: nil
        }
    }

    /// Unique indexes of framework version 640 and later.
    private mutating func addUniqueness(of entity: Entity) {
        let table = lookup.table(of: entity.name)
        for names in entity.uniquenessConstraints where !names.isEmpty {
            let columns = names.compactMap { lookup.column($0, of: entity.name) }
            guard columns.count == names.count else { continue }
            indexes.append(
                IndexLayout(
                    name: "Z_\(entity.name)_UNIQUE_\(names.joined(separator: "_"))", table: table,
                    columns: columns.map { IndexLayout.Column($0) }, isUnique: true,
                    spellsCollation: true, condition: nil))
        }
    }

    /// The second direction of a join table.
    private mutating func addJoinIndex(_ join: JoinTableLayout) {
        addPlain(
            "\(join.name)_\(join.inverseColumn)_INDEX", join.name,
            [join.inverseColumn, join.namingColumn])
    }

    private mutating func addPlain(_ name: String, _ table: String, _ columns: [String]) {
        indexes.append(
            IndexLayout(
                name: name, table: table, columns: columns.map { IndexLayout.Column($0) },
                isUnique: false, spellsCollation: false, condition: nil))
    }

    /// A predicate as SQL, compound ones in parentheses; nil where it has
    /// a part that no rule covers.
    private func sql(of predicate: Predicate, entity: String) -> SQLText? {
        switch predicate {
        case .compare(let property, let comparison, let value):
            guard let column = lookup.column(property, of: entity).map(SQLText.declared) else {
                return nil
            }
            guard let value else {
                switch comparison {
                case .equal: return "\(column) IS NULL"
                case .notEqual: return "\(column) IS NOT NULL"
                default: return nil
                }
            }
            guard let literal = SQLText.literal(value) else { return nil }
            return "\(column) \(.comparison(comparison)) \(literal)"
        case .and(let parts): return join(parts, with: " AND ", entity: entity)
        case .or(let parts): return join(parts, with: " OR ", entity: entity)
        case .not(let part): return sql(of: part, entity: entity).map { "NOT (\($0))" }
        case .unsupported: return nil
        }
    }

    private func join(_ parts: [Predicate], with word: SQLText, entity: String) -> SQLText? {
        let texts = parts.compactMap { sql(of: $0, entity: entity) }
        guard texts.count == parts.count, !texts.isEmpty else { return nil }
        return texts.count == 1 ? texts[0] : "(\(texts.joined(separator: word)))"
    }
}
