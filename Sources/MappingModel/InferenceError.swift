/// Why no mapping can be inferred between two models, whatever the data are.
package struct InferenceError: Error, Hashable, Sendable, Codable {
    /// Everything that stands in the way, in the order of the destination entities; not empty.
    package var refusals: [Refusal]

    package init(refusals: [Refusal]) { self.refusals = refusals }
}

extension InferenceError: CustomStringConvertible {
    package var description: String {
        "no mapping can be inferred between the two models:\n"
            + refusals.map { "- \($0)" }.joined(separator: "\n")
    }
}

/// A rule of inference that two models break.
package enum InferenceRule: String, Hashable, Sendable, Codable, CaseIterable {
    /// A renaming identifier names more than one pair.
    case ambiguousIdentifier = "ambiguous renaming identifier"
    /// An attribute keeps its type.
    case attributeTypeChanged = "attribute type changed"
    /// An attribute stays an attribute, a relationship a relationship.
    case propertyKindChanged = "attribute and relationship exchanged"
    /// Two sides of a relationship come from two sides of a relationship.
    case ambiguousInverse = "ambiguous inverse"
    /// Composite attributes lie in each other up to a limit.
    case compositeTooDeep = "composite attributes nested too deep"
}

/// One reason against inference.
package struct Refusal: Hashable, Sendable, Codable {
    package var rule: InferenceRule
    /// Name of a destination entity.
    package var entity: String
    /// Name of a property of that entity; nil where the entity itself is meant.
    package var property: String?
    /// What is wrong, with the names on both sides.
    package var explanation: String
    /// What the user can do about it.
    package var remedy: String

    package init(
        rule: InferenceRule, entity: String, property: String?, explanation: String,
        remedy: String
    ) {
        self.rule = rule
        self.entity = entity
        self.property = property
        self.explanation = explanation
        self.remedy = remedy
    }
}

extension Refusal: CustomStringConvertible {
    package var description: String {
        let place = property.map { "\(entity).\($0)" } ?? entity
        return "\(place): \(explanation) (rule: \(rule.rawValue)). \(remedy)"
    }
}
