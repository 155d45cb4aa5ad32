import ManagedObjectModel

/// Property descriptions.
extension ModelArchiveWriter {
    /// Bits of `_P`, as all 4,587 relationships and 12,068 attributes of the fixtures have them.
    private enum Flag {
        static let always: Int128 = 0x31
        static let isOptional: Int128 = 0x2
        static let isReadOnly: Int128 = 0x4
        static let isTransient: Int128 = 0x8
        static let hasNoUserInfo: Int128 = 0x40
        static let hasNoHashModifier: Int128 = 0x80
        static let isOrdered: Int128 = 0x400
    }

    /// What every property encodes, whatever its class.
    private struct Common {
        var name: String
        var isOptional = true
        var isTransient = false
        var isReadOnly = false
        var isOrdered = false
        var userInfo: [String: String] = [:]
        var versionHashModifier: String?
        var renamingIdentifier: String?

        var flags: Int128 {
            Flag.always | (isOptional ? Flag.isOptional : 0)
                | (isReadOnly ? Flag.isReadOnly : 0) | (isTransient ? Flag.isTransient : 0)
                | (isOrdered ? Flag.isOrdered : 0)
                | (userInfo.isEmpty ? Flag.hasNoUserInfo : 0)
                | (versionHashModifier == nil ? Flag.hasNoHashModifier : 0)
        }
    }

    private mutating func fields(
        _ common: Common, entity: PropertyList?
    ) -> [PropertyList.Entry] {
        var fields = [
            PropertyList.Entry("_P", .integer(common.flags)),
            PropertyList.Entry("NSPropertyName", table.text(common.name)),
            PropertyList.Entry("NSEntity", entity ?? KeyedArchiveBuilder.null),
            PropertyList.Entry(
                "NSRenamingIdentifier", table.text(common.renamingIdentifier ?? common.name)),
        ]
        let flags = [
            ("NSIsOptional", common.isOptional), ("NSIsTransient", common.isTransient),
            ("NSIsReadOnly", common.isReadOnly), ("NSIsOrdered", common.isOrdered),
        ]
        for (key, isSet) in flags where isSet {
            fields.append(PropertyList.Entry(key, .boolean(true)))
        }
        if !common.userInfo.isEmpty {
            fields.append(PropertyList.Entry("NSUserInfo", userInfo(common.userInfo)))
        }
        if let modifier = common.versionHashModifier {
            fields.append(PropertyList.Entry("NSVersionHashModifier", table.text(modifier)))
        }
        return fields
    }

    mutating func fill(
        _ place: PropertyList, _ attribute: Attribute, of entity: String
    ) throws(ModelError) {
        let name = "\(entity).\(attribute.name)"
        try fill(place, attribute, entity: entities[entity], name: name)
    }

    private mutating func fill(
        _ place: PropertyList, _ attribute: Attribute, entity: PropertyList?, name: String
    ) throws(ModelError) {
        var all = fields(
            Common(
                name: attribute.name, isOptional: attribute.isOptional,
                isTransient: attribute.isTransient, isReadOnly: attribute.isReadOnly,
                userInfo: attribute.userInfo,
                versionHashModifier: attribute.versionHashModifier,
                renamingIdentifier: attribute.renamingIdentifier), entity: entity)
        var storage: Int64 = 0
        if attribute.allowsExternalBinaryDataStorage {
            storage |= ArchivedAttributeFlag.allowsExternalBinaryDataStorage
        }
        if attribute.preservesValueInHistoryOnDeletion {
            storage |= ArchivedAttributeFlag.preservesValueInHistoryOnDeletion
        }
        all += [
            PropertyList.Entry("NSAttributeType", .integer(Int128(attribute.type.rawValue))),
            PropertyList.Entry(
                "NSAttributeValueClassName",
                table.text(attribute.valueClassName ?? attribute.type.valueClassName)),
            PropertyList.Entry("NSDefaultValue", try value(attribute.defaultValue, of: name)),
            PropertyList.Entry(
                "NSValueTransformerName", table.text(attribute.valueTransformerName)),
            PropertyList.Entry("NSFlagsKey", .integer(Int128(storage))),
        ]
        let flags = [
            ("NSIsIndexed", attribute.isIndexed),
            ("NSIndexedBySpotlight", attribute.isIndexedBySpotlight),
            ("NSAllowsCloudEncryption", attribute.allowsCloudEncryption),
        ]
        for (key, isSet) in flags where isSet {
            all.append(PropertyList.Entry(key, .boolean(true)))
        }
        var className = ArchivedClass.attribute
        if let derivation = attribute.derivation {
            className = ArchivedClass.derivedAttribute
            all += try fields(derivation, of: name)
        }
        if attribute.type == .composite {
            if attribute.derivation == nil { className = ArchivedClass.compositeAttribute }
            all.append(PropertyList.Entry("NSElements", try elements(attribute, name: name)))
        }
        table.fill(place, className, all)
    }

    private mutating func fields(
        _ derivation: Derivation, of name: String
    ) throws(ModelError) -> [PropertyList.Entry] {
        let text = derivation.expression
        let expression =
            text.isEmpty
            ? KeyedArchiveBuilder.null : try self.expression(text, of: name)
        var filter = KeyedArchiveBuilder.null
        if let text = derivation.filter {
            filter = try predicate(PredicateParser.parse(text), of: name)
        }
        return [
            PropertyList.Entry("NSDerivationExpression", expression),
            PropertyList.Entry("NSFilteringPredicate", filter),
        ]
    }

    private mutating func elements(
        _ attribute: Attribute, name: String
    ) throws(ModelError) -> PropertyList {
        var references: [PropertyList] = []
        for element in attribute.elements {
            let place = table.reserve()
            try fill(place, element, entity: nil, name: "\(name).\(element.name)")
            references.append(place)
        }
        return table.list("NSArray", references)
    }

    mutating func fill(
        _ place: PropertyList, _ relationship: Relationship, of entity: String
    ) {
        var all = fields(
            Common(
                name: relationship.name, isOptional: relationship.isOptional,
                isTransient: relationship.isTransient, isReadOnly: relationship.isReadOnly,
                isOrdered: relationship.isOrdered, userInfo: relationship.userInfo,
                versionHashModifier: relationship.versionHashModifier,
                renamingIdentifier: relationship.renamingIdentifier), entity: entities[entity])
        let inverse = relationship.inverse.flatMap {
            self.place(of: $0, in: relationship.destination)
        }
        all += [
            PropertyList.Entry(
                "NSDestinationEntity",
                entities[relationship.destination] ?? KeyedArchiveBuilder.null),
            PropertyList.Entry(
                "_NSDestinationEntityName", table.text(relationship.destination)),
            PropertyList.Entry("NSInverseRelationship", inverse ?? KeyedArchiveBuilder.null),
            PropertyList.Entry("_NSInverseRelationshipName", table.text(relationship.inverse)),
            PropertyList.Entry("NSMinCount", .integer(Int128(relationship.minimumCount))),
            PropertyList.Entry("NSMaxCount", .integer(Int128(relationship.maximumCount))),
            PropertyList.Entry(
                "NSDeleteRule", .integer(Int128(relationship.deleteRule.rawValue))),
        ]
        if relationship.isIndexedBySpotlight {
            all.append(PropertyList.Entry("NSIndexedBySpotlight", .boolean(true)))
        }
        table.fill(place, ArchivedClass.relationship, all)
    }

    mutating func fill(
        _ place: PropertyList, fetchedProperty name: String, of entity: String
    ) {
        var all = fields(
            Common(name: name, isTransient: true, isReadOnly: true), entity: entities[entity])
        all += [
            PropertyList.Entry("_NSFetchRequestEntityName", KeyedArchiveBuilder.null),
            PropertyList.Entry("NSFetchRequest", KeyedArchiveBuilder.null),
        ]
        table.fill(place, ArchivedClass.fetchedProperty, all)
    }

    /// The description that an index over an expression refers to.
    mutating func expressionProperty(
        _ name: String, _ expression: PropertyList, type: AttributeType
    ) -> PropertyList {
        var all = fields(Common(name: name, isReadOnly: true), entity: nil)
        all += [
            PropertyList.Entry("NSExpression", expression),
            PropertyList.Entry("NSExpressionType", .integer(Int128(type.rawValue))),
        ]
        return table.add(ArchivedClass.expressionProperty, all)
    }

    // MARK: - Values

    /// A default value or the constant of a predicate; the name is for messages.
    mutating func value(
        _ value: DefaultValue?, of name: String
    ) throws(ModelError) -> PropertyList {
        switch value {
        case nil: return KeyedArchiveBuilder.null
        case .integer(let number)?: return table.plain(.integer(Int128(number)))
        case .real(let number)?: return table.plain(.real(number))
        case .boolean(let flag)?: return table.plain(.boolean(flag))
        case .text(let text)?: return table.text(text)
        case .data(let bytes)?: return table.plain(.data(bytes))
        case .date(let seconds)?:
            return table.add("NSDate", [PropertyList.Entry("NS.time", .real(seconds))])
        case .uuid(let bytes)?:
            return table.add("NSUUID", [PropertyList.Entry("NS.uuidbytes", .data(bytes))])
        case .uri(let text)?:
            return table.add(
                "NSURL",
                [
                    PropertyList.Entry("NS.base", KeyedArchiveBuilder.null),
                    PropertyList.Entry("NS.relative", table.text(text)),
                ])
        case .decimal(let text)?:
            guard let number = DecimalNumber(text) else {
                throw .unsupported("the default value of \(name) is not a decimal number")
            }
            return decimal(number)
        }
    }

    /// The shape of `NSDecimalNumber`: a mantissa of eight 16-bit words, lowest first.
    private mutating func decimal(_ number: DecimalNumber) -> PropertyList {
        var mantissa: [UInt8] = []
        for shift in stride(from: 0, to: 128, by: 8) {
            mantissa.append(UInt8(truncatingIfNeeded: number.digits >> UInt128(shift)))
        }
        let words = (128 - number.digits.leadingZeroBitCount + 15) / 16
        return table.add(
            "NSDecimalNumber",
            [
                PropertyList.Entry("NS.exponent", .integer(Int128(number.exponent))),
                PropertyList.Entry("NS.length", .integer(Int128(words))),
                PropertyList.Entry("NS.negative", .boolean(number.isNegative)),
                PropertyList.Entry("NS.compact", .boolean(true)),
                // 1 says that the lower byte of a word comes first.
                PropertyList.Entry("NS.mantissa.bo", .integer(1)),
                PropertyList.Entry("NS.mantissa", .data(mantissa)),
            ])
    }
}
