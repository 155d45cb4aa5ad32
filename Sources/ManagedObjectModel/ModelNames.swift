/// The rule that names of entities, attributes and relationships keep.
///
/// Core Data writes such names into SQL as they stand, so that a store can
/// only have names that SQLite takes without quotes. Another name comes from a model that Core
/// Data never used, and is refused where a model is read. Names of indexes, configurations and
/// classes and renaming identifiers are free.
package enum ModelNames {
    /// Checks a model that was read from a stranger's file.
    ///
    /// - Throws: `ModelError.unsupported` naming the first entity or property that breaks the rule.
    /// - Complexity: O(n) in the bytes of the names.
    package static func check(_ model: Model) throws(ModelError) {
        for entity in model.entities.values.sorted(by: { $0.name < $1.name }) {
            try check(entity.name, "entity \(entity.name)")
            for attribute in entity.attributes { try check(attribute, of: entity.name) }
            for relationship in entity.relationships {
                try check(relationship.name, "relationship \(entity.name).\(relationship.name)")
            }
        }
    }

    private static func check(_ attribute: Attribute, of owner: String) throws(ModelError) {
        let path = "\(owner).\(attribute.name)"
        try check(attribute.name, "attribute \(path)")
        for element in attribute.elements { try check(element, of: path) }
    }

    private static func check(_ name: String, _ subject: String) throws(ModelError) {
        guard !isAllowed(name) else { return }
        throw .unsupported(
            "Core Data does not allow the name of \(visible(subject)): names start with a letter "
                + "or _ and contain only letters, digits, _ and $. Rename it in the model")
    }

    /// The most bytes of a name; reports quote names.
    private static let lengthLimit = 1000

    /// Whether a name keeps the rule.
    static func isAllowed(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, !isDigit(first), first != "$",
            name.utf8.count <= lengthLimit
        else { return false }
        return name.unicodeScalars.allSatisfy(isAllowed)
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII {
            return scalar.properties.isAlphabetic || isDigit(scalar) || scalar == "_"
                || scalar == "$"
        }
        // Letters, marks and signs of every script, and what joins them; nothing that is blank or
        // that steers how text is shown.
        switch scalar.properties.generalCategory {
        case .control, .spaceSeparator, .lineSeparator, .paragraphSeparator: return false
        case .format: return scalar == "\u{200C}" || scalar == "\u{200D}"
        default: return true
        }
    }

    /// A text of bounded length whose control characters are visible.
    private static func visible(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars.prefix(120) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return text.unicodeScalars.count > 120 ? result + "…" : result
    }
}
