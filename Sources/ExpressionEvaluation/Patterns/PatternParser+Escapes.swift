import ManagedObjectModel
import MappingExpressions

/// Escapes and sets of patterns.
extension PatternParser {
    /// What an escape stands for outside of a set; stands at the backslash.
    mutating func escape() throws(ExpressionError) -> PatternNode {
        let start = position
        if let item = try classEscape() {
            return .set(PatternSet([item], ignoresCase: flags.ignoresCase))
        }
        guard let letter = scalar(1) else { throw error(.syntax, "the pattern ends with \\") }
        let assertion: PatternAssertion? =
            switch letter {
            case "A": .textStart
            case "z": .textEnd
            case "Z": .lastLineEnd
            case "b": .wordBoundary
            case "B": .noWordBoundary
            default: nil
            }
        if let assertion {
            position += 2
            return .assertion(assertion)
        }
        if ("1"..."9").contains(letter) || letter == "k" {
            throw error(.unsupported, "back-references are not supported", at: start)
        }
        return .scalar(try scalarEscape(), ignoresCase: flags.ignoresCase)
    }

    /// `\d`, `\p{L}` and their like; nil, without a step, for other escapes.
    private mutating func classEscape() throws(ExpressionError) -> PatternSet.Item? {
        guard let letter = scalar(1) else { return nil }
        let item: PatternSet.Item? =
            switch letter {
            case "d": .property(.digit, isNegated: false)
            case "D": .property(.digit, isNegated: true)
            case "w": .property(.word, isNegated: false)
            case "W": .property(.word, isNegated: true)
            case "s": .property(.whiteSpace, isNegated: false)
            case "S": .property(.whiteSpace, isNegated: true)
            case "h": .property(.blank, isNegated: false)
            case "H": .property(.blank, isNegated: true)
            default: nil
            }
        if let item {
            position += 2
            return item
        }
        guard letter == "p" || letter == "P" else { return nil }
        let start = position
        position += 2
        guard accept("{"), let name = take(to: "}") else {
            throw error(.syntax, "a property is written \\p{…}", at: start)
        }
        guard let property = PatternProperty(name: name) else {
            throw error(
                .unknownName, "an unknown property", at: start,
                suggestion: NameSuggestion.nearest(to: name, among: PatternProperty.names).first)
        }
        return .property(property, isNegated: letter == "P")
    }

    /// The text up to a mark, which is taken, too.
    private mutating func take(to mark: String) -> String? {
        let start = position
        while current != nil {
            let end = position
            if accept(mark) { return String(String.UnicodeScalarView(scalars[start..<end])) }
            position += 1
        }
        position = start
        return nil
    }

    /// The one scalar that an escape stands for; stands at the backslash.
    private mutating func scalarEscape() throws(ExpressionError) -> Unicode.Scalar {
        let start = position
        guard let letter = scalar(1) else { throw error(.syntax, "the pattern ends with \\") }
        position += 2
        switch letter {
        case "n": return "\n"
        case "t": return "\t"
        case "r": return "\r"
        case "f": return "\u{C}"
        case "a": return "\u{7}"
        case "e": return "\u{1B}"
        case "u": return try hexadecimal(4...4, start)
        case "U": return try hexadecimal(8...8, start)
        case "x":
            guard accept("{") else { return try hexadecimal(2...2, start) }
            let scalar = try hexadecimal(1...6, start)
            guard accept("}") else { throw error(.syntax, "} is expected") }
            return scalar
        case "X", "R", "G", "N", "c", "v", "V", "0", "E":
            throw error(.unsupported, "the escape \\\(letter) is not supported", at: start)
        case _ where letter.isASCII && letter.properties.isAlphabetic:
            throw error(.syntax, "an unknown escape", at: start)
        default: return letter
        }
    }

    private mutating func hexadecimal(
        _ counts: ClosedRange<Int>, _ start: Int
    ) throws(ExpressionError) -> Unicode.Scalar {
        var value: UInt32 = 0
        var count = 0
        while count < counts.upperBound, let scalar = current, scalar.isASCII,
            let digit = Character(scalar).hexDigitValue
        {
            value = value << 4 | UInt32(digit)
            count += 1
            position += 1
        }
        guard counts.contains(count), let scalar = Unicode.Scalar(value) else {
            throw error(.syntax, "the hexadecimal digits of a scalar are expected", at: start)
        }
        return scalar
    }

    /// A set in square brackets; stands at the opening one.
    mutating func set(depth: Int = 0) throws(ExpressionError) -> PatternSet {
        let start = position
        guard depth < ExpressionLimits.depth else {
            throw error(.limit, "more than \(ExpressionLimits.depth) sets within each other")
        }
        position += 1
        let isNegated = accept("^")
        var items: [PatternSet.Item] = []
        while let scalar = current, scalar != "]" {
            if starts("&&") || starts("--") {
                throw error(.unsupported, "operations on sets are not supported")
            }
            if starts("[:") {
                items.append(try posixClass())
            } else if scalar == "[" {
                items.append(.set(try set(depth: depth + 1)))
            } else if scalar == "\\", let item = try classEscape() {
                items.append(item)
            } else {
                items.append(try range())
            }
        }
        guard accept("]") else { throw error(.syntax, "a set does not end", at: start) }
        guard !items.isEmpty else { throw error(.syntax, "an empty set", at: start) }
        return PatternSet(items, isNegated: isNegated, ignoresCase: flags.ignoresCase)
    }

    private mutating func posixClass() throws(ExpressionError) -> PatternSet.Item {
        let start = position
        position += 2
        let isNegated = accept("^")
        guard let name = take(to: ":]") else {
            throw error(.syntax, "a class does not end with :]", at: start)
        }
        guard let property = PatternProperty(posixName: name) else {
            throw error(
                .unknownName, "an unknown class", at: start,
                suggestion: NameSuggestion.nearest(to: name, among: PatternProperty.posixNames)
                    .first)
        }
        return .property(property, isNegated: isNegated)
    }

    /// One scalar, or two with a hyphen between them.
    private mutating func range() throws(ExpressionError) -> PatternSet.Item {
        let start = position
        let first = try member()
        guard current == "-", let next = scalar(1), next != "]", next != "-", next != "[" else {
            return .range(first.value...first.value)
        }
        position += 1
        let last = try member()
        guard first.value <= last.value else {
            throw error(.syntax, "a range ends before it starts", at: start)
        }
        return .range(first.value...last.value)
    }

    private mutating func member() throws(ExpressionError) -> Unicode.Scalar {
        guard let scalar = current else { throw error(.syntax, "a set does not end") }
        if scalar == "\\" { return try scalarEscape() }
        position += 1
        return scalar
    }
}
