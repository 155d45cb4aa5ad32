import MappingExpressions

/// Reads regular expressions in a subset of ICU's syntax.
///
/// Back-references, look-around, atomic groups, possessive quantifiers, operations on sets and all
/// else that ICU has are refused by name.
struct PatternParser {
    /// Scalars of one pattern.
    private static let lengthLimit = 4_096
    /// How often one part may be repeated by a number.
    private static let countLimit = 1_000

    var scalars: [Unicode.Scalar]
    var position = 0
    var flags: PatternFlags
    private var nesting = 0

    private init(_ pattern: String, flags: PatternFlags) {
        scalars = Array(pattern.unicodeScalars)
        self.flags = flags
    }

    /// The tree of a pattern.
    ///
    /// - Complexity: O(n).
    static func parse(
        _ pattern: String, flags: PatternFlags
    ) throws(ExpressionError) -> PatternNode {
        var parser = PatternParser(pattern, flags: flags)
        guard parser.scalars.count <= lengthLimit else {
            throw PatternError.make(.limit, "more than \(lengthLimit) characters", at: lengthLimit)
        }
        let node = try parser.choice()
        guard parser.current == nil else { throw parser.error(.syntax, "unexpected )") }
        return node
    }

    var current: Unicode.Scalar? { scalar(0) }

    func scalar(_ offset: Int) -> Unicode.Scalar? {
        position + offset < scalars.count ? scalars[position + offset] : nil
    }

    func starts(_ text: String) -> Bool {
        scalars[position...].starts(with: text.unicodeScalars)
    }

    mutating func accept(_ text: String) -> Bool {
        guard starts(text) else { return false }
        position += text.unicodeScalars.count
        return true
    }

    func error(
        _ reason: ExpressionError.Reason, _ message: String, at place: Int? = nil,
        suggestion: String? = nil
    ) -> ExpressionError {
        PatternError.make(reason, message, at: place ?? position, suggestion: suggestion)
    }

    /// Parts with `|` between them, up to a bracket or the end.
    private mutating func choice() throws(ExpressionError) -> PatternNode {
        guard nesting < ExpressionLimits.depth else {
            throw error(.limit, "more than \(ExpressionLimits.depth) groups within each other")
        }
        nesting += 1
        var parts = [try sequence()]
        while accept("|") { parts.append(try sequence()) }
        nesting -= 1
        return parts.count == 1 ? parts[0] : .choice(parts)
    }

    private mutating func sequence() throws(ExpressionError) -> PatternNode {
        var parts: [PatternNode] = []
        while let scalar = current, scalar != "|", scalar != ")" {
            if accept("\\Q") {
                parts += try quotation()
            } else {
                parts.append(try repeated(try atom()))
            }
        }
        return parts.count == 1 ? parts[0] : parts.isEmpty ? .empty : .sequence(parts)
    }

    /// Scalars up to `\E` that stand for themselves; a quantifier behind is of the last one.
    private mutating func quotation() throws(ExpressionError) -> [PatternNode] {
        var parts: [PatternNode] = []
        while current != nil, !accept("\\E") {
            parts.append(.scalar(scalars[position], ignoresCase: flags.ignoresCase))
            position += 1
        }
        if let last = parts.popLast() { parts.append(try repeated(last)) }
        return parts
    }

    /// The part with the quantifier behind it.
    private mutating func repeated(_ node: PatternNode) throws(ExpressionError) -> PatternNode {
        let start = position
        guard let bounds = try quantifier() else { return node }
        if current == "+" {
            throw error(.unsupported, "possessive quantifiers are not supported", at: start)
        }
        // Whether as much or as little as possible is taken, the whole text must match.
        if current == "?" { position += 1 }
        if let next = current, next == "*" || next == "+" || next == "?" || next == "{" {
            throw error(.syntax, "a quantifier follows a quantifier")
        }
        return .repetition(node, minimum: bounds.minimum, maximum: bounds.maximum)
    }

    private mutating func quantifier() throws(ExpressionError) -> (minimum: Int, maximum: Int?)? {
        if accept("*") { return (0, nil) }
        if accept("+") { return (1, nil) }
        if accept("?") { return (0, 1) }
        let start = position
        guard accept("{") else { return nil }
        guard let minimum = try count() else { throw error(.syntax, "a count is expected") }
        var maximum: Int? = minimum
        if accept(",") { maximum = try count() }
        guard accept("}") else { throw error(.syntax, "} is expected") }
        if let maximum, maximum < minimum {
            throw error(.syntax, "the maximum is below the minimum", at: start)
        }
        return (minimum, maximum)
    }

    private mutating func count() throws(ExpressionError) -> Int? {
        let start = position
        var value = 0
        while let scalar = current, ("0"..."9").contains(scalar) {
            value = value * 10 + Int(scalar.value - 0x30)
            guard value <= Self.countLimit else {
                throw error(.limit, "a count of more than \(Self.countLimit)", at: start)
            }
            position += 1
        }
        return position > start ? value : nil
    }

    private mutating func atom() throws(ExpressionError) -> PatternNode {
        guard let scalar = current else { return .empty }
        switch scalar {
        case "(": return try group()
        case "[": return .set(try set())
        case "\\": return try escape()
        case "*", "+", "?":
            throw error(.syntax, "a quantifier has nothing before it")
        case "{": throw error(.syntax, "{ stands for itself only as \\{")
        default: break
        }
        position += 1
        switch scalar {
        case ".": return .any(matchesLineEnds: flags.dotTakesLineEnds)
        case "^": return .assertion(flags.anchorsLines ? .lineStart : .textStart)
        case "$": return .assertion(flags.anchorsLines ? .lineEnd : .lastLineEnd)
        default: return .scalar(scalar, ignoresCase: flags.ignoresCase)
        }
    }

    /// A group, or flags for the rest of the group around it; stands at the bracket.
    private mutating func group() throws(ExpressionError) -> PatternNode {
        let start = position
        position += 1
        let outer = flags
        if accept("?") {
            if let name = Self.refusedGroup(scalars[position...]) {
                throw error(.unsupported, "\(name) not supported", at: start)
            }
            if accept("<") {
                try groupName()
            } else if !accept(":") {
                try readFlags(start)
                if accept(")") { return .empty }
                guard accept(":") else { throw error(.syntax, "unknown kind of group", at: start) }
            }
        }
        let node = try choice()
        guard accept(")") else { throw error(.syntax, "a group does not end", at: start) }
        flags = outer
        return node
    }

    private static func refusedGroup(_ rest: ArraySlice<Unicode.Scalar>) -> String? {
        let refused = [
            ("<=", "look-behind is"), ("<!", "look-behind is"), ("=", "look-ahead is"),
            ("!", "look-ahead is"), (">", "atomic groups are"), ("#", "comments are"),
        ]
        return refused.first { rest.starts(with: $0.0.unicodeScalars) }?.1
    }

    private mutating func groupName() throws(ExpressionError) {
        let start = position
        while let scalar = current, scalar.isASCII,
            scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
        {
            position += 1
        }
        guard position > start, accept(">") else {
            throw error(.syntax, "the name of a group is expected", at: start)
        }
    }

    private mutating func readFlags(_ start: Int) throws(ExpressionError) {
        var isOn = true
        while let scalar = current, scalar != ")", scalar != ":" {
            switch scalar {
            case "-": isOn = false
            case "i": flags.ignoresCase = isOn
            case "m": flags.anchorsLines = isOn
            case "s": flags.dotTakesLineEnds = isOn
            case "x", "w", "d":
                throw error(.unsupported, "the flag \(scalar) is not supported")
            default: throw error(.syntax, "unknown kind of group", at: start)
            }
            position += 1
        }
    }
}
