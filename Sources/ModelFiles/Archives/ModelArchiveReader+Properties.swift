import ManagedObjectModel

/// Attributes and relationships.
extension ModelArchiveReader {
    /// The most composite attributes inside each other.
    static let compositeDepthLimit = 16

    /// Reads an attribute; the place is its entity and name, for messages, and the depth the
    /// number of composite attributes around it.
    mutating func attribute(
        _ object: ArchivedObject, place: String, name: String, depth: Int
    ) throws(ModelError) -> Attribute {
        try archive.spend(1)
        let number = try archive.integer(object["NSAttributeType"]) ?? 0
        guard let raw = Int(exactly: number), let type = AttributeType(rawValue: raw) else {
            throw .unsupported("attribute \(place) has the unknown type \(number)")
        }
        var attribute = Attribute(name: name, type: type, isOptional: false)
        attribute.isOptional = try archive.flag(object["NSIsOptional"])
        attribute.isTransient = try archive.flag(object["NSIsTransient"])
        attribute.isReadOnly = try archive.flag(object["NSIsReadOnly"])
        attribute.isIndexed = try archive.flag(object["NSIsIndexed"])
        attribute.isIndexedBySpotlight = try archive.flag(object["NSIndexedBySpotlight"])
        attribute.allowsCloudEncryption = try archive.flag(object["NSAllowsCloudEncryption"])
        let flags = try archive.integer(object["NSFlagsKey"]) ?? 0
        attribute.allowsExternalBinaryDataStorage =
            flags & ArchivedAttributeFlag.allowsExternalBinaryDataStorage != 0
        attribute.preservesValueInHistoryOnDeletion =
            flags & ArchivedAttributeFlag.preservesValueInHistoryOnDeletion != 0
        attribute.valueTransformerName = try archive.text(object["NSValueTransformerName"])
        attribute.valueClassName = try archive.text(object["NSAttributeValueClassName"])
        if let value = try archive.value(object["NSDefaultValue"]) {
            attribute.defaultValue = try defaultValue(value, type: type, place: place)
        }
        attribute.userInfo = try userInfo(object)
        attribute.versionHashModifier = try modifier(object)
        attribute.renamingIdentifier = try renamingIdentifier(object, of: name)
        if object.className == ArchivedClass.derivedAttribute {
            attribute.derivation = try derivation(object)
        }
        if type == .composite {
            attribute.elements = try elements(object, place: place, depth: depth)
        }
        return attribute
    }

    private mutating func derivation(_ object: ArchivedObject) throws(ModelError) -> Derivation {
        var derivation = Derivation(expression: "")
        if let expression = try archive.object(object["NSDerivationExpression"]) {
            derivation.expression = try expressionText(expression, depth: 0)
        }
        if let filter = try archive.object(object["NSFilteringPredicate"]) {
            derivation.filter = try predicateText(filter, depth: 0)
        }
        return derivation
    }

    /// The elements of a composite attribute.
    ///
    /// The key under which they are archived is not known from any file, so they are known by
    /// what they are: a list of attributes.
    private mutating func elements(
        _ object: ArchivedObject, place: String, depth: Int
    ) throws(ModelError) -> [Attribute] {
        guard depth < Self.compositeDepthLimit else {
            throw .malformed("attribute \(place) is nested too deep")
        }
        for field in object.fields {
            guard case .uid = field.value, let value = try archive.value(field.value),
                let list = try archive.objectOrNil(value), list.isList
            else { continue }
            var elements: [Attribute] = []
            for reference in try archive.list(field.value) {
                guard let value = try archive.value(reference),
                    let element = try archive.objectOrNil(value),
                    element.className.hasSuffix("AttributeDescription"),
                    let name = try archive.text(element["NSPropertyName"])
                else { break }
                elements.append(
                    try attribute(
                        element, place: "\(place).\(name)", name: name, depth: depth + 1))
            }
            if !elements.isEmpty { return elements }
        }
        throw .unsupported("the elements of the composite attribute \(place) cannot be found")
    }

    /// Reads a relationship; the names of destination and inverse win over the references.
    mutating func relationship(
        _ object: ArchivedObject, place: String, name: String
    ) throws(ModelError) -> Relationship {
        try archive.spend(1)
        var destination = try archive.text(object["_NSDestinationEntityName"])
        if destination == nil, let entity = try archive.object(object["NSDestinationEntity"]) {
            destination = try archive.text(entity["NSEntityName"])
        }
        guard let destination else {
            throw .malformed("relationship \(place) has no destination entity")
        }
        var relationship = Relationship(
            name: name, destination: destination, isOptional: false)
        relationship.inverse = try archive.text(object["_NSInverseRelationshipName"])
        if relationship.inverse == nil,
            let inverse = try archive.object(object["NSInverseRelationship"])
        {
            relationship.inverse = try archive.text(inverse["NSPropertyName"])
        }
        relationship.isOptional = try archive.flag(object["NSIsOptional"])
        relationship.isTransient = try archive.flag(object["NSIsTransient"])
        relationship.isReadOnly = try archive.flag(object["NSIsReadOnly"])
        relationship.isOrdered = try archive.flag(object["NSIsOrdered"])
        relationship.isIndexedBySpotlight = try archive.flag(object["NSIndexedBySpotlight"])
        relationship.minimumCount = try count(object["NSMinCount"], place: place)
        relationship.maximumCount = try count(object["NSMaxCount"], place: place)
        let rule = try archive.integer(object["NSDeleteRule"]) ?? 0
        guard let raw = Int(exactly: rule), let deleteRule = DeleteRule(rawValue: raw) else {
            throw .unsupported("relationship \(place) has the unknown delete rule \(rule)")
        }
        relationship.deleteRule = deleteRule
        relationship.userInfo = try userInfo(object)
        relationship.versionHashModifier = try modifier(object)
        relationship.renamingIdentifier = try renamingIdentifier(object, of: name)
        return relationship
    }

    private func count(_ reference: PropertyList?, place: String) throws(ModelError) -> Int32 {
        let number = try archive.integer(reference) ?? 0
        guard let count = Int32(exactly: number) else {
            throw .malformed("relationship \(place) has a count beyond 32 bits")
        }
        return count
    }
}
