import ManagedObjectModel

/// What an expression gives, as far as models tell without data.
indirect enum ValueKind: Hashable, Sendable {
    /// The result of code that the models do not know, such as a policy's method.
    case unknown
    case null
    case number
    case decimal
    case text
    case date
    case data
    case uuid
    case uri
    /// A transformable value or an object's id: it can be carried, not computed with.
    case opaque
    /// A composite value of the source attribute with these elements.
    case composite([Attribute])
    /// An object of a source entity or of one that inherits from it.
    case object(String)
    case collection(ValueKind)

    /// The kind of an attribute's values.
    init(_ attribute: Attribute) {
        self =
            switch attribute.type {
            case .integer16, .integer32, .integer64, .double, .float, .boolean: .number
            case .decimal: .decimal
            case .string: .text
            case .date: .date
            case .binary: .data
            case .uuid: .uuid
            case .uri: .uri
            case .composite: .composite(attribute.elements)
            case .transformable, .objectID, .undefined: .opaque
            }
    }

    /// The kind of a constant.
    init(_ constant: DefaultValue) {
        self =
            switch constant {
            case .integer, .real, .boolean: .number
            case .decimal: .decimal
            case .text: .text
            case .date: .date
            case .data: .data
            case .uuid: .uuid
            case .uri: .uri
            }
    }

    /// The entity of the object or the objects; nil for other kinds.
    var entity: String? {
        switch self {
        case .object(let entity), .collection(.object(let entity)): entity
        default: nil
        }
    }

    /// Whether arithmetic takes it.
    var isNumeric: Bool {
        switch self {
        case .number, .decimal, .null, .unknown: true
        default: false
        }
    }

    /// Whether a comparison with another value can hold.
    ///
    /// Values of two kinds are never equal, and have no order; no value is compared with all.
    func isComparable(with other: ValueKind) -> Bool {
        switch (self, other) {
        case (.unknown, _), (_, .unknown), (.null, _), (_, .null): true
        case (.object, .object), (.collection, .collection): true
        case (.collection, _), (_, .collection): false
        case (.number, .decimal), (.decimal, .number): true
        case (.opaque, _), (_, .opaque), (.composite, _), (_, .composite): true
        default: self == other
        }
    }

    /// Whether functions of texts take it.
    var isText: Bool {
        switch self {
        case .text, .null, .unknown: true
        default: false
        }
    }

    /// The kind for a person.
    var noun: String {
        switch self {
        case .unknown: "an unknown value"
        case .null: "no value"
        case .number: "a number"
        case .decimal: "a decimal number"
        case .text: "a text"
        case .date: "a date"
        case .data: "binary data"
        case .uuid: "a UUID"
        case .uri: "a URI"
        case .opaque: "a transformable value"
        case .composite: "a composite value"
        case .object(let entity): "an object of \(entity)"
        case .collection: "a collection"
        }
    }

    /// Whether Core Data lets an attribute of that type hold it.
    func fits(_ type: AttributeType) -> Bool {
        switch (self, type) {
        case (_, .composite): false
        case (.unknown, _), (.null, _): true
        case (.number, .integer16), (.number, .integer32), (.number, .integer64): true
        case (.number, .double), (.number, .float), (.number, .boolean): true
        case (.decimal, .decimal), (.decimal, .double), (.decimal, .float): true
        // Mapping models of Xcode give decimal attributes plain numbers.
        case (.number, .decimal): true
        case (.text, .string), (.date, .date), (.data, .binary), (.uuid, .uuid): true
        case (.uri, .uri), (.opaque, .transformable), (.data, .transformable): true
        default: false
        }
    }
}
