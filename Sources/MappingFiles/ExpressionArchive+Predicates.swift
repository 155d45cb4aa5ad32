import ManagedObjectModel
package import MappingExpressions
package import ModelFiles

/// Predicates and fetch requests.
extension ExpressionArchive {
    /// One archived predicate.
    ///
    /// - Throws: `MappingFileError`, as `expression(_:depth:)`.
    package mutating func predicate(
        _ object: ArchivedObject, depth: Int = 0
    ) throws(MappingFileError) -> MappingPredicate {
        try enter(depth)
        switch object.className {
        case "NSTruePredicate": return .constant(true)
        case "NSFalsePredicate": return .constant(false)
        case "NSCompoundPredicate": return try compound(object, depth)
        case "NSComparisonPredicate": return try comparison(object, depth)
        default:
            throw .unsupported("a predicate of class \(object.className) is not supported")
        }
    }

    private mutating func compound(
        _ object: ArchivedObject, _ depth: Int
    ) throws(MappingFileError) -> MappingPredicate {
        let kind = try integer(object, "NSCompoundPredicateType")
        let references = try MappingFileError.translating {
            try archive.list(object["NSSubpredicates"])
        }
        var parts: [MappingPredicate] = []
        for reference in references {
            parts.append(try predicate(self.object(reference), depth: depth + 1))
        }
        switch (kind, parts.count) {
        case (0, 1): return .not(parts[0])
        case (1, 0): return .constant(true)
        case (2, 0): return .constant(false)
        case (1, 1), (2, 1): return parts[0]
        case (1, _): return .and(parts)
        case (2, _): return .or(parts)
        default: throw .malformed("an archived compound predicate has type \(kind)")
        }
    }

    private mutating func comparison(
        _ object: ArchivedObject, _ depth: Int
    ) throws(MappingFileError) -> MappingPredicate {
        let comparator = try part(object, "NSPredicateOperator")
        let number = try integer(comparator, "NSOperatorType")
        guard let relation = Self.operators[number] else {
            throw .unsupported("a comparison by operator \(number) is not supported")
        }
        let quantifiers: [Int64: PredicateComparison.Quantifier] = [0: .direct, 1: .all, 2: .any]
        let modifier = try integer(comparator, "NSModifier")
        guard let quantifier = quantifiers[modifier] else {
            throw .malformed("an archived comparison has modifier \(modifier)")
        }
        // Operators on texts keep their options under another key.
        let options =
            try integer(comparator, "NSOptions") | integer(comparator, "NSFlags")
        let known: PredicateComparison.Options = [
            .caseInsensitive, .diacriticInsensitive, .normalized,
        ]
        guard let bits = Int(exactly: options), bits & ~known.rawValue == 0 else {
            throw .unsupported("a comparison with options \(options) is not supported")
        }
        return .comparison(
            PredicateComparison(
                try expression(part(object, "NSLeftExpression"), depth: depth + 1), relation,
                try expression(part(object, "NSRightExpression"), depth: depth + 1),
                quantifier: quantifier, options: PredicateComparison.Options(rawValue: bits)))
    }

    private func integer(
        _ object: ArchivedObject, _ key: String
    ) throws(MappingFileError) -> Int64 {
        try MappingFileError.translating { try archive.integer(object[key]) } ?? 0
    }

    /// By `NSPredicateOperatorType`.
    private static let operators: [Int64: PredicateComparison.Operator] = [
        0: .lessThan, 1: .lessThanOrEqual, 2: .greaterThan, 3: .greaterThanOrEqual, 4: .equal,
        5: .notEqual, 6: .matches, 7: .like, 8: .beginsWith, 9: .endsWith, 10: .contained,
        99: .contains, 100: .between,
    ]

    // MARK: - Fetch requests

    /// The predicate of an entity mapping's source expression.
    ///
    /// Xcode compiles it to a fetch through the manager, whose predicate is text.
    ///
    /// - Returns: the name of the entity and the text of the predicate; nil for an expression
    ///   that fetches nothing.
    /// - Throws: `MappingFileError.unsupported` for another kind of fetch.
    package mutating func fetch(
        _ object: ArchivedObject
    ) throws(MappingFileError) -> (entity: String, predicate: String)? {
        guard object.className == "NSFetchRequestExpression" else { return nil }
        let request = try expression(part(object, "NSFRExpression"), depth: 1)
        guard case .call(.variable(ManagerFetch.receiver), let selector, let arguments) = request,
            selector == ManagerFetch.selector, arguments.count == 2,
            case .constant(.text(let entity)) = arguments[0],
            case .constant(.text(let predicate)) = arguments[1]
        else {
            throw .unsupported("a source expression fetches in a way that is not supported")
        }
        return (entity, predicate)
    }

    /// What a compiled source expression calls.
    private enum ManagerFetch {
        static let receiver = "manager"
        static let selector = "fetchRequestForSourceEntityNamed:predicateString:"
    }
}
