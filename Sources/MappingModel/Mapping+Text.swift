import ManagedObjectModel
import MappingExpressions

extension Mapping {
    /// The mapping in lines of text for a person: one line an entity mapping, indented lines for
    /// the properties that do not simply keep their name and value.
    package var lines: [String] { entityMappings.flatMap(\.lines) }
}

extension EntityMapping {
    /// This mapping in lines of text, as in `Mapping.lines`.
    package var lines: [String] {
        let source = self.source ?? ""
        let destination = self.destination ?? ""
        switch kind {
        case .add: return ["add \(destination)"]
        case .remove: return ["remove \(source)"]
        case .copy: return ["copy \(destination)"]
        case .transform:
            let objects = filter.map { " where \($0.text)" } ?? ""
            return ["transform \(arrow(source, destination))\(objects)"] + propertyLines
        case .custom(let policy):
            let objects = filter.map { " where \($0.text)" } ?? ""
            return [
                "custom \(arrow(source, destination))\(objects) by \(policy.className)"
            ] + propertyLines + policy.creates.map(\.line)
        }
    }

    private func arrow(_ source: String, _ destination: String) -> String {
        source == destination ? destination : "\(source) -> \(destination)"
    }

    private var propertyLines: [String] {
        let changedAttributes = attributes.filter { $0.value != .source($0.destination) }
        let changedRelationships = relationships.filter {
            $0.source != $0.destination || $0.path != nil
        }
        return changedAttributes.map { "  \($0.destination) = \($0.value.text)" }
            + changedRelationships.map { relationship in
                let path = relationship.path.map { $0.isEmpty ? "SELF" : $0.joined(separator: ".") }
                let source = path ?? relationship.source
                let isSet = policy?.sets.contains(relationship.destination) == true
                let links =
                    isSet
                    ? "set by the policy"
                    : source.map { "links of \($0)" } ?? "no links of its own"
                return "  \(relationship.destination) = \(links)"
            }
    }
}

extension CreatedObjects {
    /// What is made, for a person.
    fileprivate var line: String {
        let found = key.isEmpty ? "" : ", found by \(key.joined(separator: ", "))"
        return "  creates \(entity): at most \(most) for each object\(found)"
    }
}

extension ValueExpression {
    /// The expression for a person.
    package var text: String {
        switch self {
        case .source(let attribute): attribute
        case .sourceOrDefault(let attribute, let value): "\(attribute), else \(value.text)"
        case .constant(let value): value.text
        case .expression(let expression): expression.text
        case .policy(let expression): expression?.text ?? "set by the policy"
        case .null: "no value"
        }
    }
}

extension DefaultValue {
    /// The value for a person; binary data by its size only.
    var text: String {
        switch self {
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .decimal(let digits): digits
        case .boolean(let flag): flag ? "true" : "false"
        case .text(let text): "\"\(text)\""
        case .date(let seconds): "the date \(seconds) s after 2001-01-01 00:00:00 UTC"
        case .data(let bytes): "\(bytes.count) bytes"
        case .uuid: "a fixed UUID"
        case .uri(let address): "the URI \(address)"
        }
    }
}
