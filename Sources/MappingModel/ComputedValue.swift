package import MappingExpressions

/// An expression over one source object, with the key paths that it reads taken out of it.
///
/// What reads them can then be SQL, and what remains needs their values alone.
package struct ComputedValue: Hashable, Sendable, Codable {
    /// The expression with a variable in place of each key path of `$source`.
    package let expression: MappingExpression
    /// The keys behind `$source`, by the numbers of the variables; no two are equal.
    package let inputs: [[String]]

    /// Takes the key paths out.
    ///
    /// - Complexity: O(size of the expression × key paths).
    package init(_ expression: MappingExpression) {
        var inputs: [[String]] = []
        self.expression = expression.replacingSourceKeyPaths { keys in
            if let known = inputs.firstIndex(of: keys) { return Self.variable(known) }
            inputs.append(keys)
            return Self.variable(inputs.count - 1)
        }
        self.inputs = inputs
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

    /// Whether the source object itself is read, apart from its key paths.
    package var readsObjects: Bool {
        ExpressionInspection(expression).variables.contains { Self.input(named: $0) == nil }
    }
}
