/// Versions of an app's model that are newer than the destination, so that a store of one of them
/// must not be migrated to it unseen.
package struct NewerVersions: Hashable, Sendable, Codable {
    /// Their names by the digests of their hashes (`VersionHashes.digest`).
    private let names: [String: String]

    /// - Parameter names: by digest; empty where no version is newer, or none is refused.
    package init(_ names: [String: String] = [:]) { self.names = names }

    /// Whether there is none.
    package var isEmpty: Bool { names.isEmpty }

    /// The name of the version with a digest, where that is newer.
    package subscript(digest: String) -> String? { names[digest] }
}
