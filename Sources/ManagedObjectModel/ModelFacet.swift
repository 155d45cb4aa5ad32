/// One thing that a model says about itself, an entity or a property, in words.
struct ModelFacet {
    let aspect: ModelDiff.Aspect
    /// nil where the model says nothing about it.
    let words: String?
    /// Whether the entity's version hash depends on it.
    let isHashed: Bool

    init(_ aspect: ModelDiff.Aspect, _ words: String?, isHashed: Bool = false) {
        self.aspect = aspect
        self.words = words
        self.isHashed = isHashed
    }
}

/// All facets in the order in which they are compared and named.
extension Attribute {
    var facets: [ModelFacet] {
        // The hash of a derived attribute is made from nothing but the derivation.
        let isBase = derivation == nil
        return [
            ModelFacet(.type, type.word, isHashed: isBase),
            ModelFacet(.optional, ModelFacet.words(isOptional), isHashed: isBase),
            ModelFacet(.transient, ModelFacet.words(isTransient), isHashed: true),
            ModelFacet(.readOnly, ModelFacet.words(isReadOnly), isHashed: isBase),
            ModelFacet(.derivation, derivation?.words, isHashed: true),
            ModelFacet(
                .externalStorage, ModelFacet.words(allowsExternalBinaryDataStorage),
                isHashed: isBase),
            ModelFacet(
                .historyPreservation, ModelFacet.words(preservesValueInHistoryOnDeletion),
                isHashed: isBase),
            ModelFacet(.elements, ModelFacet.words(elements.map(\.elementWords)), isHashed: true),
            ModelFacet(.versionHashModifier, versionHashModifier, isHashed: isBase),
            ModelFacet(.defaultValue, defaultValue?.words),
            ModelFacet(.indexed, ModelFacet.words(isIndexed)),
            ModelFacet(.spotlight, ModelFacet.words(isIndexedBySpotlight)),
            ModelFacet(.cloudEncryption, ModelFacet.words(allowsCloudEncryption)),
            ModelFacet(.valueTransformer, valueTransformerName),
            ModelFacet(.valueClass, valueClassName),
            ModelFacet(.userInfo, ModelFacet.words(userInfo)),
            ModelFacet(.renamingIdentifier, renamingIdentifier ?? name),
        ]
    }

    /// An element of a composite with its own elements in brackets.
    var elementWords: String {
        let inner =
            elements.isEmpty ? "" : " (\(elements.map(\.elementWords).joined(separator: ", ")))"
        return "\(name) \(type.word)\(isOptional ? " optional" : "")\(inner)"
    }
}

extension Relationship {
    var facets: [ModelFacet] {
        [
            ModelFacet(.destination, destination, isHashed: true),
            ModelFacet(.inverse, inverse, isHashed: true),
            ModelFacet(.maximumCount, "\(maximumCount)", isHashed: true),
            ModelFacet(.minimumCount, "\(minimumCount)", isHashed: true),
            ModelFacet(.ordered, ModelFacet.words(isOrdered), isHashed: true),
            ModelFacet(.optional, ModelFacet.words(isOptional), isHashed: true),
            ModelFacet(.transient, ModelFacet.words(isTransient), isHashed: true),
            ModelFacet(.readOnly, ModelFacet.words(isReadOnly), isHashed: true),
            ModelFacet(.versionHashModifier, versionHashModifier, isHashed: true),
            ModelFacet(.deleteRule, deleteRule.word),
            ModelFacet(.spotlight, ModelFacet.words(isIndexedBySpotlight)),
            ModelFacet(.userInfo, ModelFacet.words(userInfo)),
            ModelFacet(.renamingIdentifier, renamingIdentifier ?? name),
        ]
    }
}

extension Entity {
    var facets: [ModelFacet] {
        [
            ModelFacet(.parent, parent, isHashed: true),
            ModelFacet(.abstract, ModelFacet.words(isAbstract), isHashed: true),
            ModelFacet(
                .uniqueness, ModelFacet.words(uniquenessConstraints.map(ModelFacet.list).sorted()),
                isHashed: true),
            ModelFacet(.versionHashModifier, versionHashModifier, isHashed: true),
            ModelFacet(.className, className),
            ModelFacet(
                .compoundIndexes, ModelFacet.words(compoundIndexes.map(ModelFacet.list).sorted())),
            ModelFacet(.userInfo, ModelFacet.words(userInfo)),
            ModelFacet(.renamingIdentifier, renamingIdentifier ?? name),
        ]
    }
}

extension ModelFacet {
    static func words(_ truth: Bool) -> String { truth ? "yes" : "no" }

    /// nil where there is nothing to list.
    static func words(_ list: [String]) -> String? {
        list.isEmpty ? nil : list.joined(separator: "; ")
    }

    static func words(_ entries: [String: String]) -> String? {
        words(entries.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)" })
    }

    static func list(_ names: [String]) -> String { names.joined(separator: ", ") }
}

extension Derivation {
    /// The expression with its filter.
    var words: String { filter.map { "\(expression) where \($0)" } ?? expression }
}
