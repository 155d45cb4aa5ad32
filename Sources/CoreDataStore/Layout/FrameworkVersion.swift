/// The Core Data version a store is written as (`NSPersistenceFrameworkVersion`).
///
/// It decides how indexes are named, how uniqueness is kept and which metadata keys there are.
package struct FrameworkVersion: Hashable, Sendable, Codable, Comparable {
    package let number: Int

    package init(_ number: Int) { self.number = number }

    /// The newest version whose stores the layout was checked against; what we write
    /// unless the source or a template store is newer.
    package static let newestVerified = FrameworkVersion(1522)

    /// Whether indexes come from fetch indexes (847 and later) and not from the old marks
    /// (754 and earlier); nothing between is known.
    package var hasFetchIndexes: Bool { number >= 847 }
    /// Whether join tables have a second index (640 and later).
    package var hasJoinIndexes: Bool { number >= 640 }
    /// Whether uniqueness is a table constraint (637 and earlier).
    package var hasUniquenessInTable: Bool { number <= 637 }
    /// Whether the store holds its model (637 and later).
    package var hasModelCache: Bool { number >= 637 }
    /// Whether metadata hold `NSStoreModelVersionHashesDigest` (973 and later).
    package var hasHashesDigest: Bool { number >= 973 }
    /// Whether metadata hold `NSStoreModelVersionChecksumKey` (1321 and later).
    package var hasChecksum: Bool { number >= 1321 }

    package static func < (left: FrameworkVersion, right: FrameworkVersion) -> Bool {
        left.number < right.number
    }
}
