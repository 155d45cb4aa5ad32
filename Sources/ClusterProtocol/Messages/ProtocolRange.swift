/// The versions of the protocol that a side understands, both ends included.
package struct ProtocolRange: Hashable, Sendable, CustomStringConvertible {
    package let lowest: Int
    package let highest: Int

    package init(lowest: Int, highest: Int) {
        self.lowest = lowest
        self.highest = highest
    }

    /// What this program understands.
    package static let current = ProtocolRange(lowest: 6, highest: 6)

    /// The highest version that both sides understand; nil where there is none.
    package func common(with other: ProtocolRange) -> Int? {
        let version = min(highest, other.highest)
        return version >= max(lowest, other.lowest) ? version : nil
    }

    /// Whether the version lies in the range.
    package func contains(_ version: Int) -> Bool { version >= lowest && version <= highest }

    package var description: String { lowest == highest ? "\(lowest)" : "\(lowest) to \(highest)" }
}
