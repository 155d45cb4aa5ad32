package import ManagedObjectModel
package import MappingExpressions

/// How a mapping file carries values into an attribute of another type.
package enum TypeChange {
    /// An expression that gives the values of a source attribute as another type.
    ///
    /// - Parameters:
    ///   - name: of the source attribute.
    ///   - before: its type.
    ///   - now: that of the destination attribute.
    /// - Returns: nil where no expression can; a value that has no form in the other type still
    ///   fails its store.
    package static func expression(
        of name: String, from before: AttributeType, to now: AttributeType
    ) -> MappingExpression? {
        guard let from = kind(before), let to = kind(now) else { return nil }
        let value = MappingExpression.source(name)
        switch (from, to) {
        case (.number, .number): return value
        case (.decimal, .number), (.date, .number): return .cast(value, to: .number)
        case (.text, .number): return .cast(value, to: .number)
        case (.number, .decimal), (.text, .decimal): return .cast(value, to: .decimal)
        case (.number, .date), (.decimal, .date): return .cast(value, to: .date)
        case (.number, .text), (.decimal, .text), (.date, .text), (.uuid, .text), (.uri, .text):
            return .cast(value, to: .string)
        case (.text, .uuid): return .cast(value, to: .uuid)
        case (.text, .uri): return .cast(value, to: .url)
        default: return nil
        }
    }

    private enum Kind {
        case number, decimal, date, text, uuid, uri
    }

    private static func kind(_ type: AttributeType) -> Kind? {
        switch type {
        case .integer16, .integer32, .integer64, .double, .float, .boolean: .number
        case .decimal: .decimal
        case .date: .date
        case .string: .text
        case .uuid: .uuid
        case .uri: .uri
        case .binary, .transformable, .undefined, .objectID, .composite: nil
        }
    }
}
