/// What stands between two operands, with how tightly it binds.
enum InfixOperator: Equatable {
    case or
    case and
    case comparison(PredicateComparison.Operator)
    case set(MappingExpression.SetOperator)
    case function(ExpressionFunction)

    /// The operator of a token; nil for any other token.
    init?(_ token: ExpressionToken.Kind) {
        let found: InfixOperator? =
            switch token {
            case .symbol(let symbol): Self.symbols[symbol]
            case .word(let word): ReservedWords.folded(word).flatMap { Self.words[$0] }
            default: nil
            }
        guard let found else { return nil }
        self = found
    }

    /// The higher, the tighter.
    var precedence: Int {
        switch self {
        case .or: Precedence.or
        case .and: Precedence.and
        case .comparison: Precedence.comparison
        case .set: Precedence.set
        case .function(let function): function.infix?.precedence ?? Precedence.power
        }
    }

    private static let symbols: [String: InfixOperator] = {
        var symbols: [String: InfixOperator] = [
            "||": .or, "&&": .and, "=": .comparison(.equal), "==": .comparison(.equal),
            "!=": .comparison(.notEqual), "<>": .comparison(.notEqual),
            "<": .comparison(.lessThan), ">": .comparison(.greaterThan),
            "<=": .comparison(.lessThanOrEqual), "=<": .comparison(.lessThanOrEqual),
            ">=": .comparison(.greaterThanOrEqual), "=>": .comparison(.greaterThanOrEqual),
        ]
        for function in ExpressionFunction.allCases {
            if let infix = function.infix { symbols[infix.symbol] = .function(function) }
        }
        return symbols
    }()

    private static let words: [String: InfixOperator] = {
        var words: [String: InfixOperator] = ["or": .or, "and": .and]
        for relation in PredicateComparison.Operator.allCases {
            words[relation.rawValue.lowercased()] = .comparison(relation)
        }
        for operation in MappingExpression.SetOperator.allCases {
            words[operation.rawValue.lowercased()] = .set(operation)
        }
        return words
    }()
}

/// How tightly parts of a text bind: the higher, the tighter.
///
/// Apple publishes no order for bitwise operators; they stand as in C, but above comparisons.
enum Precedence {
    static let or = 1
    static let and = 2
    static let not = 3
    static let comparison = 4
    static let set = 5
    static let bitwiseOr = 6
    static let bitwiseXor = 7
    static let bitwiseAnd = 8
    static let shift = 9
    static let sum = 10
    static let product = 11
    /// A minus or a `~` before a value: looser than `**`, so that `-2 ** 2` is -4.
    static let prefix = 12
    static let power = 13
    /// Numbers, which need brackets before a path.
    static let number = 14
    /// Paths and elements.
    static let postfix = 15
}

extension ExpressionFunction {
    /// The operator that text writes for the function; nil for those written as calls.
    var infix: (symbol: String, precedence: Int)? {
        switch self {
        case .add: ("+", Precedence.sum)
        case .subtract: ("-", Precedence.sum)
        case .multiply: ("*", Precedence.product)
        case .divide: ("/", Precedence.product)
        case .power: ("**", Precedence.power)
        case .bitwiseAnd: ("&", Precedence.bitwiseAnd)
        case .bitwiseOr: ("|", Precedence.bitwiseOr)
        case .bitwiseXor: ("^", Precedence.bitwiseXor)
        case .leftShift: ("<<", Precedence.shift)
        case .rightShift: (">>", Precedence.shift)
        default: nil
        }
    }

    /// The names under which text may call it: the selector, and the name alone for one argument.
    static let names: [String: ExpressionFunction] = {
        var names: [String: ExpressionFunction] = [:]
        for function in allCases where !function.isMethod {
            names[function.rawValue] = function
            if function.argumentCount == 1 {
                names[String(function.rawValue.dropLast())] = function
            }
        }
        return names
    }()
}
