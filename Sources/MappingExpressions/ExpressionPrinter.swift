import ManagedObjectModel

extension MappingExpression {
    /// Canonical text that `ExpressionParser` reads back as an equal value.
    ///
    /// True of every value within `ExpressionLimits` whose parts are complete: a path has a key,
    /// a function and a call as many arguments as colons, decimals and UUIDs are well-formed.
    ///
    /// - Complexity: O(n × depth).
    package var text: String {
        switch self {
        case .null: return "nil"
        case .constant(let value): return LiteralText.text(value)
        case .evaluatedObject: return "SELF"
        case .variable(let name):
            return ReservedWords.isIdentifier(name) ? "$\(name)" : "$#\(LiteralText.quoted(name))"
        case .keyPath(let value, let keys): return Self.path(value, keys)
        case .function(let function, let arguments): return Self.function(function, arguments)
        case .cast(let value, let target):
            // In brackets, a constant is no literal, which would make a constant of the whole.
            var text = value.text
            if case .constant = value { text = "(\(text))" }
            return "CAST(\(text), \"\(target.rawValue)\")"
        case .conversion(let conversion, let value):
            let parts = [value.text] + conversion.arguments.map(LiteralText.quoted)
            return "\(conversion.function)(\(parts.joined(separator: ", ")))"
        case .attempt(let value, let other): return "ATTEMPT(\(value.text), \(other.text))"
        case .call(let receiver, let selector, let arguments):
            return Self.method(selector, [receiver] + arguments)
        case .conditional(let predicate, let first, let second):
            return "TERNARY(\(predicate.text), \(first.text), \(second.text))"
        case .list(let values): return "{\(values.map(\.text).joined(separator: ", "))}"
        case .combination(let operation, let left, let right):
            let left = left.text(atLeast: Precedence.set)
            let right = right.text(atLeast: Precedence.set + 1)
            return "\(left) \(operation.rawValue) \(right)"
        case .subquery(let collection, let variable, let predicate):
            let name = MappingExpression.variable(variable).text
            return "SUBQUERY(\(collection.text), \(name), \(predicate.text))"
        case .element(let collection, let index):
            return "\(collection.text(atLeast: Precedence.postfix))[\(Self.index(index))]"
        }
    }

    /// How tightly the text binds.
    private var precedence: Int {
        switch self {
        case .constant(.integer(let value)) where value < 0: Precedence.prefix
        case .constant(.real(let value)) where value.sign == .minus && value.isFinite:
            Precedence.prefix
        // A number before a dot or a bracket is hard to read, and before a dot no token.
        case .constant(.integer), .constant(.real): Precedence.number
        case .function(let function, let arguments):
            if let infix = function.infix, arguments.count == 2 {
                infix.precedence
            } else {
                function == .onesComplement ? Precedence.prefix : Precedence.postfix
            }
        case .combination: Precedence.set
        default: Precedence.postfix
        }
    }

    /// The text, in brackets if it binds looser.
    fileprivate func text(atLeast minimum: Int) -> String {
        precedence >= minimum ? text : "(\(text))"
    }

    private static func path(_ value: MappingExpression, _ keys: [String]) -> String {
        var parts = keys.map(key)
        switch value {
        case .evaluatedObject: break
        // Its keys would become part of this path.
        case .keyPath: parts.insert("(\(value.text))", at: 0)
        default: parts.insert(value.text(atLeast: Precedence.postfix), at: 0)
        }
        return parts.joined(separator: ".")
    }

    private static func key(_ key: String) -> String {
        if ReservedWords.collectionOperators.contains(key) { return key }
        guard ReservedWords.isIdentifier(key), key.lowercased() != "uti" else {
            return "#" + LiteralText.quoted(key)
        }
        return ReservedWords.needEscape(key) ? "#" + key : key
    }

    private static func function(
        _ function: ExpressionFunction, _ arguments: [MappingExpression]
    ) -> String {
        if let infix = function.infix, arguments.count == 2 {
            let left = arguments[0].text(atLeast: infix.precedence)
            let right = arguments[1].text(atLeast: infix.precedence + 1)
            return "\(left) \(infix.symbol) \(right)"
        }
        if function == .onesComplement, arguments.count == 1 {
            return "~" + arguments[0].text(atLeast: Precedence.prefix)
        }
        if function.isMethod { return method(function.rawValue, arguments) }
        return "\(function.rawValue)(\(arguments.map(\.text).joined(separator: ", ")))"
    }

    /// A method's call, the receiver first.
    private static func method(_ selector: String, _ values: [MappingExpression]) -> String {
        var parts = values.map(\.text)
        parts.insert(LiteralText.quoted(selector), at: min(1, parts.count))
        return "FUNCTION(\(parts.joined(separator: ", ")))"
    }

    private static func index(_ index: ElementIndex) -> String {
        switch index {
        case .first: "FIRST"
        case .last: "LAST"
        case .size: "SIZE"
        case .at(let value): value.text
        }
    }
}

extension MappingPredicate {
    /// Canonical text that `ExpressionParser` reads back as an equal value.
    ///
    /// True of every value within `ExpressionLimits` whose `and` and `or` have at least two parts
    /// and whose expressions are complete.
    ///
    /// - Complexity: O(n × depth).
    package var text: String {
        switch self {
        case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .comparison(let comparison): comparison.text
        case .and(let parts): Self.join(parts, "AND", whenEmpty: true)
        case .or(let parts): Self.join(parts, "OR", whenEmpty: false)
        case .not(let part): "NOT \(part.textAsPart)"
        }
    }

    private static func join(
        _ parts: [MappingPredicate], _ word: String, whenEmpty: Bool
    ) -> String {
        guard !parts.isEmpty else { return MappingPredicate.constant(whenEmpty).text }
        return parts.map(\.textAsPart).joined(separator: " \(word) ")
    }

    private var textAsPart: String {
        switch self {
        case .and(let parts) where parts.count > 1, .or(let parts) where parts.count > 1:
            "(\(text))"
        default: text
        }
    }
}

extension PredicateComparison {
    /// The comparison as text, with its quantifier and its options.
    package var text: String {
        var word = relation.rawValue
        var letters = ""
        if options.contains(.caseInsensitive) { letters += "c" }
        if options.contains(.diacriticInsensitive) { letters += "d" }
        if options.contains(.normalized) { letters += "n" }
        if !letters.isEmpty { word += "[\(letters)]" }
        let prefix = quantifier == .direct ? "" : quantifier.rawValue + " "
        let left = left.text(atLeast: Precedence.set)
        return "\(prefix)\(left) \(word) \(right.text(atLeast: Precedence.set))"
    }
}
