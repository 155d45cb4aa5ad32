/// What is said about an item in one line: the type first, then whatever is not usual.
extension Attribute {
    /// Such as `Integer 16, optional, default 0`.
    package var words: String {
        var parts = [type.word]
        if isOptional { parts.append("optional") }
        if isTransient { parts.append("transient") }
        if isReadOnly { parts.append("read-only") }
        if isIndexed { parts.append("indexed") }
        if let defaultValue { parts.append("default \(defaultValue.words)") }
        if let derivation { parts.append("derived from \(derivation.words)") }
        if allowsExternalBinaryDataStorage { parts.append("external storage") }
        if preservesValueInHistoryOnDeletion { parts.append("kept in history") }
        if allowsCloudEncryption { parts.append("encrypted in the cloud") }
        if isIndexedBySpotlight { parts.append("in Spotlight") }
        if let valueTransformerName { parts.append("transformer \(valueTransformerName)") }
        if let valueClassName, valueClassName != type.valueClassName {
            parts.append("class \(valueClassName)")
        }
        if !elements.isEmpty {
            parts.append("elements (\(elements.map(\.elementWords).joined(separator: ", ")))")
        }
        if let versionHashModifier { parts.append("hash modifier \(versionHashModifier)") }
        if let renamingIdentifier, renamingIdentifier != name {
            parts.append("renamed from \(renamingIdentifier)")
        }
        return parts.joined(separator: ", ")
    }
}

extension Relationship {
    /// Such as `to-many Person.cars, ordered, optional, cascade`.
    package var words: String {
        let target = inverse.map { "\(destination).\($0)" } ?? "\(destination), no inverse"
        var parts = ["\(isToMany ? "to-many" : "to-one") \(target)"]
        if isOrdered { parts.append("ordered") }
        if isOptional { parts.append("optional") }
        if isTransient { parts.append("transient") }
        if isReadOnly { parts.append("read-only") }
        if minimumCount != 0 { parts.append("at least \(minimumCount)") }
        if maximumCount > 1 { parts.append("at most \(maximumCount)") }
        parts.append(deleteRule.word.lowercased())
        if isIndexedBySpotlight { parts.append("in Spotlight") }
        if let versionHashModifier { parts.append("hash modifier \(versionHashModifier)") }
        if let renamingIdentifier, renamingIdentifier != name {
            parts.append("renamed from \(renamingIdentifier)")
        }
        return parts.joined(separator: ", ")
    }
}

extension FetchIndex {
    /// Such as `date descending, name where #date <> nil`.
    package var words: String {
        let list = elements.map(\.words).joined(separator: ", ")
        return partialPredicate.map { "\(list) where \($0.text)" } ?? list
    }
}

extension FetchIndexElement {
    fileprivate var words: String {
        let name =
            switch target {
            case .property(let name): name
            case .entity: "(entity)"
            case .objectID: "(object ID)"
            case .expression(let text): "(\(text))"
            }
        return name + (type == .rTree ? " R-tree" : "") + (isAscending ? "" : " descending")
    }
}
