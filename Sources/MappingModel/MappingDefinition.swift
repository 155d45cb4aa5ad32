package import MappingExpressions

/// A mapping model as a file states it, in the terms of `NSMappingModel`.
///
/// Files of Xcode and files written by hand leave out what follows from the two models;
/// `completed(from:to:)` fills it in, and then the value is what Xcode compiles.
package struct MappingDefinition: Hashable, Sendable, Codable {
    /// In the order of execution.
    package var entityMappings: [EntityMappingDefinition]
    /// Whether entities and properties that are not mentioned are inferred, as lightweight
    /// migration does, instead of being left out.
    package var infersRest: Bool

    package init(entityMappings: [EntityMappingDefinition], infersRest: Bool) {
        self.entityMappings = entityMappings
        self.infersRest = infersRest
    }
}

/// What `NSEntityMappingType` says of an entity mapping; raw values are Apple's.
package enum EntityMappingType: Int, Hashable, Sendable, Codable, CaseIterable {
    case custom = 1
    case add = 2
    case remove = 3
    case copy = 4
    case transform = 5
}

/// One entity mapping as a file states it.
package struct EntityMappingDefinition: Hashable, Sendable, Codable {
    /// Nil where the name follows from the entities.
    package var name: String?
    /// Nil where the type follows from the models.
    package var type: EntityMappingType?
    /// Name of the source entity; nil where objects come from nowhere.
    package var source: String?
    /// Name of the destination entity; nil where objects are dropped.
    package var destination: String?
    /// Which source objects are meant; nil for all of exactly the source entity.
    package var filter: MappingPredicate?
    /// Where the filter stands in its file; nil in files without lines.
    package var filterPosition: FilePosition?
    /// Class name of the migration policy; nil where there is none.
    package var policy: String?
    package var attributes: [PropertyMappingDefinition]
    package var relationships: [PropertyMappingDefinition]
    /// 32 bytes each, where the file has them: the version hashes that the mapping was made for.
    package var sourceHash: [UInt8]?
    package var destinationHash: [UInt8]?
    /// Where it stands in its file; nil in files without lines.
    package var position: FilePosition?

    package init(
        name: String? = nil, type: EntityMappingType? = nil, source: String?, destination: String?,
        filter: MappingPredicate? = nil, policy: String? = nil,
        attributes: [PropertyMappingDefinition] = [],
        relationships: [PropertyMappingDefinition] = [], sourceHash: [UInt8]? = nil,
        destinationHash: [UInt8]? = nil, position: FilePosition? = nil
    ) {
        self.name = name
        self.type = type
        self.source = source
        self.destination = destination
        self.filter = filter
        self.policy = policy
        self.attributes = attributes
        self.relationships = relationships
        self.sourceHash = sourceHash
        self.destinationHash = destinationHash
        self.position = position
    }

    /// Its name, or the one that Xcode would give it.
    package var effectiveName: String {
        if let name { return name }
        if let source, let destination { return "\(source)To\(destination)" }
        return destination ?? source ?? ""
    }
}

/// One attribute or relationship mapping as a file states it.
package struct PropertyMappingDefinition: Hashable, Sendable, Codable {
    /// Where the value of a property comes from.
    package enum Value: Hashable, Sendable, Codable {
        /// It follows from the models: the source property of the same name, or none.
        case automatic
        /// No value expression: an attribute keeps its default value, a relationship stays empty.
        case unset
        /// A value that is turned into one of the destination attribute's type.
        case converted(StatedConversion)
        case expression(MappingExpression)
    }

    /// Name of the destination property.
    package var destination: String
    package var value: Value
    /// Where it stands in its file; nil in files without lines.
    package var position: FilePosition?

    package init(destination: String, value: Value, position: FilePosition? = nil) {
        self.destination = destination
        self.value = value
        self.position = position
    }
}

/// A place in a text file; lines and columns count from 1.
package struct FilePosition: Hashable, Sendable, Codable {
    package var line: Int
    package var column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}

extension FilePosition: CustomStringConvertible {
    package var description: String { "line \(line), column \(column)" }
}

extension MappingDefinition {
    /// The same mapping without places in a file: what two files are compared by.
    package var withoutPositions: MappingDefinition {
        var plain = self
        for mapping in plain.entityMappings.indices {
            plain.entityMappings[mapping].position = nil
            plain.entityMappings[mapping].filterPosition = nil
            for property in plain.entityMappings[mapping].attributes.indices {
                plain.entityMappings[mapping].attributes[property].position = nil
            }
            for property in plain.entityMappings[mapping].relationships.indices {
                plain.entityMappings[mapping].relationships[property].position = nil
            }
        }
        return plain
    }
}
