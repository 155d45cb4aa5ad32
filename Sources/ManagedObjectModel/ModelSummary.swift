/// A model as `godwit model show` prints it, for people (`text`) and as JSON for programs.
///
/// The JSON uses the words of Xcode rather than numbers; a key without a value is left out:
/// ```
/// {"versionIdentifiers": ["3"], "configurations": {},
///  "entities": [{"number": 1, "name": "Car", "class": "Car", "isAbstract": false,
///    "attributes": [{"name": "model", "type": "String", "isOptional": true,
///                    "isTransient": false, "default": "…", "words": "String, optional"}],
///    "relationships": [{"name": "owner", "destination": "Person", "inverse": "cars",
///                       "isToMany": false, "isOrdered": false, "isOptional": true,
///                       "minimumCount": 0, "maximumCount": 1, "deleteRule": "Nullify",
///                       "words": "…"}],
///    "fetchedProperties": [], "indexes": [{"name": "byModel", "words": "model"}],
///    "compoundIndexes": [], "uniquenessConstraints": [["numberPlate"]]}]}
/// ```
package struct ModelSummary: Hashable, Sendable, Codable {
    package let versionIdentifiers: [String]
    package let configurations: [String: [String]]
    /// In the order of their numbers.
    package let entities: [EntitySummary]

    /// Entity numbers and all that a model says in its own words.
    package init(_ model: Model) {
        versionIdentifiers = model.versionIdentifiers
        configurations = model.configurations
        entities = model.numberedEntities.enumerated().map { position, entity in
            EntitySummary(entity, number: position + 1)
        }
    }

    /// One entity.
    package struct EntitySummary: Hashable, Sendable, Codable {
        /// The value of `Z_ENT` in stores of this model.
        package let number: Int
        package let name: String
        package let `class`: String?
        package let parent: String?
        package let isAbstract: Bool
        package let attributes: [AttributeSummary]
        package let relationships: [RelationshipSummary]
        package let fetchedProperties: [String]
        package let indexes: [IndexSummary]
        package let compoundIndexes: [[String]]
        package let uniquenessConstraints: [[String]]
        package let versionHashModifier: String?
        package let renamingIdentifier: String?

        fileprivate init(_ entity: Entity, number: Int) {
            self.number = number
            name = entity.name
            `class` = entity.className
            parent = entity.parent
            isAbstract = entity.isAbstract
            attributes = entity.attributes.map(AttributeSummary.init)
            relationships = entity.relationships.map(RelationshipSummary.init)
            fetchedProperties = entity.fetchedProperties
            indexes = entity.fetchIndexes.map { IndexSummary(name: $0.name, words: $0.words) }
            compoundIndexes = entity.compoundIndexes
            uniquenessConstraints = entity.uniquenessConstraints
            versionHashModifier = entity.versionHashModifier
            renamingIdentifier =
                entity.renamingIdentifier == entity.name ? nil : entity.renamingIdentifier
        }
    }

    /// One attribute.
    package struct AttributeSummary: Hashable, Sendable, Codable {
        package let name: String
        package let type: String
        package let isOptional: Bool
        package let isTransient: Bool
        package let `default`: String?
        /// Everything about it in one line.
        package let words: String

        fileprivate init(_ attribute: Attribute) {
            name = attribute.name
            type = attribute.type.word
            isOptional = attribute.isOptional
            isTransient = attribute.isTransient
            `default` = attribute.defaultValue?.words
            words = attribute.words
        }
    }

    /// One relationship.
    package struct RelationshipSummary: Hashable, Sendable, Codable {
        package let name: String
        package let destination: String
        package let inverse: String?
        package let isToMany: Bool
        package let isOrdered: Bool
        package let isOptional: Bool
        package let minimumCount: Int32
        package let maximumCount: Int32
        package let deleteRule: String
        /// Everything about it in one line.
        package let words: String

        fileprivate init(_ relationship: Relationship) {
            name = relationship.name
            destination = relationship.destination
            inverse = relationship.inverse
            isToMany = relationship.isToMany
            isOrdered = relationship.isOrdered
            isOptional = relationship.isOptional
            minimumCount = relationship.minimumCount
            maximumCount = relationship.maximumCount
            deleteRule = relationship.deleteRule.word
            words = relationship.words
        }
    }

    /// One fetch index.
    package struct IndexSummary: Hashable, Sendable, Codable {
        package let name: String
        /// Its elements and condition in one line.
        package let words: String
    }
}
