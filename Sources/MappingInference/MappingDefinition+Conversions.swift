package import ManagedObjectModel
import MappingExpressions
import MappingModel

/// Attributes that a mapping file turns into other types by one word.
extension MappingDefinition {
    /// The mapping with an expression in the place of each conversion that the models allow; the
    /// check of a mapping finds the others.
    func convertingTypes(from source: Model, to destination: Model) -> MappingDefinition {
        var converted = self
        for place in entityMappings.indices {
            guard let from = entityMappings[place].source,
                let to = entityMappings[place].destination
            else { continue }
            for property in entityMappings[place].attributes.indices {
                guard
                    case .converted(let stated) = entityMappings[place].attributes[property].value
                else { continue }
                let name = entityMappings[place].attributes[property].destination
                guard let now = destination.attribute(name, of: to)?.attribute,
                    let expression = stated.expression(
                        from: Self.origin(of: now, in: source, from), to: now)
                else { continue }
                converted.entityMappings[place].attributes[property].value =
                    .expression(expression)
            }
        }
        return converted
    }

    /// The source attribute of an attribute: by renaming identifier, else by name.
    ///
    /// - Parameters:
    ///   - attribute: of the destination.
    ///   - model: of the source.
    ///   - entity: of the source, with what it inherits.
    /// - Returns: nil where neither names an attribute.
    package static func origin(
        of attribute: Attribute, in model: Model, _ entity: String
    ) -> Attribute? {
        [attribute.renamingIdentifier, attribute.name].compactMap { $0 }.lazy
            .compactMap { model.attribute($0, of: entity)?.attribute }.first
    }
}
