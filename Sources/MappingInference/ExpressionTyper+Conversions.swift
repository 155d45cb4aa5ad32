import ManagedObjectModel
import MappingExpressions

/// What `CONVERT`, `FIELD` and `NORMALIZE` give.
extension ExpressionTyper {
    /// The kind of a value after a conversion.
    mutating func converted(_ kind: ValueKind, _ conversion: ValueConversion) -> ValueKind {
        switch conversion {
        case .type(let type, let format):
            let isKnown = kind != .unknown && kind != .null
            if isKnown, !kind.converts(to: type) {
                return mistake("\(kind.noun) cannot be converted to \(type)")
            }
            if let format { check(format, kind, type) }
            return ValueKind(type)
        case .field:
            switch kind {
            case .text, .data, .unknown, .null, .opaque: return .unknown
            default: return mistake("FIELD needs a text or binary data, not \(kind.noun)")
            }
        case .normalized:
            if !kind.isText { mistake("NORMALIZE needs a text, not \(kind.noun)") }
            return .text
        }
    }

    private mutating func check(_ format: DateFormat, _ kind: ValueKind, _ type: AttributeType) {
        guard type == .date || kind == .date || kind == .unknown else {
            mistake("a format is for dates, not for \(kind.noun) as \(type)")
            return
        }
        guard type == .date, let reason = format.unreadable else { return }
        mistake("dates cannot be read by the format \(format.pattern): \(reason)")
    }
}

extension ValueKind {
    /// Whether values of the kind can have an equal among those of a type.
    func converts(to type: AttributeType) -> Bool {
        switch type {
        case .integer16, .integer32, .integer64, .double, .float, .decimal:
            self == .number || self == .decimal || self == .text || self == .date
        case .boolean: self == .number || self == .decimal || self == .text
        case .date: self == .number || self == .decimal || self == .text || self == .date
        case .string:
            [.number, .decimal, .text, .date, .uuid, .uri, .data].contains(self)
        case .uuid: [.text, .uuid, .uri, .data].contains(self)
        case .uri: [.text, .uuid, .uri].contains(self)
        case .binary: [.text, .uuid, .data].contains(self)
        case .transformable, .undefined, .objectID, .composite: false
        }
    }

    /// The kind of the values of an attribute's type.
    init(_ type: AttributeType) {
        self.init(Attribute(name: "", type: type))
    }
}
