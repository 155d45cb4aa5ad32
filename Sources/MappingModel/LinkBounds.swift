package import ManagedObjectModel

/// How many objects a relationship may lead to.
package struct LinkBounds: Hashable, Sendable, Codable {
    /// Whether no object at all is valid, whatever `atLeast` says.
    package var allowsNone: Bool
    /// The least number of objects where there are any; at least 1 for a required relationship.
    package var atLeast: Int32
    /// The greatest number of objects; nil for any number.
    package var atMost: Int32?

    /// What the validation of a relationship demands.
    ///
    /// A to-many that is not optional but has no least number may be empty: Core Data saves such
    /// objects (Wire's `UserClient.trustedClients`, all 34 stores of the lineage) and migrates to
    /// such new relationships (`Conversation.participantRoles`).
    package init(_ relationship: Relationship) {
        let mayBeEmpty = relationship.isToMany && relationship.minimumCount <= 0
        allowsNone = relationship.isOptional || mayBeEmpty
        atLeast = max(relationship.minimumCount, allowsNone ? 0 : 1)
        // Any number is written as 0 and, by some models, as −1.
        atMost = relationship.maximumCount > 0 ? relationship.maximumCount : nil
    }

    /// Whether losing a link can break them.
    package var needLinks: Bool { !allowsNone || atLeast > 1 }

    /// Whether the lower bound rejects a number that the other one accepts.
    package func raiseLowerBound(of other: LinkBounds) -> Bool {
        (!allowsNone && other.allowsNone) || (atLeast > 1 && atLeast > other.atLeast)
    }

    /// Whether the upper bound rejects a number that the other one accepts.
    package func lowerUpperBound(of other: LinkBounds) -> Bool {
        guard let atMost else { return false }
        guard let before = other.atMost else { return true }
        return atMost < before
    }

    /// The bounds for a person, such as `1 to 3` or `none or at least 2`.
    package var text: String {
        let none = allowsNone ? "none or " : ""
        guard let atMost else { return "\(none)at least \(atLeast)" }
        return atLeast == atMost ? "\(none)\(atLeast)" : "\(none)\(atLeast) to \(atMost)"
    }
}
