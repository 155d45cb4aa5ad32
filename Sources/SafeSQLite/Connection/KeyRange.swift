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

extension KeyRange {
    /// Whether the range holds a key.
    package func contains(_ key: Int64) -> Bool {
        key >= lower ?? .min && key <= upper ?? .max
    }

    /// The same range of keys that lie lower by an offset.
    package func shifted(down offset: Int64) -> KeyRange {
        KeyRange(lower: lower.map { $0 &- offset }, upper: upper.map { $0 &- offset })
    }

    /// Conditions that hold for keys in the range; none for every key.
    package func conditions(on key: SQLText) -> [SQLText] {
        let bounds: [SQLText?] = [
            lower.map { "\(key) >= \($0)" }, upper.map { "\(key) <= \($0)" },
        ]
        return bounds.compactMap { $0 }
    }

    /// The range as one condition; nil for every key.
    package func condition(on key: SQLText) -> SQLText? {
        let parts = conditions(on: key)
        return parts.isEmpty ? nil : "(\(parts.joined(separator: " AND ")))"
    }
}
