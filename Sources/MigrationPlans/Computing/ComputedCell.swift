package import CoreDataStore
package import ManagedObjectModel
import MappingExpressions
package import MappingModel

/// A destination cell that an expression of a mapping file gives.
package struct ComputedCell: Hashable, Sendable, Codable {
    package var value: ComputedValue
    /// Where the inputs of the value lie, in their order.
    package var inputs: [SourcePath]
    /// Where the tree of the value lies; nil where it has none.
    package var tree: SourceTree?
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

    /// How many values a function needs to compute it.
    var argumentCount: Int { tree == nil ? inputs.count : 1 }

    /// Finds where the inputs of a value lie.
    ///
    /// - Parameters:
    ///   - value: to be computed.
    ///   - source: the entity of the source objects.
    ///   - layout: of the source.
    ///   - type: of the destination attribute.
    ///   - isRequired: whether the attribute must have a value.
    ///   - name: of the attribute, for messages.
    ///   - now: what `now()` gives, in seconds since 2001-01-01 00:00:00 UTC.
    ///   - policy: the class whose methods it calls.
    /// - Throws: `PlanError.unsupported` for what cannot be read row by row.
    package init(
        value: ComputedValue, source: String, in layout: StoreLayout, type: AttributeType,
        isRequired: Bool = false, name: String, now: Double, policy: String? = nil
    ) throws(PlanError) {
        guard !value.readsObjects || value.tree != nil || policy != nil else {
            throw .unsupported(
                "\(name): \(value.expression.text) needs an object itself: only values of its keys "
                    + "are supported")
        }
        var inputs: [SourcePath] = []
        for keys in value.inputs {
            inputs.append(try SourcePath(keys, of: source, in: layout))
        }
        self.inputs = inputs
        var tree: SourceTree?
        if let read = value.tree { tree = try SourceTree(read, in: layout) }
        self.tree = tree
        self.value = value
        self.source = source
        self.type = type
        self.isRequired = isRequired
        self.name = name
        self.now = now
        self.policy = policy
    }
}
