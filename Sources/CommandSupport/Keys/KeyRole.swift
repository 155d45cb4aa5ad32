/// What the holder of a key may do at a coordinator.
package enum KeyRole: String, CaseIterable, Hashable, Sendable {
    /// Take jobs.
    case worker
    /// Submit runs, ask for them and steer them.
    case client

    /// The folder of the keys of this role, and of those on the list.
    package var folder: String { rawValue + "s" }

    /// The longest name of a key.
    package static let longestName = 64

    /// Whether a key can have a name: letters, digits, `-`, `_` and `.`, not beginning with a dot.
    package static func isName(_ text: String) -> Bool {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "."):
                true
            default: false
            }
        }
        return isPlain && !text.hasPrefix(".") && (1...longestName).contains(text.utf8.count)
    }
}
