import ManagedObjectModel

/// Fetch indexes, predicates and expressions.
extension ModelArchiveWriter {
    /// The most expressions inside each other that a text may have.
    private static let depthLimit = 16

    mutating func fetchIndex(
        _ index: FetchIndex, of name: String, entity: PropertyList
    ) throws(ModelError) -> PropertyList {
        let place = table.reserve()
        let label = "\(name).\(index.name)"
        var elements: [PropertyList] = []
        for element in index.elements {
            elements.append(try fetchIndexElement(element, index: place, label: label))
        }
        var predicate = KeyedArchiveBuilder.null
        if let partial = index.partialPredicate {
            predicate = try self.predicate(partial, of: label)
        }
        table.fill(
            place, ArchivedClass.fetchIndex,
            [
                PropertyList.Entry("NSIndexName", table.text(index.name)),
                PropertyList.Entry("NSIndexElements", table.list("NSArray", elements)),
                PropertyList.Entry("NSPartialIndexPredicate", predicate),
                PropertyList.Entry("NSEntity", entity),
            ])
        return place
    }

    private mutating func fetchIndexElement(
        _ element: FetchIndexElement, index: PropertyList, label: String
    ) throws(ModelError) -> PropertyList {
        var name = ""
        var property: PropertyList?
        switch element.target {
        case .property(let property): name = property
        case .entity:
            name = nextExpressionName()
            property = expressionProperty(name, keyPath("entity"), type: .undefined)
        case .objectID:
            name = nextExpressionName()
            property = expressionProperty(name, selfExpression(), type: .objectID)
        case .expression(let text):
            name = nextExpressionName()
            property = expressionProperty(
                name, try expression(text, of: label), type: .undefined)
        }
        var fields = [
            PropertyList.Entry("NSPropertyName", table.text(name)),
            PropertyList.Entry(
                "NSFetchIndexElementType", .integer(Int128(element.type.rawValue))),
            PropertyList.Entry("NSFetchIndexDescription", index),
            PropertyList.Entry("NSAscending", .boolean(element.isAscending)),
        ]
        if let property { fields.append(PropertyList.Entry("NSIndexedProperty", property)) }
        return table.add(ArchivedClass.fetchIndexElement, fields)
    }

    private mutating func nextExpressionName() -> String {
        expressionCount += 1
        return "expression\(expressionCount)"
    }

    // MARK: - Predicates

    mutating func predicate(
        _ predicate: Predicate, of label: String
    ) throws(ModelError) -> PropertyList {
        switch predicate {
        case .compare(let property, let comparison, let constant):
            return table.add(
                "NSComparisonPredicate",
                [
                    PropertyList.Entry("NSLeftExpression", keyPath(property)),
                    PropertyList.Entry(
                        "NSRightExpression", try self.constant(constant, of: label)),
                    PropertyList.Entry("NSPredicateOperator", comparator(comparison)),
                ])
        case .not(let part): return try compound(0, [part], of: label)
        case .and(let parts): return try compound(1, parts, of: label)
        case .or(let parts): return try compound(2, parts, of: label)
        case .unsupported(let text):
            throw .unsupported("the predicate of \(label) is known only as text: \(text)")
        }
    }

    private mutating func compound(
        _ type: Int128, _ parts: [Predicate], of label: String
    ) throws(ModelError) -> PropertyList {
        var references: [PropertyList] = []
        for part in parts { references.append(try predicate(part, of: label)) }
        return table.add(
            "NSCompoundPredicate",
            [
                PropertyList.Entry("NSCompoundPredicateType", .integer(type)),
                PropertyList.Entry("NSSubpredicates", table.list("NSArray", references)),
            ])
    }

    private mutating func comparator(_ comparison: Predicate.Comparison) -> PropertyList {
        let number = PropertyList.integer(Int128(comparison.archivedNumber))
        let common = [
            PropertyList.Entry("NSOperatorType", number),
            PropertyList.Entry("NSModifier", .integer(0)),
            PropertyList.Entry("NSOptions", .integer(0)),
        ]
        switch comparison {
        case .equal, .notEqual:
            let isNegated = PropertyList.boolean(comparison == .notEqual)
            return table.add(
                "NSEqualityPredicateOperator",
                common + [PropertyList.Entry("NSNegate", isNegated)])
        default:
            return table.add(
                "NSComparisonPredicateOperator",
                common + [PropertyList.Entry("NSVariant", number)])
        }
    }

    private mutating func constant(
        _ constant: DefaultValue?, of label: String
    ) throws(ModelError) -> PropertyList {
        // A null constant names the class of none instead of a value.
        let field =
            constant == nil
            ? PropertyList.Entry("NSConstantValueClassName", KeyedArchiveBuilder.null)
            : PropertyList.Entry("NSConstantValue", try value(constant, of: label))
        return table.add(
            "NSConstantValueExpression",
            [PropertyList.Entry("NSExpressionType", .integer(0)), field])
    }

    // MARK: - Expressions

    /// Archives an expression from its text: a key path, or a function of expressions.
    mutating func expression(
        _ text: String, of label: String, depth: Int = 0
    ) throws(ModelError) -> PropertyList {
        let trimmed = text.trimmed
        let refusal = ModelError.unsupported(
            "the expression of \(label) cannot be archived from its text: "
                + text.prefix(200) + (text.count > 200 ? " …" : ""))
        guard depth < Self.depthLimit else { throw refusal }
        if trimmed == "SELF" { return selfExpression() }
        if PredicateText.isKeyPath(trimmed) {
            let suffix = PredicateText.countSuffix
            guard trimmed.hasSuffix(suffix) else { return keyPath(trimmed) }
            let counted = String(trimmed.dropLast(suffix.count))
            guard !counted.isEmpty, !counted.hasSuffix(suffix) else { return keyPath(trimmed) }
            return function("count:", [keyPath(counted)])
        }
        guard let open = trimmed.firstIndex(of: "("), trimmed.hasSuffix(")"),
            !trimmed.contains("\"")
        else { throw refusal }
        let selector = String(trimmed[..<open])
        guard PredicateText.isKeyPath(selector.replacing(":", with: "")) else { throw refusal }
        let inside = trimmed[trimmed.index(after: open)...].dropLast()
        var arguments: [PropertyList] = []
        for argument in try Self.split(String(inside), refusal: refusal) {
            arguments.append(try expression(argument, of: label, depth: depth + 1))
        }
        return function(selector, arguments)
    }

    /// Arguments between the commas that stand in no inner parentheses.
    private static func split(
        _ text: String, refusal: ModelError
    ) throws(ModelError) -> [String] {
        guard !text.trimmed.isEmpty else { return [] }
        var parts = [""]
        var depth = 0
        for character in text {
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            guard depth >= 0 else { throw refusal }
            if character == "," && depth == 0 {
                parts.append("")
            } else {
                parts[parts.count - 1].append(character)
            }
        }
        guard depth == 0 else { throw refusal }
        return parts
    }

    private mutating func function(
        _ selector: String, _ arguments: [PropertyList]
    ) -> PropertyList {
        let receiver = table.add(
            "NSConstantValueExpression",
            [
                PropertyList.Entry("NSExpressionType", .integer(0)),
                PropertyList.Entry(
                    "NSConstantValueClassName", table.text(PredicateText.functionReceiver)),
            ])
        return table.add(
            "NSFunctionExpression",
            [
                PropertyList.Entry("NSOperand", receiver),
                PropertyList.Entry("NSSelectorName", table.text(selector)),
                PropertyList.Entry("NSExpressionType", .integer(4)),
                PropertyList.Entry("NSArguments", table.list("NSArray", arguments)),
            ])
    }

    private mutating func selfExpression() -> PropertyList {
        table.add(
            "NSSelfExpression", [PropertyList.Entry("NSExpressionType", .integer(1))])
    }

    private mutating func keyPath(_ path: String) -> PropertyList {
        let specifier = table.add(
            "NSKeyPathSpecifierExpression",
            [
                PropertyList.Entry("NSExpressionType", .integer(10)),
                PropertyList.Entry("NSKeyPath", table.text(path)),
            ])
        let selector = path.contains(".") ? "valueForKeyPath:" : "valueForKey:"
        return table.add(
            "NSKeyPathExpression",
            [
                PropertyList.Entry("NSOperand", selfExpression()),
                PropertyList.Entry("NSSelectorName", table.text(selector)),
                PropertyList.Entry("NSExpressionType", .integer(3)),
                PropertyList.Entry("NSArguments", table.list("NSMutableArray", [specifier])),
            ])
    }
}

extension String {
    /// Without blanks at both ends.
    fileprivate var trimmed: String {
        let start = drop { $0 == " " }
        return String(start.reversed().drop { $0 == " " }.reversed())
    }
}
