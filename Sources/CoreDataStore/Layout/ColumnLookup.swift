import ManagedObjectModel

/// Finds the columns of properties as an entity sees them, while a layout is being derived.
struct ColumnLookup {
    let model: Model
    let columns: ColumnNaming
    let numbers: [String: Int]

    /// The table that holds an entity's rows.
    func table(of entity: String) -> String {
        "Z" + (model.root(of: entity)?.name ?? entity).uppercased()
    }

    /// The column of an attribute or to-one that an entity declares or inherits.
    func column(_ property: String, of entity: String) -> String? {
        columns.name(of: property, seenFrom: entity)
    }

    /// Whether the name is a relationship that the entity declares or inherits.
    func isRelationship(_ property: String, of entity: String) -> Bool {
        model.relationship(property, of: entity) != nil
    }
}
