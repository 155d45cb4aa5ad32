package import ManagedObjectModel
package import MappingModel

/// A destination cell that an expression of a mapping file gives.
package struct ComputedCell: Hashable, Sendable, Codable {
    package var value: ComputedValue
    /// Where the inputs of the value lie, in their order.
    package var inputs: [SourcePath]
    /// The source entity whose objects it is computed for.
    package var source: String
    /// The type of the destination attribute.
    package var type: AttributeType
    /// Whether the attribute must have a value.
    package var isRequired: Bool
    /// The destination attribute, for messages.
    package var name: String
    /// What `now()` gives: seconds since 2001-01-01 00:00:00 UTC.
    package var now: Double
    /// The class of the policy whose methods the expression calls; nil where it calls none.
    package var policy: String?

    package init(
        value: ComputedValue, inputs: [SourcePath], source: String, type: AttributeType,
        isRequired: Bool = false, name: String,
        now: Double, policy: String? = nil
    ) {
        self.value = value
        self.inputs = inputs
        self.source = source
        self.type = type
        self.isRequired = isRequired
        self.name = name
        self.now = now
        self.policy = policy
    }
}
