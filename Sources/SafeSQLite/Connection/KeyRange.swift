/// A range of integers, both ends included; nil is open.
package struct KeyRange: Hashable, Sendable, Codable {
    package var lower: Int64?
    package var upper: Int64?

    package init(lower: Int64? = nil, upper: Int64? = nil) {
        self.lower = lower
        self.upper = upper
    }

    /// Every key.
    package static let all = KeyRange()
}
