package import Jobs

/// Why a store or an attempt failed: a cause to act on and words for people.
package struct FailureReason: Hashable, Sendable, Codable {
    package let code: FailureCause
    /// One message: what failed, on which file, what to do next; never a value of a row.
    package let text: String

    package init(code: FailureCause, text: String) {
        self.code = code
        self.text = text
    }

    /// What the cause leads to.
    package var decision: FailureDecision { code.decision }
}
