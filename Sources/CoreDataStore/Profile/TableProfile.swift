/// How the bytes of a table are spread over its keys: what cutting it at equal bytes needs.
package struct TableProfile: Hashable, Sendable, Codable {
    /// A run of neighbouring leaf pages.
    package struct Bucket: Hashable, Sendable, Codable {
        /// The highest key of the run; nil for the last run of the table.
        package let upper: Int64?
        /// Bytes of the run, overflow pages included; estimated.
        package let bytes: Int64
        /// Rows of the run; estimated.
        package let rows: Int64

        package init(upper: Int64?, bytes: Int64, rows: Int64) {
            self.upper = upper
            self.bytes = bytes
            self.rows = rows
        }
    }

    /// By ascending keys; empty for a table without rows.
    package let buckets: [Bucket]

    package init(buckets: [Bucket]) { self.buckets = buckets }

    /// Estimated bytes of the whole table.
    package var bytes: Int64 { buckets.reduce(0) { $0 + $1.bytes } }

    /// Ranges of keys that hold about equal bytes, none more than the limit where a run of
    /// leaves allows it; together they hold every key.
    ///
    /// - Parameter limit: bytes of a range; at least 1 is assumed.
    /// - Returns: at least one range, by ascending keys, each with its estimated bytes.
    package func ranges(limit: Int64) -> [(range: KeyInterval, bytes: Int64)] {
        let total = bytes
        let parts = max(1, Int((total + max(1, limit) - 1) / max(1, limit)))
        guard parts > 1 else { return [(KeyInterval(), total)] }
        let share = max(1, total / Int64(parts))
        var result: [(KeyInterval, Int64)] = []
        var lower: Int64?
        var held: Int64 = 0
        for bucket in buckets {
            held += bucket.bytes
            // Keys of a damaged tree may be anything; a cut needs one above the last cut.
            guard held >= share, let upper = bucket.upper, upper < PrimaryKeys.keyLimit,
                upper >= lower ?? 0
            else { continue }
            result.append((KeyInterval(lower: lower, upper: upper), held))
            lower = upper + 1
            held = 0
        }
        result.append((KeyInterval(lower: lower), held))
        return result
    }
}

/// Keys from one to another, both included; nil is open.
package struct KeyInterval: Hashable, Sendable {
    package var lower: Int64?
    package var upper: Int64?

    package init(lower: Int64? = nil, upper: Int64? = nil) {
        self.lower = lower
        self.upper = upper
    }
}
