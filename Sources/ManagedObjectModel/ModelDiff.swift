/// What differs between two models, in an order that depends on nothing but the models.
///
/// Its JSON is `{"changes": [{"kind", "entity", "property", "index", "aspect", "from", "to",
/// "changesVersionHash", "followsRenaming"}, …]}`; a key without a value is left out.
package struct ModelDiff: Hashable, Sendable, Codable {
    /// Changes of the model itself, then by entity as numbered: the entity, its properties by
    /// name, its indexes by name.
    package let changes: [Change]

    /// Compares two models; items are matched as `ModelMatch` says.
    ///
    /// - Complexity: O(n log n).
    package init(from source: Model, to destination: Model) {
        var collector = ModelDiffCollector(source, destination)
        collector.collect()
        changes = collector.changes
    }

    /// Whether the models are equal but for what no change names.
    package var isEmpty: Bool { changes.isEmpty }

    /// One line for each change, such as `~ Conversation.localTimeout: renamed from timeout`.
    package var lines: [String] { changes.map(\.line) }

    /// What happened.
    package enum Kind: String, Hashable, Sendable, Codable {
        case added, removed, renamed, changed
    }

    /// What a changed item says otherwise than before.
    package enum Aspect: String, Hashable, Sendable, Codable {
        case abstract
        case className = "class"
        case cloudEncryption = "cloud encryption"
        case compoundIndexes = "compound indexes"
        case configuration
        case defaultValue = "default"
        case deleteRule = "delete rule"
        case derivation
        case destination
        case elements
        case externalStorage = "external storage"
        case fetchedProperty = "fetched property"
        case historyPreservation = "kept in history"
        case indexed
        case inverse
        case maximumCount = "maximum count"
        case minimumCount = "minimum count"
        case optional
        case ordered
        case parent
        case readOnly = "read-only"
        case renamingIdentifier = "renaming identifier"
        case spotlight = "Spotlight"
        case transient
        case type
        case uniqueness
        case userInfo = "user info"
        case valueClass = "value class"
        case valueTransformer = "value transformer"
        case versionHashModifier = "version hash modifier"
        case versionIdentifiers = "version identifiers"
    }

    /// One difference.
    package struct Change: Hashable, Sendable, Codable {
        package var kind: Kind
        /// Destination entity, or the source entity where it was removed; nil for the model.
        package var entity: String?
        /// Name in the destination, or in the source where it was removed.
        package var property: String?
        package var index: String?
        /// What changed; nil for items that were added, removed or renamed as a whole.
        package var aspect: Aspect?
        /// Words of the source; nil where there are none.
        package var from: String?
        /// Words of the destination; nil where there are none.
        package var to: String?
        /// Whether the version hash of an entity changes by it, so that a store needs migration.
        package var changesVersionHash: Bool
        /// Whether it says nothing but that another item was renamed.
        package var followsRenaming = false

        /// The change in one line.
        package var line: String {
            var text = "\(kind.sign) \(place)"
            switch kind {
            case .added, .removed:
                if let words = to ?? from { text += ": \(words)" }
            case .renamed: text += ": renamed from \(from ?? "")"
            case .changed:
                text += ": \(aspect?.rawValue ?? "index") \(from ?? "none") -> \(to ?? "none")"
            }
            if followsRenaming { text += " (follows the renaming)" }
            if !changesVersionHash { text += " [no version hash changes]" }
            return text
        }

        private var place: String {
            guard let entity else {
                return kind == .changed ? "model" : "model: \(aspect?.rawValue ?? "item")"
            }
            if let property { return "\(entity).\(property)" }
            if let index { return "\(entity)[index \(index)]" }
            return entity
        }
    }
}

extension ModelDiff.Kind {
    /// The sign at the start of a line.
    fileprivate var sign: String {
        switch self {
        case .added: "+"
        case .removed: "-"
        case .renamed, .changed: "~"
        }
    }
}
