/// An error at a scalar of a text, before its column is known.
struct PlacedError: Error {
    let reason: ExpressionError.Reason
    let message: String
    /// The index of a Unicode scalar.
    let position: Int
    let suggestion: String?

    init(
        _ reason: ExpressionError.Reason, _ message: String, _ position: Int,
        suggestion: String? = nil
    ) {
        self.reason = reason
        self.message = message
        self.position = position
        self.suggestion = suggestion
    }

    /// The error as callers see it.
    func error(column: Int) -> ExpressionError {
        ExpressionError(reason, message, column: column, suggestion: suggestion)
    }
}
