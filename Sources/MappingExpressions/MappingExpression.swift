package import ManagedObjectModel

/// An expression of a mapping model, in the forms of `NSExpression`.
///
/// Values of one source object, and what can be reached from it. Text and archives give the same
/// values, so that whatever reads one of them also reads the other.
package indirect enum MappingExpression: Hashable, Sendable, Codable {
    /// No value (`nil`).
    case null
    case constant(DefaultValue)
    /// `SELF`, the object that a predicate is asked about.
    case evaluatedObject
    /// Such as `$source`, without the dollar sign.
    case variable(String)
    /// The value behind a path of keys; at least one, collection operators such as `@count`
    /// among them.
    case keyPath(MappingExpression, [String])
    case function(ExpressionFunction, [MappingExpression])
    /// `CAST(value, "NSDate")`.
    case cast(MappingExpression, to: CastTarget)
    /// `CONVERT`, `FIELD` or `NORMALIZE` of a value.
    case conversion(ValueConversion, of: MappingExpression)
    /// `ATTEMPT(value, value)`: the second where the first cannot be computed. A whole attribute
    /// alone may be one, so that what was replaced can be counted.
    case attempt(MappingExpression, otherwise: MappingExpression)
    /// `FUNCTION(receiver, "selector:", argument)`: a method of a manager or a policy.
    case call(MappingExpression, selector: String, [MappingExpression])
    /// `TERNARY(predicate, value, value)`.
    case conditional(MappingPredicate, MappingExpression, MappingExpression)
    /// `{value, value}`.
    case list([MappingExpression])
    /// Two collections joined by `UNION`, `INTERSECT` or `MINUS`.
    case combination(SetOperator, MappingExpression, MappingExpression)
    /// `SUBQUERY(collection, $variable, predicate)`: the members that fulfil the predicate.
    case subquery(MappingExpression, variable: String, MappingPredicate)
    /// `collection[index]`.
    case element(MappingExpression, at: ElementIndex)

    /// How `NSExpression` joins two collections.
    package enum SetOperator: String, Hashable, Sendable, Codable, CaseIterable {
        case union = "UNION"
        case intersect = "INTERSECT"
        case minus = "MINUS"
    }

    /// Which element of an ordered collection is meant.
    package enum ElementIndex: Hashable, Sendable, Codable {
        case first, last, size
        case at(MappingExpression)
    }

    /// The class or type that `CAST` names.
    package enum CastTarget: String, Hashable, Sendable, Codable, CaseIterable {
        case number = "NSNumber"
        case decimal = "NSDecimalNumber"
        case date = "NSDate"
        case string = "NSString"
        case uuid = "NSUUID"
        case url = "NSURL"
    }
}

extension MappingExpression {
    /// What `FUNCTION(receiver, "selector:", argument)` means: a function of values, or the method
    /// of a manager or a policy.
    ///
    /// - Parameters:
    ///   - selector: of the method.
    ///   - receiver: what it is called on.
    ///   - arguments: as many as the selector has colons.
    /// - Returns: a call for every method that is no function.
    package static func method(
        _ selector: String, of receiver: MappingExpression, _ arguments: [MappingExpression]
    ) -> MappingExpression {
        let objects: [MappingExpression] = [.variable("manager"), .variable("entityPolicy")]
        guard let function = ExpressionFunction(rawValue: selector), function.isMethod,
            !objects.contains(receiver)
        else { return .call(receiver, selector: selector, arguments) }
        return .function(function, [receiver] + arguments)
    }
}

/// A predicate of a mapping model, in the forms of `NSPredicate`.
///
/// `NONE` is a negated `ANY`, and `SOME` is `ANY`, as in Apple's parser.
package indirect enum MappingPredicate: Hashable, Sendable, Codable {
    /// `TRUEPREDICATE` or `FALSEPREDICATE`.
    case constant(Bool)
    case comparison(PredicateComparison)
    /// At least one part; one alone is that part.
    case and([MappingPredicate])
    /// At least one part; one alone is that part.
    case or([MappingPredicate])
    case not(MappingPredicate)
}

/// One comparison of a predicate.
package struct PredicateComparison: Hashable, Sendable, Codable {
    /// Operators by their word in text.
    package enum Operator: String, Hashable, Sendable, Codable, CaseIterable {
        case lessThan = "<"
        case lessThanOrEqual = "<="
        case greaterThan = ">"
        case greaterThanOrEqual = ">="
        case equal = "=="
        case notEqual = "!="
        case matches = "MATCHES"
        case like = "LIKE"
        case beginsWith = "BEGINSWITH"
        case endsWith = "ENDSWITH"
        case contained = "IN"
        case contains = "CONTAINS"
        case between = "BETWEEN"
    }

    /// Whether the left side is one value, or a collection of which some or all must fit.
    package enum Quantifier: String, Hashable, Sendable, Codable, CaseIterable {
        case direct
        case any = "ANY"
        case all = "ALL"
    }

    /// `[c]`, `[d]`, `[n]`: how texts are compared.
    package struct Options: OptionSet, Hashable, Sendable, Codable {
        package let rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }

        /// `[c]`: without regard to case.
        package static let caseInsensitive = Options(rawValue: 1)
        /// `[d]`: without regard to diacritics.
        package static let diacriticInsensitive = Options(rawValue: 2)
        /// `[n]`: the texts are normalized already; bytes are compared.
        package static let normalized = Options(rawValue: 4)
    }

    package var left: MappingExpression
    package var relation: Operator
    package var right: MappingExpression
    package var quantifier: Quantifier
    package var options: Options

    package init(
        _ left: MappingExpression, _ relation: Operator, _ right: MappingExpression,
        quantifier: Quantifier = .direct, options: Options = []
    ) {
        self.left = left
        self.relation = relation
        self.right = right
        self.quantifier = quantifier
        self.options = options
    }
}

/// The functions of `NSExpression` by their selectors.
///
/// `random`, `random:` and `distanceToLocation:fromLocation:` are missing on purpose: a migration
/// that is tried again must give the same values, and stores hold no locations.
package enum ExpressionFunction: String, Hashable, Sendable, Codable, CaseIterable {
    case sum = "sum:"
    case count = "count:"
    case min = "min:"
    case max = "max:"
    case average = "average:"
    case median = "median:"
    case mode = "mode:"
    case standardDeviation = "stddev:"
    case add = "add:to:"
    case subtract = "from:subtract:"
    case multiply = "multiply:by:"
    case divide = "divide:by:"
    case modulus = "modulus:by:"
    case squareRoot = "sqrt:"
    case logarithm = "log:"
    case naturalLogarithm = "ln:"
    case power = "raise:toPower:"
    case exponential = "exp:"
    case floor = "floor:"
    case ceiling = "ceiling:"
    case absolute = "abs:"
    case truncate = "trunc:"
    case uppercase = "uppercase:"
    case lowercase = "lowercase:"
    case length = "length:"
    /// Of two texts: `FUNCTION(text, "stringByAppendingString:", other)`.
    case append = "stringByAppendingString:"
    case bitwiseAnd = "bitwiseAnd:with:"
    case bitwiseOr = "bitwiseOr:with:"
    case bitwiseXor = "bitwiseXor:with:"
    case leftShift = "leftshift:by:"
    case rightShift = "rightshift:by:"
    case onesComplement = "onesComplement:"
    case noIndex = "noindex:"
    case distinct = "distinct:"
    case now

    /// Whether it is a method of its first argument, which text writes as a `FUNCTION`.
    package var isMethod: Bool { self == .append }

    /// How many arguments it takes.
    package var argumentCount: Int { rawValue.count { $0 == ":" } + (isMethod ? 1 : 0) }
}
