/// The type of an attribute, with the numbers of `NSAttributeType` (version-hash page).
package enum AttributeType: Int, Hashable, Sendable, Codable, CaseIterable {
    case undefined = 0
    case integer16 = 100
    case integer32 = 200
    case integer64 = 300
    case decimal = 400
    case double = 500
    case float = 600
    case string = 700
    case boolean = 800
    case date = 900
    case binary = 1000
    case uuid = 1100
    case uri = 1200
    case transformable = 1800
    case objectID = 2000
    case composite = 2100
}

extension AttributeType {
    /// The numbers that an integer attribute of the type holds; nil for 64 bits and other types.
    package var integerRange: ClosedRange<Int64>? {
        switch self {
        case .integer16: Int64(Int16.min)...Int64(Int16.max)
        case .integer32: Int64(Int32.min)...Int64(Int32.max)
        default: nil
        }
    }

    /// Whether sums of the values are whole numbers.
    package var isWhole: Bool {
        switch self {
        case .integer16, .integer32, .integer64, .boolean: true
        default: false
        }
    }
}

extension AttributeType {
    /// Whether numbers of another type can lose something where they become this one's: fractions,
    /// or all but yes and no.
    package func cuts(_ other: AttributeType) -> Bool {
        switch (self, other) {
        case (.boolean, .integer16), (.boolean, .integer32), (.boolean, .integer64): true
        case (_, .double), (_, .float), (_, .decimal): isWhole
        default: false
        }
    }

    /// Whether a value loses something of that.
    package func cuts(_ value: DefaultValue) -> Bool {
        switch value {
        case .integer(let number): self == .boolean && number != 0 && number != 1
        case .real(let number) where self == .boolean: number != 0 && number != 1
        case .real(let number): isWhole && number != number.rounded(.towardZero)
        case .boolean, .decimal, .text, .date, .data, .uuid, .uri: false
        }
    }
}

/// A default value in the words of the model.
package enum DefaultValue: Hashable, Sendable, Codable {
    case integer(Int64)
    case real(Double)
    /// A decimal number as text, such as `-12.50`.
    case decimal(String)
    case boolean(Bool)
    case text(String)
    /// Seconds since 2001-01-01 00:00:00 UTC.
    case date(Double)
    case data([UInt8])
    /// 16 bytes.
    case uuid([UInt8])
    case uri(String)

    /// Whether an attribute of a type holds the value as it is; false for every number.
    package func isHeld(by type: AttributeType) -> Bool {
        switch (self, type) {
        case (.text, .string), (.uri, .uri), (.data, .binary), (.uuid, .uuid): true
        case (.data, .transformable): true
        case (.date(let seconds), .date): seconds.isFinite
        default: false
        }
    }
}

/// What a derived attribute is computed from, in predicate-format text as it is hashed.
package struct Derivation: Hashable, Sendable, Codable {
    /// Such as `name`, `additionalAttributes.cameraCaptureDevice`, `pages.@count`, `now()`.
    ///
    /// `@count` is kept as the model writes it; the hash spells it `count:(pages)`.
    package var expression: String
    /// The filtering predicate's text; nil where there is none.
    package var filter: String?

    package init(expression: String, filter: String? = nil) {
        self.expression = expression
        self.filter = filter
    }
}

/// One attribute of an entity.
package struct Attribute: Hashable, Sendable, Codable {
    package var name: String
    package var type: AttributeType
    package var isOptional: Bool
    package var isTransient: Bool
    package var isReadOnly: Bool
    /// Marked as indexed; an index of the old era follows from it.
    package var isIndexed: Bool
    package var isIndexedBySpotlight: Bool
    /// Flag 4 of `NSFlagsKey`: large values live in files, and every value has a prefix byte.
    package var allowsExternalBinaryDataStorage: Bool
    /// Flag 16 of `NSFlagsKey`: the value goes to a history tombstone.
    package var preservesValueInHistoryOnDeletion: Bool
    package var allowsCloudEncryption: Bool
    package var defaultValue: DefaultValue?
    package var valueTransformerName: String?
    /// `NSAttributeValueClassName`, such as `NSString`.
    package var valueClassName: String?
    /// Not nil for a derived attribute.
    package var derivation: Derivation?
    /// Elements of a composite attribute, else empty.
    package var elements: [Attribute]
    package var userInfo: [String: String]
    package var versionHashModifier: String?
    /// `renamingIdentifier` (`elementID` in XML); nil means the name.
    package var renamingIdentifier: String?

    /// An optional attribute with nothing special unless told otherwise.
    package init(
        name: String, type: AttributeType, isOptional: Bool = true, isTransient: Bool = false,
        isReadOnly: Bool = false, isIndexed: Bool = false, isIndexedBySpotlight: Bool = false,
        allowsExternalBinaryDataStorage: Bool = false,
        preservesValueInHistoryOnDeletion: Bool = false, allowsCloudEncryption: Bool = false,
        defaultValue: DefaultValue? = nil, valueTransformerName: String? = nil,
        valueClassName: String? = nil, derivation: Derivation? = nil, elements: [Attribute] = [],
        userInfo: [String: String] = [:], versionHashModifier: String? = nil,
        renamingIdentifier: String? = nil
    ) {
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.isTransient = isTransient
        self.isReadOnly = isReadOnly
        self.isIndexed = isIndexed
        self.isIndexedBySpotlight = isIndexedBySpotlight
        self.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage
        self.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
        self.allowsCloudEncryption = allowsCloudEncryption
        self.defaultValue = defaultValue
        self.valueTransformerName = valueTransformerName
        self.valueClassName = valueClassName
        self.derivation = derivation
        self.elements = elements
        self.userInfo = userInfo
        self.versionHashModifier = versionHashModifier
        self.renamingIdentifier = renamingIdentifier
    }
}

extension Attribute {
    /// Whether it has a column, or its elements have.
    package var isStored: Bool { !isTransient && type != .undefined }

    /// The names and the default texts of the attribute and its elements.
    var texts: [String] {
        let value: String? =
            switch defaultValue {
            case .text(let text), .uri(let text), .decimal(let text): text
            default: nil
            }
        return [name] + (value.map { [$0] } ?? []) + elements.flatMap(\.texts)
    }
}
