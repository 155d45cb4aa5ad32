package import MappingModel

/// What versions in between rename and a migration in one step loses, for every older version of
/// a bundle.
package struct IntermediateRenames: Hashable, Sendable, Codable {
    /// By the digest of a version's hashes (`VersionHashes.digest`) and by what that version calls
    /// it.
    private let renames: [String: [String: IntermediateRename]]

    /// - Parameter renames: by digest, then by name; empty where nothing is known.
    package init(_ renames: [String: [String: IntermediateRename]] = [:]) {
        self.renames = renames.filter { !$0.value.isEmpty }
    }

    /// By what the version with a digest calls it: `Entity.property`, or `Entity`.
    package subscript(digest: String) -> [String: IntermediateRename] { renames[digest] ?? [:] }
}

// Requests and plans of versions that did not look for them have none.
extension KeyedDecodingContainer {
    func decode(
        _ type: IntermediateRenames.Type, forKey key: Key
    ) throws -> IntermediateRenames {
        try decodeIfPresent(type, forKey: key) ?? IntermediateRenames()
    }

    func decode(
        _ type: [String: IntermediateRename].Type, forKey key: Key
    ) throws -> [String: IntermediateRename] {
        try decodeIfPresent(type, forKey: key) ?? [:]
    }
}
