/// A file that an attempt delivers.
package struct DeliveredFile: Hashable, Sendable, Codable {
    package let file: FileReference
    /// Its length in bytes.
    package let bytes: Int64
    /// SHA-256 of its content, in hexadecimal; or `ownDigest`, or `unreadDigest`.
    package let digest: String

    package init(file: FileReference, bytes: Int64, digest: String) {
        self.file = file
        self.bytes = bytes
        self.digest = digest
    }

    /// Stands for the digest of a file that a thread of the coordinator's own process wrote.
    ///
    /// Such a file does not travel: the process knows the file itself, and inspects it once it was
    /// restarted. A file of a worker is never accepted with it.
    package static let ownDigest = "own"

    /// Stands for the digest of a result that the coordinator validates whole.
    ///
    /// It is accepted for no other file.
    package static let unreadDigest = "unread"
}

/// A sum mod 2¹²⁸ over hashes of cells or links, with the number of terms.
///
/// Sums add up over disjoint parts in any order, which is what lets chunks be summed apart.
package struct ContentSum: Hashable, Sendable, Codable {
    package var count: Int64
    package var high: UInt64
    package var low: UInt64

    package init(count: Int64 = 0, high: UInt64 = 0, low: UInt64 = 0) {
        self.count = count
        self.high = high
        self.low = low
    }

    /// Adds one hash.
    @inline(__always)
    package mutating func add(high addedHigh: UInt64, low addedLow: UInt64) {
        let (sum, carry) = low.addingReportingOverflow(addedLow)
        low = sum
        high = high &+ addedHigh &+ (carry ? 1 : 0)
        count &+= 1
    }

    /// Takes a part away that was added before.
    package mutating func subtract(_ other: ContentSum) {
        let (difference, borrow) = low.subtractingReportingOverflow(other.low)
        low = difference
        high = high &- other.high &- (borrow ? 1 : 0)
        count &-= other.count
    }

    /// Adds another part's sum.
    package mutating func add(_ other: ContentSum) {
        let (sum, carry) = low.addingReportingOverflow(other.low)
        low = sum
        high = high &+ other.high &+ (carry ? 1 : 0)
        count &+= other.count
    }
}

/// What an attempt delivers: the proof on which a job is accepted.
package struct Receipt: Hashable, Sendable, Codable {
    package let run: String
    package let store: Int
    package let work: Work
    package let attempt: String
    package let epoch: Int
    package let files: [DeliveredFile]
    /// Rows written or summed.
    package let rows: Int64
    /// Sums by what they are over, such as `Person.name`; empty for jobs that write.
    package let sums: [String: ContentSum]
    /// Further counts by name, such as dropped links.
    package let counts: [String: Int64]

    package init(
        job: Job, attempt: Attempt, files: [DeliveredFile] = [], rows: Int64,
        sums: [String: ContentSum] = [:], counts: [String: Int64] = [:]
    ) {
        run = job.run
        store = job.store
        work = job.work
        self.attempt = attempt.id
        epoch = attempt.epoch
        self.files = files
        self.rows = rows
        self.sums = sums
        self.counts = counts
    }

    /// Whether a thread of the coordinator's own process made what is delivered.
    package var isOwn: Bool { files.contains { $0.digest == DeliveredFile.ownDigest } }

    /// The count by which a receipt says that its store needs nothing; it delivers no file then.
    package static let unchanged = "unchanged"

    /// Whether the store is of the destination's version already.
    package var saysUnchanged: Bool {
        work == .whole && files.isEmpty && counts[Self.unchanged] != nil
    }

    /// A receipt as it arrives, without its job at hand.
    package init(
        run: String, store: Int, work: Work, attempt: String, epoch: Int, files: [DeliveredFile],
        rows: Int64, sums: [String: ContentSum], counts: [String: Int64]
    ) {
        self.run = run
        self.store = store
        self.work = work
        self.attempt = attempt
        self.epoch = epoch
        self.files = files
        self.rows = rows
        self.sums = sums
        self.counts = counts
    }
}
