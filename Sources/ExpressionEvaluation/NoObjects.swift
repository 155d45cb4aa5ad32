package import MappingExpressions

/// Objects of expressions that get all values through variables.
package struct NoObjects: ExpressionObjects, Sendable {
    package init() {}

    /// Never asked: there is no object.
    package func value(
        forKey key: String, of object: Never
    ) throws(ExpressionError) -> ExpressionValue<Never> {}
}
