/// A part of a text that has been read: an expression or a predicate.
struct ParsedOperand {
    private enum Content {
        case expression(MappingExpression)
        case predicate(MappingPredicate)
    }

    private let content: Content
    /// Levels of the tree, one for a leaf.
    let depth: Int
    /// The scalar where it starts.
    let position: Int

    init(
        _ expression: MappingExpression, over parts: [ParsedOperand], at position: Int
    ) throws(PlacedError) {
        content = .expression(expression)
        depth = try Self.depth(over: parts, at: position)
        self.position = position
    }

    init(
        _ predicate: MappingPredicate, over parts: [ParsedOperand], at position: Int
    ) throws(PlacedError) {
        content = .predicate(predicate)
        depth = try Self.depth(over: parts, at: position)
        self.position = position
    }

    /// Bounds every tree, because those who read it recurse.
    private static func depth(
        over parts: [ParsedOperand], at position: Int
    ) throws(PlacedError) -> Int {
        let depth = (parts.map(\.depth).max() ?? 0) + 1
        guard depth <= ExpressionLimits.depth else {
            throw PlacedError(
                .limit, "a tree of more than \(ExpressionLimits.depth) levels", position)
        }
        return depth
    }

    /// The expression; an error if it is a predicate.
    func expression() throws(PlacedError) -> MappingExpression {
        guard case .expression(let expression) = content else {
            throw PlacedError(
                .syntax,
                "a predicate stands where a value is expected: write TERNARY(predicate, YES, NO)",
                position)
        }
        return expression
    }

    /// The predicate; an error if it is an expression.
    func predicate() throws(PlacedError) -> MappingPredicate {
        guard case .predicate(let predicate) = content else {
            throw PlacedError(
                .syntax,
                "a value stands where a predicate is expected, such as value == YES", position)
        }
        return predicate
    }
}
