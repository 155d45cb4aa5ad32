/// Deterministic scatter: equal seeds and words give equal numbers in every process.
package struct Jitter: Hashable, Sendable {
    package let seed: UInt64

    package init(seed: UInt64) { self.seed = seed }

    /// A waiting time: the first one doubled with each try up to the longest, plus or minus a
    /// quarter.
    ///
    /// - Parameters:
    ///   - backoff: the bounds.
    ///   - tries: how often it was tried; 1 gives the first time.
    ///   - word: who waits.
    /// - Returns: milliseconds, at least 1.
    package func wait(_ backoff: Backoff, tries: Int, for word: String) -> Int64 {
        let first = max(1, backoff.first)
        let doublings = min(max(0, tries - 1), 30)
        let (product, overflows) = first.multipliedReportingOverflow(by: Int64(1) << doublings)
        let base = min(overflows ? Int64.max : product, max(1, backoff.longest))
        let spread = base / 4
        guard spread > 0 else { return base }
        let random = number(word, UInt64(max(0, tries)))
        return base - spread + Int64(random % UInt64(2 * spread + 1))
    }

    /// FNV-1a over seed, word and counter, mixed by SplitMix64's last step.
    private func number(_ word: String, _ counter: UInt64) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ seed
        for byte in word.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        hash = (hash ^ counter) &* 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
        return hash ^ (hash >> 31)
    }
}
