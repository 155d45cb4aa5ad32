import ManagedObjectModel
package import MappingExpressions

/// The methods of `NSMigrationManager` that mapping models call for relationships.
///
/// Both turn source objects into the destination objects that were made of them.
package enum ManagerCall: Hashable, Sendable {
    /// `destinationInstancesForSourceRelationshipNamed:sourceInstances:`: by every entity mapping.
    case relationship(String, MappingExpression)
    /// `destinationInstancesForEntityMappingNamed:sourceInstances:`: by one entity mapping.
    case entityMapping(String, MappingExpression)

    /// The name of the variable behind which the manager stands.
    package static let receiver = "manager"
    /// The method that asks every entity mapping.
    package static let relationshipSelector =
        "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
    /// The method that asks one entity mapping.
    package static let entityMappingSelector =
        "destinationInstancesForEntityMappingNamed:sourceInstances:"

    /// The call that an expression is; nil for other expressions.
    package init?(_ expression: MappingExpression) {
        guard case .call(.variable(Self.receiver), let selector, let arguments) = expression,
            arguments.count == 2, case .constant(.text(let name)) = arguments[0]
        else { return nil }
        switch selector {
        case Self.relationshipSelector: self = .relationship(name, arguments[1])
        case Self.entityMappingSelector: self = .entityMapping(name, arguments[1])
        default: return nil
        }
    }

    /// The call as an expression.
    package var expression: MappingExpression {
        let (selector, name, instances) =
            switch self {
            case .relationship(let name, let instances):
                (Self.relationshipSelector, name, instances)
            case .entityMapping(let name, let instances):
                (Self.entityMappingSelector, name, instances)
            }
        return .call(
            .variable(Self.receiver), selector: selector, [.constant(.text(name)), instances])
    }

    /// The keys behind `$source` that lead to the source objects, none for the object itself; nil
    /// for every other expression.
    package var sourcePath: [String]? {
        instances == .variable("source") ? [] : instances.sourceKeys
    }

    /// Whether the call gives objects that an entity mapping makes.
    package func takesObjects(of mapping: String) -> Bool {
        if case .entityMapping(let name, _) = self { return name == mapping }
        return true
    }

    /// The source objects that the call is made with.
    package var instances: MappingExpression {
        switch self {
        case .relationship(_, let instances), .entityMapping(_, let instances): instances
        }
    }
}
