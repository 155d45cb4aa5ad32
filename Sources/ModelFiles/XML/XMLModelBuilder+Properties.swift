import ManagedObjectModel

/// Attributes and relationships.
extension XMLModelBuilder {
    /// Composites that may be nested in each other.
    private static var compositeDepthLimit: Int { 8 }

    /// One attribute of an entity, or of a composite at a depth above 0.
    mutating func attribute(
        _ element: DocumentElement, of owner: String, depth: Int
    ) throws(ModelError) -> Attribute {
        let name = try element.required("name")
        let type = try attributeType(element, "\(owner).\(name)")
        var attribute = Attribute(name: name, type: type)
        attribute.isOptional = try element.flag("optional")
        attribute.isTransient = try element.flag("transient")
        attribute.isIndexed = try element.flag("indexed")
        attribute.isIndexedBySpotlight = try element.flag("spotlightIndexingEnabled")
        attribute.allowsExternalBinaryDataStorage = try element.flag(
            "allowsExternalBinaryDataStorage")
        attribute.preservesValueInHistoryOnDeletion = try element.flag("preserveAfterDeletion")
        attribute.allowsCloudEncryption = try element.flag("allowsCloudEncryption")
        attribute.valueTransformerName = element.text("valueTransformerName")
        attribute.valueClassName = element.text("customClassName") ?? type.valueClassName
        attribute.versionHashModifier = element.text("versionHashModifier")
        attribute.renamingIdentifier = element.text("elementID")
        attribute.userInfo = try userInfo(of: element)
        attribute.defaultValue = try defaultValue(element, type, "\(owner).\(name)")
        if let expression = element.text("derivationExpression") {
            attribute.derivation = Derivation(expression: expression)
            // As in every archive: only the store computes it.
            attribute.isReadOnly = true
        } else if try element.flag("derived") {
            throw .malformed("attribute \(owner).\(name) is derived from no expression")
        }
        if type == .composite {
            attribute.elements = try elements(element, "\(owner).\(name)", depth: depth)
        }
        return attribute
    }

    /// The type; an absent one is undefined, which nearly all such attributes are transient for.
    private func attributeType(
        _ element: DocumentElement, _ path: String
    ) throws(ModelError) -> AttributeType {
        guard let word = element.text("attributeType") else { return .undefined }
        guard let type = AttributeType(word: word) else {
            throw .unsupported("attribute \(path) has the type \(word), which is not known")
        }
        return type
    }

    /// The default value by type; dates have theirs as a number of seconds since 2001.
    private func defaultValue(
        _ element: DocumentElement, _ type: AttributeType, _ path: String
    ) throws(ModelError) -> DefaultValue? {
        switch type {
        case .undefined, .objectID, .composite:
            // Nothing is stored in a column of such an attribute, so that no default matters.
            return nil
        case .date:
            if let interval = element.text("defaultDateTimeInterval") {
                guard let seconds = Double(interval), seconds.isFinite else {
                    throw .malformed("the default of attribute \(path) is not a number of seconds")
                }
                return .date(seconds)
            }
        default: break
        }
        // An empty text is a default of its own for strings, and none for other types.
        guard let text = element.attributes["defaultValueString"] else { return nil }
        if text.isEmpty, type != .string { return nil }
        guard let value = DefaultValue(text: text, type: type) else {
            throw .unsupported(
                "attribute \(path) has a default value that cannot be read as \(type.word)")
        }
        return value
    }

    /// The elements of a composite attribute, nested ones included.
    private mutating func elements(
        _ element: DocumentElement, _ path: String, depth: Int
    ) throws(ModelError) -> [Attribute] {
        let name = try element.required("compositeName")
        guard let composite = composites[name] else {
            throw .malformed("attribute \(path) is of composite \(name), which does not exist")
        }
        guard depth < Self.compositeDepthLimit else {
            throw .malformed("composite \(name) is nested too deep, or in itself")
        }
        var elements: [Attribute] = []
        for child in composite.children(named: "attribute") {
            compositeBudget -= 1
            guard compositeBudget >= 0 else {
                throw .malformed("the composites of the model have too many elements")
            }
            elements.append(try attribute(child, of: path, depth: depth + 1))
        }
        return elements
    }

    /// One relationship; counts by the version-hash page, "From XML".
    func relationship(_ element: DocumentElement) throws(ModelError) -> Relationship {
        let isToMany = try element.flag("toMany")
        var relationship = Relationship(
            name: try element.required("name"),
            destination: try element.required("destinationEntity"),
            inverse: element.text("inverseName"))
        relationship.isOptional = try element.flag("optional")
        relationship.isTransient = try element.flag("transient")
        relationship.minimumCount = try element.count("minCount") ?? 0
        relationship.maximumCount = try element.count("maxCount") ?? (isToMany ? 0 : 1)
        relationship.isOrdered = try element.flag("ordered")
        relationship.deleteRule = try deleteRule(element, relationship.name)
        relationship.isIndexedBySpotlight = try element.flag("spotlightIndexingEnabled")
        relationship.versionHashModifier = element.text("versionHashModifier")
        relationship.renamingIdentifier = element.text("elementID")
        relationship.userInfo = try userInfo(of: element)
        return relationship
    }

    /// The delete rule; nullify, Core Data's own default, where none is named.
    private func deleteRule(
        _ element: DocumentElement, _ name: String
    ) throws(ModelError) -> DeleteRule {
        guard let word = element.text("deletionRule") else { return .nullify }
        guard let rule = DeleteRule(word: word) else {
            throw .unsupported("relationship \(name) has the unknown delete rule \(word)")
        }
        return rule
    }
}
