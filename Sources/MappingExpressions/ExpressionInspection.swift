/// What an expression needs, found without values.
package struct ExpressionInspection: Hashable, Sendable {
    /// A method that `FUNCTION` calls.
    package struct Call: Hashable, Sendable {
        package let receiver: MappingExpression
        package let selector: String
    }

    /// Names of variables from outside; those that `SUBQUERY` binds are not among them.
    package private(set) var variables: Set<String> = []
    /// Paths whose start is `$source`, also those within subqueries.
    package private(set) var sourceKeyPaths: Set<[String]> = []
    /// Methods in the order of the text, with repetitions.
    package private(set) var calls: [Call] = []
    /// Whether `now()` occurs.
    package private(set) var usesNow = false
    /// How many times `ATTEMPT` occurs.
    package private(set) var attempts = 0
    /// How many expressions it consists of.
    package private(set) var size = 0
    /// How many levels of expressions there are.
    package private(set) var depth = 0
    /// Whether `SELF` or a key without a variable occurs.
    package private(set) var usesEvaluatedObject = false
    /// Whether objects, variables and `now` determine the value: no method is called.
    package var isDeterministic: Bool { calls.isEmpty }

    private var bound: [String] = []
    private var level = 0

    /// Inspects an expression of at most 64 levels.
    ///
    /// - Complexity: O(n).
    package init(_ expression: MappingExpression) { visit(expression) }

    /// Inspects a predicate of at most 64 levels.
    ///
    /// - Complexity: O(n).
    package init(_ predicate: MappingPredicate) { visit(predicate) }

    private mutating func visit(_ expression: MappingExpression) {
        size += 1
        level += 1
        depth = max(depth, level)
        defer { level -= 1 }
        switch expression {
        case .null, .constant: break
        case .evaluatedObject: usesEvaluatedObject = true
        case .variable(let name):
            guard !bound.contains(name) else { return }
            variables.insert(name)
        case .keyPath(let start, let keys):
            if start == .variable("source"), !bound.contains("source") {
                sourceKeyPaths.insert(keys)
            }
            visit(start)
        case .function(let function, let arguments):
            if function == .now { usesNow = true }
            for argument in arguments { visit(argument) }
        case .cast(let value, _), .conversion(_, let value): visit(value)
        case .attempt(let value, let other):
            attempts += 1
            visit(value)
            visit(other)
        case .call(let receiver, let selector, let arguments):
            calls.append(Call(receiver: receiver, selector: selector))
            visit(receiver)
            for argument in arguments { visit(argument) }
        case .conditional(let predicate, let one, let other):
            visit(predicate)
            visit(one)
            visit(other)
        case .list(let values): for value in values { visit(value) }
        case .combination(_, let one, let other):
            visit(one)
            visit(other)
        case .subquery(let collection, let variable, let predicate):
            visit(collection)
            bound.append(variable)
            visit(predicate)
            bound.removeLast()
        case .element(let collection, let index):
            visit(collection)
            if case .at(let value) = index { visit(value) }
        }
    }

    private mutating func visit(_ predicate: MappingPredicate) {
        level += 1
        depth = max(depth, level)
        defer { level -= 1 }
        switch predicate {
        case .constant: break
        case .and(let parts), .or(let parts): for part in parts { visit(part) }
        case .not(let part): visit(part)
        case .comparison(let comparison):
            visit(comparison.left)
            visit(comparison.right)
        }
    }
}
