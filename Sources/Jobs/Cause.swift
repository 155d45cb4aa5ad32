/// Why something failed: a cause to act on and words for people, never a value of a row.
package struct Cause: Hashable, Sendable, CustomStringConvertible {
    package let code: FailureCause
    package let text: String

    package init(_ code: FailureCause, _ text: String) {
        self.code = code
        self.text = text
    }

    package var description: String { "\(code): \(text)" }
}
