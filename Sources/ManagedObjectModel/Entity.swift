/// One entity as its model declares it, without what it inherits.
package struct Entity: Hashable, Sendable, Codable {
    /// Unique in its model.
    package var name: String
    /// The Objective-C or Swift class of its objects; nil for `NSManagedObject`.
    package var className: String?
    /// Name of the entity that it inherits from; nil for a root.
    package var parent: String?
    /// Whether no object may be of exactly this entity.
    package var isAbstract: Bool
    /// Attributes that it declares itself.
    package var attributes: [Attribute]
    /// Relationships that it declares itself.
    package var relationships: [Relationship]
    /// Names of the fetched properties that it declares itself; they have no column and no hash.
    package var fetchedProperties: [String]
    /// Fetch indexes, as compiled: those that Xcode adds for indexed attributes are in the list.
    package var fetchIndexes: [FetchIndex]
    /// Compound indexes of the old era: property names.
    package var compoundIndexes: [[String]]
    /// Uniqueness constraints: attribute names in listed order.
    package var uniquenessConstraints: [[String]]
    /// Text entries of the user info; others influence no store and are not kept.
    package var userInfo: [String: String]
    /// `versionHashModifier`, part of the entity's hash.
    package var versionHashModifier: String?
    /// `renamingIdentifier` (`elementID` in XML); nil means the name.
    package var renamingIdentifier: String?

    /// An entity with nothing but a name unless told otherwise.
    package init(
        name: String, className: String? = nil, parent: String? = nil, isAbstract: Bool = false,
        attributes: [Attribute] = [], relationships: [Relationship] = [],
        fetchedProperties: [String] = [], fetchIndexes: [FetchIndex] = [],
        compoundIndexes: [[String]] = [], uniquenessConstraints: [[String]] = [],
        userInfo: [String: String] = [:], versionHashModifier: String? = nil,
        renamingIdentifier: String? = nil
    ) {
        self.name = name
        self.className = className
        self.parent = parent
        self.isAbstract = isAbstract
        self.attributes = attributes
        self.relationships = relationships
        self.fetchedProperties = fetchedProperties
        self.fetchIndexes = fetchIndexes
        self.compoundIndexes = compoundIndexes
        self.uniquenessConstraints = uniquenessConstraints
        self.userInfo = userInfo
        self.versionHashModifier = versionHashModifier
        self.renamingIdentifier = renamingIdentifier
    }

    /// Names of all properties that it declares.
    package var propertyNames: [String] {
        attributes.map(\.name) + relationships.map(\.name) + fetchedProperties
    }

    /// Its name, the names that it refers to, and the names and default texts of its properties.
    var texts: [String] {
        [name, parent ?? ""] + attributes.flatMap(\.texts)
            + relationships.flatMap { [$0.name, $0.destination, $0.inverse ?? ""] }
    }

    /// Without the properties of these names; properties sorted by name (by bytes).
    ///
    /// - Throws: `ModelError.malformed` when two properties that stay share a name.
    func dropping(_ inherited: Set<String>) throws(ModelError) -> Entity {
        var copy = self
        copy.attributes = attributes.filter { !inherited.contains($0.name) }
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        copy.relationships = relationships.filter { !inherited.contains($0.name) }
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        copy.fetchedProperties = fetchedProperties.filter { !inherited.contains($0) }.sorted()
        var seen: Set<String> = []
        for property in copy.propertyNames where !seen.insert(property).inserted {
            throw .malformed("property \(name).\(property) occurs twice")
        }
        return copy
    }
}
