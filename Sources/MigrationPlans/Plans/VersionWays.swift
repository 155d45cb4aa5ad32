package import ManagedObjectModel

/// Through which versions of the destination's bundle stores go to the destination.
package struct VersionWays: Hashable, Sendable, Codable {
    /// A version in between.
    package struct Version: Hashable, Sendable, Codable {
        package let name: String
        package let model: Model
        /// Its version hashes by entity, as its file has them.
        package let hashes: [String: [UInt8]]

        package init(name: String, model: Model, hashes: [String: [UInt8]]) {
            self.name = name
            self.model = model
            self.hashes = hashes
        }
    }

    private let versions: [Version]
    /// Places among the versions, in the order of the steps, by the digest of the stores' version.
    private let ways: [String: [Int]]
    /// The way of stores whose version the bundle does not have.
    private let otherwise: [Int]
    /// The ways that were compared, in words, by the digest of the stores' version.
    private let compared: [String: [String]]

    /// - Parameters:
    ///   - versions: that some way goes through.
    ///   - ways: places among them by the digest of a version's hashes (`VersionHashes.digest`);
    ///     versions that are missing go the way of those that the bundle does not have.
    ///   - otherwise: the way of those.
    ///   - compared: what a plan says of the ways that were compared, by digest.
    package init(
        _ versions: [Version] = [], ways: [String: [Int]] = [:], otherwise: [Int] = [],
        compared: [String: [String]] = [:]
    ) {
        self.versions = versions
        self.ways = ways
        self.otherwise = otherwise
        self.compared = compared
    }

    /// Whether every store goes straight.
    package var isEmpty: Bool { versions.isEmpty }

    /// The most versions that a way goes through.
    package var longest: Int { (ways.values.map(\.count) + [otherwise.count]).max() ?? 0 }

    /// What was compared for stores of a version with a digest, in words.
    package func compared(for digest: String) -> [String] { compared[digest] ?? [] }

    /// The versions between one with a digest and the destination, in their order; none where
    /// stores go straight.
    package subscript(digest: String) -> [Version] {
        (ways[digest] ?? otherwise).filter(versions.indices.contains).map { versions[$0] }
    }
}
