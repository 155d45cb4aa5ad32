import Crypto
import Foundation

/// The version hashes of a model (version-hash page): Core Data opens a store only with a model
/// whose hashes are equal to those in the store's metadata.
package struct VersionHashes: Hashable, Sendable {
    /// 32 bytes for every entity, abstract ones included.
    package let entities: [String: [UInt8]]
    /// Entities whose hash rests on rules that no known store confirms, with the reasons.
    ///
    /// Empty for hashes that were read rather than computed.
    package let unconfirmed: [String: [String]]

    /// Computes the hashes of a model.
    ///
    /// - Complexity: O(n log n) in the properties, inherited ones counted for each entity.
    package init(_ model: Model) {
        let own = model.entities.mapValues { entity in
            Self.storedProperties(entity).map { property in
                (name: property.name, hash: property.hash(in: model, owner: entity.name))
            }
        }
        var hashes: [String: [UInt8]] = [:]
        // Parents come before their children, whose hashes build on them.
        for entity in model.numberedEntities {
            let properties = model.ancestry(of: entity.name).flatMap { own[$0.name] ?? [] }
                .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            var digest = SHA256()
            digest.update(text: entity.name)
            digest.update(data: [entity.isAbstract ? 1 : 0])
            if let parent = entity.parent.flatMap({ hashes[$0] }) { digest.update(data: parent) }
            for property in properties { digest.update(data: property.hash) }
            if let modifier = entity.versionHashModifier { digest.update(text: modifier) }
            let constraints = entity.uniquenessConstraints.map { $0.joined(separator: ".") }
            for constraint in constraints.sorted() { digest.update(text: constraint) }
            hashes[entity.name] = Array(digest.finalize())
        }
        entities = hashes
        unconfirmed = Self.unconfirmedReasons(model)
    }

    /// Hashes as a store or a compiled model names them; they take precedence over computed ones.
    package init(read entities: [String: [UInt8]]) {
        self.entities = entities
        unconfirmed = [:]
    }

    /// `NSStoreModelVersionHashesDigest`: SHA-512 over names and hashes, in base64.
    package var digest: String {
        var digest = SHA512()
        for (name, hash) in sorted {
            digest.update(text: name)
            digest.update(data: hash)
        }
        return Data(digest.finalize()).base64EncodedString()
    }

    /// `NSStoreModelVersionChecksumKey`: SHA-256 over the hashes, in base64.
    package var checksum: String {
        var digest = SHA256()
        for (_, hash) in sorted { digest.update(data: hash) }
        return Data(digest.finalize()).base64EncodedString()
    }

    /// Names of the entities that only one side has or whose hashes differ, sorted.
    package func differences(from other: [String: [UInt8]]) -> [String] {
        Set(entities.keys).union(other.keys).filter { entities[$0] != other[$0] }.sorted()
    }

    private var sorted: [(key: String, value: [UInt8])] {
        entities.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    private static func storedProperties(_ entity: Entity) -> [any VersionHashed] {
        let attributes: [any VersionHashed] = entity.attributes.filter { !$0.isTransient }
        return attributes + entity.relationships.filter { !$0.isTransient }
    }
}

/// Written as `{"entities": {NAME: base64}, "digest": …, "checksum": …, "unconfirmed": {…}}`.
extension VersionHashes: Codable {
    private enum CodingKeys: String, CodingKey {
        case entities, digest, checksum, unconfirmed
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        entities = try values.decode([String: Data].self, forKey: .entities).mapValues {
            [UInt8]($0)
        }
        unconfirmed =
            try values.decodeIfPresent([String: [String]].self, forKey: .unconfirmed) ?? [:]
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        let texts = entities.mapValues { Data($0).base64EncodedString() }
        try values.encode(texts, forKey: .entities)
        try values.encode(digest, forKey: .digest)
        try values.encode(checksum, forKey: .checksum)
        if !unconfirmed.isEmpty { try values.encode(unconfirmed, forKey: .unconfirmed) }
    }
}

/// A property with a hash of its own.
private protocol VersionHashed {
    var name: String { get }
    func hash(in model: Model, owner: String) -> [UInt8]
}

extension Attribute: VersionHashed {
    func hash(in model: Model, owner: String) -> [UInt8] { versionHash }

    private var versionHash: [UInt8] {
        var digest = SHA256()
        if let derivation {
            digest.update(text: derivation.hashedExpression)
            if let filter = derivation.filter { digest.update(text: filter) }
        } else if type == .composite {
            let hashes = elements.map(\.versionHash).sorted { $0.lexicographicallyPrecedes($1) }
            for hash in hashes { digest.update(data: hash) }
        } else {
            digest.update(data: base)
            digest.update(integer: UInt32(clamping: type.rawValue))
            if allowsExternalBinaryDataStorage { digest.update(data: [1]) }
            if preservesValueInHistoryOnDeletion { digest.update(data: [1]) }
        }
        return Array(digest.finalize())
    }

    private var base: [UInt8] {
        propertyBase(name, isOptional, isTransient, isReadOnly, versionHashModifier)
    }
}

extension Relationship: VersionHashed {
    func hash(in model: Model, owner: String) -> [UInt8] {
        var digest = SHA256()
        digest.update(
            data: propertyBase(name, isOptional, isTransient, isReadOnly, versionHashModifier))
        digest.update(text: destination)
        // An inverse of the same name in a kind of the same entity is the relationship itself.
        let isOwnInverse = inverse == name && model.isKind(destination, of: owner)
        if let inverse, !isOwnInverse { digest.update(text: inverse) }
        digest.update(integer: maximumCount)
        digest.update(integer: minimumCount)
        if isOrdered { digest.update(integer: UInt16(1)) }
        return Array(digest.finalize())
    }
}

extension Derivation {
    /// The expression as it is hashed: `pages.@count` as `count:(pages)`.
    var hashedExpression: String {
        let suffix = ".@count"
        guard expression.hasSuffix(suffix) else { return expression }
        return "count:(\(expression.dropLast(suffix.count)))"
    }
}

private func propertyBase(
    _ name: String, _ isOptional: Bool, _ isTransient: Bool, _ isReadOnly: Bool, _ modifier: String?
) -> [UInt8] {
    var digest = SHA256()
    digest.update(text: name)
    let flags: UInt16 = (isOptional ? 1 : 0) | (isTransient ? 2 : 0) | (isReadOnly ? 4 : 0)
    digest.update(integer: flags)
    if let modifier { digest.update(text: modifier) }
    return Array(digest.finalize())
}

extension HashFunction {
    /// Adds the UTF-8 bytes of a text, without length or terminator.
    fileprivate mutating func update(text: String) { update(data: Array(text.utf8)) }

    /// Adds an integer, little-endian.
    fileprivate mutating func update(integer: some FixedWidthInteger) {
        withUnsafeBytes(of: integer.littleEndian) { update(bufferPointer: $0) }
    }
}
