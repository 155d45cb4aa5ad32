import CoreDataStore
import ManagedObjectModel
import MappingExpressions
import MigrationPlans

/// An attribute as parts give it.
struct ImportedAttribute: Hashable, Sendable {
    /// Elements of composites are named `composite.element`.
    let name: String
    let column: String
    let type: AttributeType
    let isRequired: Bool
    /// Whether values carry the prefix byte of external storage.
    let isExternal: Bool
    /// What objects hold that a part gives no value.
    let defaultCell: StoredCell?
}

/// The attribute by which objects are found, and by which relationships name them.
struct ImportedKey: Hashable, Sendable {
    /// The entity from which the attribute identifies objects, its sub-entities included.
    let entity: String
    let attribute: ImportedAttribute
    let table: String
    /// Of that entity and its sub-entities.
    let entityNumbers: [Int64]
    /// Of the entity; each entity has one key.
    let number: Int
}

/// Where a table keeps the links of its rows to owners.
struct ForeignColumns: Hashable, Sendable {
    let table: String
    /// Of the owner's key.
    let key: String
    /// Of the owner's entity number, where the destination has sub-entities.
    let entity: String?
    /// Of the place in the owner's ordered relationship.
    let order: String?
}

/// How a store keeps a relationship.
enum LinkStorage: Hashable, Sendable {
    /// In the object's own row; of a relationship between single objects, in the other row, too.
    case toOne(ForeignColumns, inverse: ForeignColumns?)
    /// In the rows of the targets.
    case toMany(ForeignColumns)
    /// In a join table.
    case join(JoinColumns)
}

/// The columns of a join table, seen from one side.
struct JoinColumns: Hashable, Sendable {
    let table: String
    let own: String
    let other: String
    /// Of the other object's place in this object's list.
    let order: String?
    /// Of this object's place in the other one's list.
    let inverseOrder: String?
    let isReflexive: Bool
}

/// A relationship as parts give it.
struct ImportedRelationship: Hashable, Sendable {
    /// By the entity that declares it.
    let key: PropertyKey
    /// The other side; nil where there is none.
    let inverse: PropertyKey?
    let isToMany: Bool
    let destination: String
    /// Of the destination and its sub-entities.
    let targetNumbers: Set<Int64>
    let storage: LinkStorage
    /// Whether the targets keep this object in an ordered list.
    let hasOrderedInverse: Bool
}

/// All that is needed to import objects of one entity.
struct ImportedEntity: Hashable, Sendable {
    let name: String
    let number: Int64
    let table: String
    /// Whose row of `Z_PRIMARYKEY` counts the keys of the table.
    let rootNumber: Int64
    /// By their columns.
    let attributes: [ImportedAttribute]
    /// Places of attributes by their names.
    let attributePlaces: [String: Int]
    let relationships: [String: ImportedRelationship]
    /// Nil where no attribute identifies objects.
    let key: ImportedKey?

    /// The place of the key among the attributes.
    let keyPlace: Int?
}
