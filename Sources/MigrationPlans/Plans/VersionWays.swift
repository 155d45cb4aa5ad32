package import ManagedObjectModel

/// Through which versions of the destination's bundle stores go to the destination.
package struct VersionWays: Hashable, Sendable, Codable {
    /// A version in between.
    package struct Version: Hashable, Sendable, Codable {
        package let name: String
        package let model: Model
        /// Its version hashes by entity, as its file has them.
        package let hashes: [String: [UInt8]]
        /// Of the step that gives it; nil where none are given.
        package let directions: StepDirections?

        package init(
            name: String, model: Model, hashes: [String: [UInt8]],
            directions: StepDirections? = nil
        ) {
            self.name = name
            self.model = model
            self.hashes = hashes
            self.directions = directions
        }
    }

    private let versions: [Version]
    /// Places among the versions, in the order of the steps, by the digest of the stores' version.
    private let ways: [String: [Int]]
    /// The way of stores whose version the bundle does not have.
    private let otherwise: [Int]
    /// The ways that were compared, in words, by the digest of the stores' version.
    private let compared: [String: [String]]
    /// Of the step to the destination; nil where none are given.
    package let lastDirections: StepDirections?

    /// - Parameters:
    ///   - versions: that some way goes through.
    ///   - ways: places among them by the digest of a version's hashes (`VersionHashes.digest`);
    ///     versions that are missing go the way of those that the bundle does not have.
    ///   - otherwise: the way of those.
    ///   - compared: what a plan says of the ways that were compared, by digest.
    ///   - lastDirections: of the step to the destination.
    package init(
        _ versions: [Version] = [], ways: [String: [Int]] = [:], otherwise: [Int] = [],
        compared: [String: [String]] = [:], lastDirections: StepDirections? = nil
    ) {
        self.versions = versions
        self.ways = ways
        self.otherwise = otherwise
        self.compared = compared
        self.lastDirections = lastDirections
    }

    /// Whether every store goes straight, and nothing is said of that step.
    package var isEmpty: Bool { versions.isEmpty && lastDirections == nil }

    /// What a file of steps says, step by step.
    package var directions: [StepDirections] {
        (versions.map(\.directions) + [lastDirections]).compactMap { $0 }
    }

    /// The programs that run between steps.
    package var programs: [StepProgram] { directions.flatMap(\.programs) }

    /// The most stores that a way writes: one of each version that it goes through, and for
    /// programs one of the stores' own version and one of the destination.
    package var mostWritten: Int {
        ((ways.values.map(\.count) + [otherwise.count]).max() ?? 0) + (programs.isEmpty ? 0 : 2)
    }

    /// What was compared for stores of a version with a digest, in words.
    package func compared(for digest: String) -> [String] { compared[digest] ?? [] }

    /// The versions between one with a digest and the destination, in their order; none where
    /// stores go straight.
    package subscript(digest: String) -> [Version] {
        (ways[digest] ?? otherwise).filter(versions.indices.contains).map { versions[$0] }
    }
}
