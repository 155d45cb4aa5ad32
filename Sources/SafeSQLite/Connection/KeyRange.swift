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

    /// The keys that both ranges have; one that holds no key where they have none in common.
    package func intersection(_ other: KeyRange) -> KeyRange {
        KeyRange(
            lower: [lower, other.lower].compactMap(\.self).max(),
            upper: [upper, other.upper].compactMap(\.self).min())
    }
}
