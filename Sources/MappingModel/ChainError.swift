/// Why a step of a chain cannot be joined with the ones before it; every reason that was found.
package struct ChainError: Hashable, Sendable, Codable {
    /// The step that cannot follow the ones before it, such as `2 → 3`.
    package var step: String
    /// In the order of the entity mappings; not empty.
    package var reasons: [String]

    package init(step: String, reasons: [String]) {
        self.step = step
        self.reasons = reasons
    }
}

extension ChainError: CustomStringConvertible {
    package var description: String {
        "step \(step) cannot be joined with the steps before it: "
            + reasons.joined(separator: "; ")
    }
}
