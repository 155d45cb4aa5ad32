package import ManagedObjectModel
package import MappingExpressions

/// An expression over one source object, with the key paths that it reads taken out of it.
///
/// What reads them can then be SQL, and what remains needs their values alone. An expression that
/// needs objects, such as the members of a collection one by one, stays as it is: SQL then reads
/// the tree of all that it asks of them.
package struct ComputedValue: Hashable, Sendable, Codable {
    /// The expression with a variable in place of each key path of `$source`; as it is where there
    /// is a tree.
    package let expression: MappingExpression
    /// The keys behind `$source`, by the numbers of the variables; no two are equal.
    package let inputs: [[String]]
    /// What it reads of objects; nil where the inputs are all.
    package let tree: ObjectTree?

    /// Takes the key paths out, or finds the tree.
    ///
    /// - Parameters:
    ///   - expression: of a mapping that was checked.
    ///   - entity: of the source object; nil where there is none.
    ///   - model: of the source.
    /// - Complexity: O(size of the expression × key paths).
    package init(_ expression: MappingExpression, of entity: String?, in model: Model) {
        let value = ComputedValue(takingPathsOutOf: expression)
        // Methods get their arguments through inputs alone.
        guard let entity, ExpressionInspection(expression).calls.isEmpty,
            value.unknown.isSubset(of: ["source"]),
            value.readsObjects
                || value.inputs.contains(where: { Self.isCollection($0, of: entity, in: model) })
        else {
            self = value
            return
        }
        self.expression = expression
        inputs = []
        tree = ObjectTree(readBy: expression, of: entity, in: model)
    }

    private init(takingPathsOutOf expression: MappingExpression) {
        var inputs: [[String]] = []
        self.expression = expression.replacingSourceKeyPaths { keys in
            if let known = inputs.firstIndex(of: keys) { return Self.variable(known) }
            inputs.append(keys)
            return Self.variable(inputs.count - 1)
        }
        self.inputs = inputs
        tree = nil
    }

    /// Whether keys lead to several objects, or to values of several, of which no operator of the
    /// source object's own relationship makes one value.
    package static func isCollection(
        _ keys: [String], of entity: String, in model: Model
    ) -> Bool {
        var current = entity
        for (place, key) in keys.enumerated() {
            guard let found = model.relationship(key, of: current)?.relationship else {
                return false
            }
            current = found.destination
            guard found.isToMany else { continue }
            let known = ["@count", "@sum", "@min", "@max", "@avg"]
            let rest = keys.dropFirst(place + 2)
            let leadsOn = rest.first.map { model.relationship($0, of: current) != nil } ?? false
            return place != 0 || keys.count < 2 || !known.contains(keys[1]) || leadsOn
        }
        return false
    }

    /// The name of the variable that stands for an input.
    package static func name(of input: Int) -> String { prefix + String(input) }

    /// No variable of a text or an archive is called so: the check of mappings refuses it.
    private static let prefix = "godwit input "

    private static func variable(_ input: Int) -> MappingExpression {
        .variable(name(of: input))
    }

    /// What a variable stands for; nil for other variables.
    package static func input(named name: String) -> Int? {
        guard name.hasPrefix(prefix) else { return nil }
        return Int(name.dropFirst(prefix.count))
    }

    /// Whether an object itself is read, apart from the key paths of the source object.
    package var readsObjects: Bool { !unknown.isEmpty }

    /// Variables that stand for no input.
    private var unknown: Set<String> {
        ExpressionInspection(expression).variables.filter { Self.input(named: $0) == nil }
    }
}
