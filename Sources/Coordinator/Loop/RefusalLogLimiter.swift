/// What is worth a line of connections that were refused: each kind at once, and then once a
/// minute how often it came again.
struct RefusalLogLimiter {
    private struct Told {
        /// Times that were not told yet.
        var count = 0
        /// When it may be told.
        var next: Int64 = 0
    }

    private var told: [String: Told] = [:]

    /// Milliseconds between two lines of one kind.
    static let interval: Int64 = 60_000
    /// Kinds that are counted separately; more come from a program that tries many keys.
    static let limit = 256
    private static let others = "refused connections with other keys or from other addresses"

    /// A connection was refused.
    mutating func add(_ text: String) {
        let isPlaceLeft = told[text] != nil || told.count < Self.limit
        told[isPlaceLeft ? text : Self.others, default: Told()].count += 1
    }

    /// The lines that are due, in the order of their texts.
    mutating func due(at now: Int64) -> [String] {
        var lines: [String] = []
        for (text, entry) in told.sorted(by: { $0.key < $1.key }) where entry.next <= now {
            if entry.count == 0 {
                told[text] = nil
                continue
            }
            lines.append(entry.count == 1 ? text : "\(text) (\(entry.count) times)")
            told[text] = Told(count: 0, next: now + Self.interval)
        }
        return lines
    }
}
