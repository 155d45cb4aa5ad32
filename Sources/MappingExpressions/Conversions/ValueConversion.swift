package import ManagedObjectModel

/// How an expression turns a value into one of another type or form.
///
/// `NSExpression` has no such forms. A value without a form in the new type is an error: nothing
/// is rounded, cut off or guessed.
package enum ValueConversion: Hashable, Sendable, Codable {
    /// `CONVERT(value, "date", "dd.MM.yyyy")`: the value as an attribute of a type holds it.
    ///
    /// Without a format, texts of dates are those of ISO 8601.
    case type(AttributeType, format: DateFormat?)
    /// `FIELD(value, "json", "address", "city")`: one value of a document.
    case field(DocumentField)
    /// `NORMALIZE(value, "trim", "nfc")`: a text in another form; at least one step.
    case normalized([TextStep])

    /// The types that values can be converted to, by the words for them.
    package static let types: [String: AttributeType] = Dictionary(
        uniqueKeysWithValues: AttributeType.allCases.filter(isTarget).map { ("\($0)", $0) })

    private static func isTarget(_ type: AttributeType) -> Bool {
        switch type {
        case .transformable, .undefined, .objectID, .composite: false
        default: true
        }
    }

    /// Its name in a text.
    package var function: String {
        switch self {
        case .type: "CONVERT"
        case .field: "FIELD"
        case .normalized: "NORMALIZE"
        }
    }

    /// What follows the value in a text.
    var arguments: [String] {
        switch self {
        case .type(let type, let format): ["\(type)"] + (format?.arguments ?? [])
        case .field(let field): [field.form.rawValue] + field.path
        case .normalized(let steps): steps.map(\.rawValue)
        }
    }
}

/// One step of `NORMALIZE`; they are taken in their order.
package enum TextStep: String, Hashable, Sendable, Codable, CaseIterable {
    /// Without white space at both ends.
    case trim
    /// With one space in the place of each run of white space.
    case collapse
    /// Canonically composed, or decomposed.
    case nfc, nfd
    /// Cases of letters by Unicode, without a locale.
    case lowercase, uppercase
    /// No value in the place of an empty text.
    case empty
}
