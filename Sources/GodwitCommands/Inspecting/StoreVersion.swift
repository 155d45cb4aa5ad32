import CoreDataStore
import DurableFiles
import ManagedObjectModel

/// Which version of its model a store is of, as its metadata say.
struct StoreVersion: Hashable, Sendable, Codable {
    var versionIdentifiers: [String]
    /// `NSPersistenceFrameworkVersion`.
    var framework: Int
    /// Of the stored version hashes, in base64.
    var digest: String

    init(_ metadata: StoreMetadata) {
        versionIdentifiers = metadata.versionIdentifiers
        framework = metadata.framework.number
        digest = VersionHashes(read: metadata.versionHashes).digest
    }

    /// The version in a line; of the digest as much as tells versions apart.
    var text: String {
        let identifiers = versionIdentifiers.filter { !$0.isEmpty }
        let named = identifiers.isEmpty ? "" : "model \(identifiers.joined(separator: ", ")), "
        return "\(named)framework \(framework), digest \(digest.prefix(12))…"
    }
}

/// The versions of both stores of a verification.
struct VerifiedVersions: Hashable, Sendable {
    let source: StoreVersion
    let destination: StoreVersion
    /// Why an equal result would prove little, in words; nil where it proves something.
    let warning: String?

    /// Compares the versions of two open stores.
    ///
    /// - Parameters:
    ///   - source: the original.
    ///   - destination: the result of its migration.
    ///   - isDestinationNamed: whether the user said with `--to` what the result should be.
    init(source: SourceStore, destination: SourceStore, isDestinationNamed: Bool) {
        self.source = StoreVersion(source.metadata)
        self.destination = StoreVersion(destination.metadata)
        let (first, second) = (source.fingerprint.main, destination.fingerprint.main)
        if first.isFile(second) {
            warning =
                "both paths lead to the same file, \(source.path): the comparison proves nothing"
        } else if !isDestinationNamed,
            source.metadata.versionHashes == destination.metadata.versionHashes
        {
            warning =
                "both stores have the same model version, so Godwit compares them as a rewrite. If "
                + "you expected another version, give it with --to. Use --to self to confirm the "
                + "rewrite"
        } else {
            warning = nil
        }
    }
}
