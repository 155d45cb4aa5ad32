/// Why something failed: a cause to act on and words for people.
package struct FailureReason: Hashable, Sendable, Codable, CustomStringConvertible {
    package let cause: FailureCause
    /// One message: what failed, on which file, what to do next; never a value of a row.
    package let text: String

    package init(_ cause: FailureCause, _ text: String) {
        self.cause = cause
        self.text = text
    }

    /// What the cause leads to.
    package var decision: FailureDecision { cause.decision }

    package var description: String { "\(cause): \(text)" }
}
