import CoreDataStore
import ManagedObjectModel
import MappingExpressions
import MigrationPlans
import SafeSQLite

/// How objects of each entity of a model are imported.
struct ImportSchema: Sendable {
    let layout: StoreLayout
    /// Entities that objects can have; abstract ones are missing.
    let entities: [String: ImportedEntity]
    let byNumber: [Int64: ImportedEntity]
    /// The keys of all entities, abstract ones included.
    private let keys: [String: ImportedKey]

    /// - Parameters:
    ///   - layout: of the store.
    ///   - given: the attributes that identify objects, by entities; they go before the model's
    ///     uniqueness constraints.
    ///   - store: its path, for messages.
    /// - Throws: `ImportError.unknownKey` for a key that the model has not, `.refused` for models
    ///   that only Core Data can fill.
    init(
        _ layout: StoreLayout, keys given: [String: String], store: String
    ) throws(ImportError) {
        self.layout = layout
        let builder = ImportSchemaBuilder(layout: layout, given: given)
        try builder.checkKeys()
        if let reason = builder.refusal { throw .refused(store: store, reason: reason) }
        var entities: [String: ImportedEntity] = [:]
        var byNumber: [Int64: ImportedEntity] = [:]
        var keys: [String: ImportedKey] = [:]
        for entity in layout.model.numberedEntities {
            keys[entity.name] = builder.key(of: entity.name)
            guard !entity.isAbstract, let made = builder.entity(entity) else { continue }
            entities[entity.name] = made
            byNumber[made.number] = made
        }
        self.entities = entities
        self.byNumber = byNumber
        self.keys = keys
    }

    /// The key by which a relationship names its targets; nil where nothing identifies them.
    func targetKey(of relationship: ImportedRelationship) -> ImportedKey? {
        keys[relationship.destination]
    }

    /// Columns in which an import looks for rows, and which no index of the store begins with.
    ///
    /// - Parameter indexes: the names of the indexes that the store has.
    /// - Returns: each once, in the order of tables and columns.
    func columnsWithoutIndex(_ indexes: Set<String>) -> [IndexedColumn] {
        let found =
            keys.values.map { IndexedColumn(table: $0.table, column: $0.attribute.column) }
            + entities.values.flatMap(\.relationships.values).flatMap(\.storage.foreignColumns)
            .filter { $0.order != nil }.map { IndexedColumn(table: $0.table, column: $0.key) }
        return Set(found).filter { !isIndexed($0, indexes) }
            .sorted { ($0.table, $0.column) < ($1.table, $1.column) }
    }

    /// Indexes of the model without which an import would read whole tables; the others are made
    /// at the end of a first import.
    var neededIndexes: [IndexLayout] {
        let keyColumns = Set(keys.values.map { [$0.table, $0.attribute.column] })
        let orders = Set(
            entities.values.flatMap(\.relationships.values).flatMap(\.storage.foreignColumns)
                .filter { $0.order != nil }.map { [$0.table, $0.key] })
        let joins = Set(layout.joinTables.map(\.name))
        return layout.indexes.filter { index in
            guard let first = index.columns.first?.name else { return false }
            return index.isUnique || joins.contains(index.table)
                || keyColumns.contains([index.table, first])
                || orders.contains([index.table, first])
        }
    }

    private func isIndexed(_ place: IndexedColumn, _ indexes: Set<String>) -> Bool {
        layout.tables.contains {
            $0.name == place.table && $0.constraints.contains([place.column])
        }
            || layout.indexes.contains {
                $0.table == place.table && $0.columns.first?.name == place.column
                    && $0.condition == nil && indexes.contains($0.name)
            }
    }
}

/// A column that is looked for.
struct IndexedColumn: Hashable, Sendable {
    let table: String
    let column: String
}

extension LinkStorage {
    var foreignColumns: [ForeignColumns] {
        switch self {
        case .toOne(let columns, let inverse): [columns] + (inverse.map { [$0] } ?? [])
        case .toMany(let columns): [columns]
        case .join: []
        }
    }
}
