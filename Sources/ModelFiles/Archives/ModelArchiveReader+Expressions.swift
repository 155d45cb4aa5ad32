import ManagedObjectModel

/// Fetch indexes, predicates and expressions.
extension ModelArchiveReader {
    /// The most predicates or expressions inside each other.
    static let expressionDepthLimit = 64
    /// The longest list of arguments or conditions as text, in bytes.
    static let expressionTextLimit = 16 << 10

    mutating func fetchIndex(
        _ reference: PropertyList, of entity: String
    ) throws(ModelError) -> FetchIndex {
        guard let object = try archive.object(reference),
            let name = try archive.text(object["NSIndexName"])
        else { throw .malformed("entity \(entity) has a fetch index without a name") }
        var index = FetchIndex(name: name, elements: [])
        for element in try archive.list(object["NSIndexElements"]) {
            guard let object = try archive.object(element) else {
                throw .malformed("fetch index \(entity).\(name) has a null element")
            }
            index.elements.append(try fetchIndexElement(object, place: "\(entity).\(name)"))
        }
        if let predicate = try archive.object(object["NSPartialIndexPredicate"]) {
            index.partialPredicate = try self.predicate(predicate, depth: 0)
        }
        return index
    }

    private mutating func fetchIndexElement(
        _ object: ArchivedObject, place: String
    ) throws(ModelError) -> FetchIndexElement {
        let number = try archive.integer(object["NSFetchIndexElementType"]) ?? 0
        guard let raw = Int(exactly: number), let type = FetchIndexElementType(rawValue: raw)
        else {
            throw .unsupported("fetch index \(place) has an element of unknown type \(number)")
        }
        let ascending = object["NSAscending"]
        let isAscending = ascending == nil ? true : try archive.flag(ascending)
        if let property = try archive.object(object["NSIndexedProperty"]),
            property.className == ArchivedClass.expressionProperty,
            let expression = try archive.object(property["NSExpression"])
        {
            let target: FetchIndexTarget =
                switch try expressionText(expression, depth: 0) {
                case "entity": .entity
                case "SELF", "self", "objectID": .objectID
                case let text: .expression(text)
                }
            return FetchIndexElement(target, type: type, isAscending: isAscending)
        }
        guard let name = try archive.text(object["NSPropertyName"]) else {
            throw .malformed("fetch index \(place) has an element without a property")
        }
        return FetchIndexElement(.property(name), type: type, isAscending: isAscending)
    }

    /// A predicate; one outside the vocabulary of `Predicate` by its text.
    mutating func predicate(
        _ object: ArchivedObject, depth: Int
    ) throws(ModelError) -> Predicate {
        try enter(depth)
        switch object.className {
        case "NSCompoundPredicate":
            let kind = try archive.integer(object["NSCompoundPredicateType"]) ?? 0
            var parts: [Predicate] = []
            for reference in try archive.list(object["NSSubpredicates"]) {
                guard let part = try archive.object(reference) else {
                    throw .malformed("a predicate of the archive has a null part")
                }
                parts.append(try predicate(part, depth: depth + 1))
            }
            switch (kind, parts.count) {
            case (0, 1): return .not(parts[0])
            case (1, _): return .and(parts)
            case (2, _): return .or(parts)
            default: return .unsupported("compound predicate of type \(kind)")
            }
        case "NSComparisonPredicate":
            return try comparison(object, depth: depth)
        default:
            return .unsupported(try predicateText(object, depth: depth))
        }
    }

    private mutating func comparison(
        _ object: ArchivedObject, depth: Int
    ) throws(ModelError) -> Predicate {
        guard let left = try archive.object(object["NSLeftExpression"]),
            let right = try archive.object(object["NSRightExpression"]),
            let comparator = try archive.object(object["NSPredicateOperator"])
        else { throw .malformed("a comparison of the archive lacks a side") }
        let number = try archive.integer(comparator["NSOperatorType"]) ?? 0
        let options = try archive.integer(comparator["NSOptions"]) ?? 0
        let modifier = try archive.integer(comparator["NSModifier"]) ?? 0
        if options == 0, modifier == 0, let comparison = Predicate.Comparison(archived: number) {
            if let name = try propertyName(left), let value = try comparable(right) {
                return .compare(property: name, comparison, value.constant)
            }
            if let name = try propertyName(right), let value = try comparable(left) {
                return .compare(property: name, comparison.mirrored, value.constant)
            }
        }
        return .unsupported(try predicateText(object, depth: depth))
    }

    /// The property that an expression is; nil for other expressions and for longer paths.
    private mutating func propertyName(
        _ expression: ArchivedObject
    ) throws(ModelError) -> String? {
        guard expression.className == "NSKeyPathExpression" else { return nil }
        let text = try expressionText(expression, depth: 0)
        return text.contains(".") || text.contains("(") || text.hasPrefix("$") ? nil : text
    }

    /// The constant that an expression is; nil for other expressions.
    private mutating func comparable(
        _ expression: ArchivedObject
    ) throws(ModelError) -> (constant: DefaultValue?, Void)? {
        guard expression.className == "NSConstantValueExpression" else { return nil }
        guard let value = try archive.value(expression["NSConstantValue"]) else {
            let isClass = try archive.value(expression["NSConstantValueClassName"]) != nil
            return isClass ? nil : (nil, ())
        }
        return try archive.constant(value).map { ($0, ()) }
    }

    /// The text of an expression as the model's author would write it.
    ///
    /// `count:(pages)` comes out as `pages.@count`, which compiles to it. What is unknown comes
    /// out as the name of its class in angle brackets.
    mutating func expressionText(
        _ object: ArchivedObject, depth: Int
    ) throws(ModelError) -> String {
        try enter(depth)
        switch object.className {
        case "NSSelfExpression":
            return "SELF"
        case "NSVariableExpression":
            return "$" + (try archive.text(object["NSVariable"]) ?? "")
        case "NSKeyPathSpecifierExpression":
            return try archive.text(object["NSKeyPath"]) ?? ""
        case "NSConstantValueExpression":
            guard let value = try archive.value(object["NSConstantValue"]) else {
                return try archive.text(object["NSConstantValueClassName"]) ?? "nil"
            }
            return try archive.constant(value).map(PredicateText.of) ?? "<constant>"
        case "NSKeyPathExpression":
            let path = try arguments(of: object, depth: depth).joined(separator: ".")
            guard let operand = try archive.object(object["NSOperand"]),
                operand.className != "NSSelfExpression"
            else { return path }
            return try expressionText(operand, depth: depth + 1) + "." + path
        case "NSFunctionExpression":
            return try functionText(object, depth: depth)
        default:
            return "<\(object.className)>"
        }
    }

    private mutating func functionText(
        _ object: ArchivedObject, depth: Int
    ) throws(ModelError) -> String {
        let selector = try archive.text(object["NSSelectorName"]) ?? ""
        let arguments = try arguments(of: object, depth: depth)
        if let operand = try archive.object(object["NSOperand"]) {
            let receiver = try expressionText(operand, depth: depth + 1)
            if receiver != PredicateText.functionReceiver {
                let all = [receiver, Predicate.quoted(selector)] + arguments
                return "FUNCTION(\(all.joined(separator: ", ")))"
            }
        }
        if selector == "count:", arguments.count == 1, PredicateText.isKeyPath(arguments[0]) {
            return arguments[0] + PredicateText.countSuffix
        }
        return "\(selector)(\(arguments.joined(separator: ", ")))"
    }

    private mutating func arguments(
        of object: ArchivedObject, depth: Int
    ) throws(ModelError) -> [String] {
        var texts: [String] = []
        for reference in try archive.list(object["NSArguments"]) {
            guard let argument = try archive.object(reference) else {
                throw .malformed("an expression of the archive has a null argument")
            }
            try append(try expressionText(argument, depth: depth + 1), to: &texts)
        }
        return texts
    }

    /// The text of any predicate, as far as known.
    mutating func predicateText(
        _ object: ArchivedObject, depth: Int
    ) throws(ModelError) -> String {
        try enter(depth)
        switch object.className {
        case "NSTruePredicate": return "TRUEPREDICATE"
        case "NSFalsePredicate": return "FALSEPREDICATE"
        case "NSComparisonPredicate":
            guard let left = try archive.object(object["NSLeftExpression"]),
                let right = try archive.object(object["NSRightExpression"]),
                let comparator = try archive.object(object["NSPredicateOperator"])
            else { throw .malformed("a comparison of the archive lacks a side") }
            let number = try archive.integer(comparator["NSOperatorType"]) ?? 0
            let options = try archive.integer(comparator["NSOptions"]) ?? 0
            let word = PredicateText.operatorWord(number, options: options)
            return try expressionText(left, depth: depth + 1) + " \(word) "
                + expressionText(right, depth: depth + 1)
        case "NSCompoundPredicate":
            let kind = try archive.integer(object["NSCompoundPredicateType"]) ?? 0
            var parts: [String] = []
            for reference in try archive.list(object["NSSubpredicates"]) {
                guard let part = try archive.object(reference) else { continue }
                let text = try predicateText(part, depth: depth + 1)
                let isCompound = part.className == "NSCompoundPredicate"
                try append(isCompound ? "(\(text))" : text, to: &parts)
            }
            if kind == 0 { return "NOT " + parts.joined() }
            return parts.joined(separator: kind == 1 ? " AND " : " OR ")
        default:
            return "<\(object.className)>"
        }
    }

    /// Adds one text to others, as long as they stay short enough to be joined.
    private func append(_ text: String, to texts: inout [String]) throws(ModelError) {
        texts.append(text)
        guard texts.reduce(0, { $0 + $1.utf8.count + 2 }) <= Self.expressionTextLimit else {
            throw .malformed("an expression of the archive is too long")
        }
    }

    private mutating func enter(_ depth: Int) throws(ModelError) {
        guard depth < Self.expressionDepthLimit else {
            throw .malformed("a predicate of the archive is nested too deep")
        }
        try archive.spend(1)
    }
}
