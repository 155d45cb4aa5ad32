/// What the versions of the destination's bundle are called.
package struct VersionNames: Hashable, Sendable, Codable {
    /// By the digests of their hashes (`VersionHashes.digest`).
    private let names: [String: String]

    /// - Parameter names: by digest; empty where no bundle is known.
    package init(_ names: [String: String] = [:]) { self.names = names }

    /// The name of the version with a digest; nil for one that the bundle does not have.
    package subscript(digest: String) -> String? { names[digest] }
}
