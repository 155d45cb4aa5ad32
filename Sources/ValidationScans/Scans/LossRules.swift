package import CoreDataStore
import ManagedObjectModel
import MappingExpressions
package import MappingModel

/// What the mapping of one source entity leaves nowhere.
package struct LossRules {
    /// The subject of the entity itself, where its objects have no destination.
    package private(set) var entity: Loss.Subject?
    /// Columns of its rows whose values or links have no destination; none where it has none
    /// itself.
    package private(set) var columns: [(name: String, subject: Loss.Subject)] = []
    /// Values of the destination that the mapping may replace.
    package private(set) var replacements: Set<Loss.Subject> = []

    /// - Parameters:
    ///   - kind: of objects of the source.
    ///   - table: that has its rows.
    ///   - scope: what is validated.
    ///   - places: all stored relationships of the destination.
    package init(
        of kind: SourceKind, in table: TableLayout, scope: ValidationScope,
        places: [LinkLocation]
    ) {
        let fates = scope.fates(of: kind)
        let entity = kind.entity
        guard !fates.isEmpty else {
            let isFiltered = scope.mapping.entityMappings.contains {
                $0.source == entity && $0.destination != nil
            }
            self.entity = Loss.Subject(isFiltered ? .filter : .entity, entity)
            return
        }
        let values = fates.flatMap { $0.mapping.attributes.map(\.value) }
        for (mapped, fate) in fates {
            for attribute in mapped.attributes {
                guard case .expression(let expression) = attribute.value,
                    let found = scope.destination.model.attribute(
                        attribute.destination, of: fate.entity)
                else { continue }
                let key = PropertyKey(found.owner.name, attribute.destination)
                guard scope.mayReplace(expression, from: mapped.source, in: key) else { continue }
                replacements.insert(Loss.Subject(.conversion, key))
            }
        }
        let number = kind.number
        let carried = Set(fates.flatMap { $0.mapping.policy?.carries ?? [] })
        for column in table.columns where scope.source.uses(column, by: entity) {
            if carried.contains(column.role.key.property) { continue }
            if scope.isLinkCarriedByPolicy(column.role.key) { continue }
            switch column.role {
            case .attribute(let key) where !values.contains(where: { $0.reads(key.property) }):
                columns.append(
                    (column.name, Loss.Subject(.attribute, key.entity, key.property)))
            case .toOne(let key):
                let inverse = scope.source.inverseKey(of: key)
                if places.carry(key, inverse, ofRowsOf: number) { continue }
                columns.append((column.name, Loss.Subject(linksOf: key, in: scope.source)))
            case .hiddenKey(let key):
                if places.carry(nil, key, ofRowsOf: number) { continue }
                columns.append((column.name, Loss.Subject(linksOf: key, in: scope.source)))
            case .attribute, .toOneEntity, .order, .hiddenOrder: continue
            }
        }
    }

    package var isEmpty: Bool { entity == nil && columns.isEmpty && replacements.isEmpty }
}

extension ValidationScope {
    /// Whether an attribute may hold another value, or less, than it was given.
    func mayReplace(
        _ expression: MappingExpression, from entity: String?, in key: PropertyKey
    ) -> Bool {
        guard !expression.isAttempt else { return true }
        guard let name = CarriedKeyPaths.copiedAttribute(expression), let entity,
            let before = source.model.attribute(name, of: entity)?.attribute.type
        else { return false }
        return destination.attribute(key)?.element.type.cuts(before) == true
    }
}

extension [LinkLocation] {
    /// Whether links go somewhere that rows of a source entity hold.
    ///
    /// - Parameters:
    ///   - key: the relationship that the rows have.
    ///   - inverse: the one that leads to them.
    ///   - number: the entity.
    /// - Returns: whether a relationship of the destination takes links of such rows.
    fileprivate func carry(
        _ key: PropertyKey?, _ inverse: PropertyKey?, ofRowsOf number: Int64
    ) -> Bool {
        contains { place in
            place.feeds.contains { feed in
                !feed.isPath && feed.key == key && feed.holders.kept[number] != nil
                    || !feed.isPath && feed.key == inverse && feed.heldObjects.kept[number] != nil
            }
        }
    }

    /// Whether some links of a source's join table go somewhere.
    package func carry(_ join: JoinTableLayout) -> Bool {
        contains { $0.feeds.contains { $0.storage.isJoin && $0.storage.table == join.name } }
    }
}

extension Loss.Subject {
    /// A property of the destination, or of the source.
    package init(_ kind: Loss.Kind, _ key: PropertyKey) {
        self.init(kind, key.entity, key.property)
    }

    /// The relationship in whose place a source keeps the links of another, which may be itself.
    package init(linksOf key: PropertyKey, in layout: StoreLayout) {
        let isStored = layout.column(.toOne(key)) != nil || layout.column(.hiddenKey(key)) != nil
        let stored =
            isStored ? key : layout.joinTable(of: key)?.naming ?? layout.inverseKey(of: key) ?? key
        self.init(.relationship, stored.entity, stored.property)
    }
}
