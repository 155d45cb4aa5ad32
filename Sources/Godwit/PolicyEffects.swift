import MappingModel

/// What a policy says of itself before it runs.
///
/// Godwit plans by it: it reserves keys for what the policy makes, and refuses a mapping that does
/// not fit the models before it touches a store. A policy that does something else fails.
public struct PolicyEffects: Sendable {
    /// Names of attributes, of to-one relationships and of many-to-many relationships of the
    /// destination objects that the hooks set; what the mapping model says of these does not count.
    ///
    /// All links of a many-to-many relationship that a policy sets come from policies: every entity
    /// mapping with that relationship needs one that sets it.
    public var sets: [String]
    /// What the policy makes beside the destination objects of its entity mapping.
    public var creates: [CreatedEntity]
    /// Names of properties of the source objects that the policy carries on to another place, so
    /// that reports do not count them as lost.
    public var carries: [String]
    /// Selectors that the mapping model calls: `FUNCTION($entityPolicy, "color:alpha:", …)`.
    public var answers: [String]
    /// Whether the hooks are called although the policy sets and makes nothing: for one that
    /// answers selectors and validates.
    public var validates: Bool
    /// Whether equal source objects always give the same result.
    public var isDeterministic: Bool
    /// The version of the code: raise it when the policy gives something else than before.
    ///
    /// A run never mixes what two versions gave: it continues with the one that it began with.
    public var version: Int

    /// Makes the description of a policy; what is left out does not happen.
    public init(
        sets: [String] = [], creates: [CreatedEntity] = [], carries: [String] = [],
        answers: [String] = [], validates: Bool = false,
        isDeterministic: Bool = true, version: Int = 1
    ) {
        self.sets = sets
        self.creates = creates
        self.carries = carries
        self.answers = answers
        self.validates = validates
        self.isDeterministic = isDeterministic
        self.version = version
    }
}

/// Objects of one destination entity that a policy makes.
public struct CreatedEntity: Hashable, Sendable {
    let declared: CreatedObjects

    /// Objects that the policy inserts.
    ///
    /// - Parameters:
    ///   - entity: its name.
    ///   - most: the most objects for one source object, 1 to 1,048,576; Godwit reserves keys for
    ///     as many.
    /// - Returns: the declaration.
    public static func inserted(_ entity: String, atMost most: Int = 1) -> CreatedEntity {
        CreatedEntity(declared: CreatedObjects(entity: entity, most: most))
    }

    /// Objects that the policy finds by the values of attributes, and inserts where there are none.
    ///
    /// Each combination of values comes out as one object, however Godwit splits the store.
    ///
    /// - Parameters:
    ///   - entity: its name.
    ///   - attributes: whose values identify an object; at least one.
    ///   - most: the most objects that the policy asks for on behalf of one source object, 1 to
    ///     1,048,576.
    /// - Returns: the declaration.
    public static func found(
        _ entity: String, by attributes: [String], atMost most: Int = 1
    ) -> CreatedEntity {
        precondition(!attributes.isEmpty, "objects are found by the values of attributes")
        return CreatedEntity(
            declared: CreatedObjects(entity: entity, most: most, key: attributes))
    }
}
