/// What is worth a line of connections that were refused: each kind at once, and then once a
/// minute how often it came again.
struct RefusalLogLimiter {
    private struct Told {
        /// Times that were not told yet.
        var count = 0
        /// When it may be told.
        var next: Int64 = 0
    }

    private var told: [PeerRefusal: Told] = [:]

    /// Milliseconds between two lines of one kind.
    static let interval: Int64 = 60_000
    /// Kinds that are counted separately; more come from a program that tries many keys.
    static let limit = 256

    /// A connection was refused.
    mutating func add(_ refusal: PeerRefusal) {
        let isPlaceLeft = told[refusal] != nil || told.count < Self.limit
        told[isPlaceLeft ? refusal : .others, default: Told()].count += 1
    }

    /// The notes that are due, in the order of their texts.
    mutating func due(at now: Int64) -> [CoordinatorNote] {
        var notes: [CoordinatorNote] = []
        for (refusal, entry) in told where entry.next <= now {
            if entry.count == 0 {
                told[refusal] = nil
                continue
            }
            notes.append(.refused(refusal, times: entry.count))
            told[refusal] = Told(count: 0, next: now + Self.interval)
        }
        return notes.sorted { "\($0)" < "\($1)" }
    }
}
