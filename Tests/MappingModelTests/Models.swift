import ManagedObjectModel
import MappingInference
import MappingModel
import Testing

/// A model of these entities.
func model(_ entities: Entity...) throws -> Model { try Model(entities: entities) }

func infer(_ source: Model, _ destination: Model) throws -> Inference {
    try Inference(from: source, to: destination)
}

/// The refusals of two models between which nothing can be inferred.
func refusals(_ source: Model, _ destination: Model) throws -> [Refusal] {
    let error = try #require(throws: InferenceError.self) {
        try Inference(from: source, to: destination)
    }
    return error.refusals
}

extension Inference {
    /// The mapping of a destination entity.
    func mapping(to entity: String) throws -> EntityMapping {
        try #require(mapping.entityMappings.first { $0.destination == entity })
    }

    func value(_ attribute: String, of entity: String) throws -> ValueExpression {
        let mapping = try mapping(to: entity)
        return try #require(mapping.attributes.first { $0.destination == attribute }).value
    }

    /// The source of a relationship of a destination entity.
    func links(_ relationship: String, of entity: String) throws -> String? {
        let mapping = try mapping(to: entity)
        return try #require(mapping.relationships.first { $0.destination == relationship }).source
    }
}

extension PropertyReference {
    init(_ entity: String, _ property: String) { self.init(entity: entity, property: property) }
}

/// Two entities with a relationship from the first and one back: `Parent.children` and
/// `Child.parent`, unless told otherwise.
func family(
    _ children: Relationship = children(), _ parent: Relationship = parent()
) throws -> Model {
    try model(
        Entity(name: "Parent", relationships: [children]),
        Entity(name: "Child", relationships: [parent]))
}

func children(
    _ name: String = "children", inverse: String? = "parent", isOptional: Bool = true,
    minimum: Int32 = 0, maximum: Int32 = 0, isOrdered: Bool = false, identifier: String? = nil
) -> Relationship {
    Relationship(
        name: name, destination: "Child", inverse: inverse, isOptional: isOptional,
        minimumCount: minimum, maximumCount: maximum, isOrdered: isOrdered,
        renamingIdentifier: identifier)
}

func parent(
    _ name: String = "parent", inverse: String? = "children", isOptional: Bool = true,
    maximum: Int32 = 1, identifier: String? = nil
) -> Relationship {
    Relationship(
        name: name, destination: "Parent", inverse: inverse, isOptional: isOptional,
        maximumCount: maximum, renamingIdentifier: identifier)
}
