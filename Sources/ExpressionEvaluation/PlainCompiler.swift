import ManagedObjectModel
import MappingExpressions

/// Makes the steps of a program.
struct PlainCompiler {
    typealias Step = PlainProgram.Step

    private(set) var steps: [Step] = []
    private(set) var constants: [UInt8] = []
    private(set) var formats: [DateFormat?] = []
    private(set) var conversions: [ValueConversion] = []
    private(set) var tables: [PatternTable] = []
    private(set) var height = 0
    private let inputs: [String: Int]
    private let now: Double

    init(inputs: [String: Int], now: Double) {
        self.inputs = inputs
        self.now = now
    }

    /// Adds the steps of an expression; false where it is not plain.
    ///
    /// `depth`: how many values are there already.
    mutating func add(_ expression: MappingExpression, depth: Int) -> Bool {
        height = max(height, depth + 1)
        switch expression {
        case .null: steps.append(.constant(.null))
        case .constant(.text(let text)):
            let bytes = Array(text.utf8)
            guard bytes.withUnsafeBytes(PlainText.isPlain) else { return false }
            steps.append(
                .constant(.text(PlainText(start: constants.count, count: bytes.count))))
            constants += bytes
        case .constant(let constant):
            guard let value = PlainValue(constant) else { return false }
            steps.append(.constant(value))
        case .variable(let name):
            guard let input = inputs[name] else { return false }
            steps.append(.input(input))
        case .function(.now, _): steps.append(.constant(.date(now)))
        case .function(let function, let arguments):
            guard let step = Self.step(function), arguments.count == function.argumentCount
            else { return false }
            for (number, argument) in arguments.enumerated() {
                guard add(argument, depth: depth + number) else { return false }
            }
            steps.append(step)
        // What fails is no plain case, and left to an evaluator.
        case .attempt(let first, _): return add(first, depth: depth)
        case .conversion(let conversion, let part):
            guard add(part, depth: depth) else { return false }
            return convert(conversion)
        case .cast(let part, let target):
            let known: [MappingExpression.CastTarget: Step] = [
                .number: .castToNumber, .date: .castToDate, .string: .numberText,
            ]
            guard let step = known[target], add(part, depth: depth) else { return false }
            steps.append(step)
        case .conditional(let predicate, let one, let other):
            guard add(predicate, depth: depth) else { return false }
            let test = reserve()
            guard add(one, depth: depth) else { return false }
            let end = reserve()
            steps[test] = .jumpIfFalse(steps.count)
            guard add(other, depth: depth) else { return false }
            steps[end] = .jump(steps.count)
        default: return false
        }
        return true
    }

    private static func step(_ function: ExpressionFunction) -> Step? {
        switch function {
        case .add: .arithmetic(.add)
        case .subtract: .arithmetic(.subtract)
        case .multiply: .arithmetic(.multiply)
        case .divide: .arithmetic(.divide)
        case .modulus, .power: .numbers(function)
        case .squareRoot, .logarithm, .naturalLogarithm, .exponential, .floor, .ceiling,
            .absolute, .truncate:
            .number(function)
        case .append: .join
        case .uppercase: .letters(.upper)
        case .lowercase: .letters(.lower)
        case .length: .length
        default: nil
        }
    }

    private mutating func convert(_ conversion: ValueConversion) -> Bool {
        switch conversion {
        case .type(.string, let format):
            // Characters of a pattern that stand for bytes are left to the evaluator.
            let pattern = format?.pattern ?? ""
            guard !pattern.utf8.contains(0), StoredText.bytes(pattern) == Array(pattern.utf8)
            else { return false }
            steps.append(.dateText(format: formats.count))
            formats.append(format)
        case .type(.integer16, _), .type(.integer32, _), .type(.integer64, _),
            .type(.double, _), .type(.float, _), .type(.boolean, _), .type(.date, _), .normalized:
            steps.append(.conversion(conversions.count))
            conversions.append(conversion)
        case .type, .field: return false
        }
        return true
    }

    /// A place for a jump.
    private mutating func reserve() -> Int {
        steps.append(.jump(0))
        return steps.count - 1
    }

    private mutating func add(_ predicate: MappingPredicate, depth: Int) -> Bool {
        height = max(height, depth + 1)
        switch predicate {
        case .constant(let value): steps.append(.constant(.boolean(value)))
        case .not(let part):
            guard add(part, depth: depth) else { return false }
            steps.append(.negation)
        case .and(let parts): return add(parts, depth: depth, isAnd: true)
        case .or(let parts): return add(parts, depth: depth, isAnd: false)
        case .comparison(let comparison): return add(comparison, depth: depth)
        }
        return true
    }

    private mutating func add(_ comparison: PredicateComparison, depth: Int) -> Bool {
        guard comparison.quantifier == .direct else { return false }
        if let parts = comparison.asComparisons { return add(parts, depth: depth) }
        var sides = (comparison.left, comparison.right)
        let foldsCase = comparison.options.contains(.caseInsensitive)
        let foldsMarks = comparison.options.contains(.diacriticInsensitive)
        let step: Step
        switch comparison.relation {
        case .equal: step = .comparison(.equal, foldsCase: foldsCase)
        case .notEqual: step = .comparison(.notEqual, foldsCase: foldsCase)
        case .lessThan: step = .comparison(.less, foldsCase: foldsCase)
        case .lessThanOrEqual: step = .comparison(.lessOrEqual, foldsCase: foldsCase)
        case .greaterThan:
            (step, sides) = (.comparison(.less, foldsCase: foldsCase), (sides.1, sides.0))
        case .greaterThanOrEqual:
            (step, sides) = (.comparison(.lessOrEqual, foldsCase: foldsCase), (sides.1, sides.0))
        case .beginsWith:
            step = .part(.beginning, foldsCase: foldsCase, foldsMarks: foldsMarks)
        case .endsWith: step = .part(.end, foldsCase: foldsCase, foldsMarks: foldsMarks)
        case .contains:
            step = .part(.anywhere, foldsCase: foldsCase, foldsMarks: foldsMarks)
        case .between:
            guard case .list(let bounds) = comparison.right, bounds.count == 2,
                add(comparison.left, depth: depth), add(bounds[0], depth: depth + 1),
                add(bounds[1], depth: depth + 2)
            else { return false }
            steps.append(.between(foldsCase: foldsCase))
            return true
        case .matches, .like:
            guard add(comparison.left, depth: depth), let table = Self.table(comparison) else {
                return false
            }
            steps.append(.match(tables.count, isOfASCII: comparison.relation == .like))
            tables.append(table)
            return true
        default: return false
        }
        guard add(sides.0, depth: depth), add(sides.1, depth: depth + 1) else { return false }
        steps.append(step)
        return true
    }

    /// The table of a pattern or form that is known.
    private static func table(_ comparison: PredicateComparison) -> PatternTable? {
        guard case .constant(.text(let pattern)) = comparison.right else { return nil }
        let ignoresCase = comparison.options.contains(.caseInsensitive)
        if comparison.relation == .like {
            return Self.pattern(like: pattern).flatMap { .of($0, ignoresCase: ignoresCase) }
        }
        guard !comparison.options.contains(.diacriticInsensitive) else { return nil }
        // As the evaluator reads constants.
        return .of(StoredText.string(pattern), ignoresCase: ignoresCase)
    }

    /// The pattern of a form with `*` and `?`, which a `\\` takes as they are; nil for one beyond
    /// ASCII, and for line ends of two bytes, which are one character.
    private static func pattern(like form: String) -> String? {
        guard form.utf8.allSatisfy({ $0 < 0x80 && $0 != 0x0D && $0 != 0 }) else { return nil }
        var (result, rest) = ("(?s)", Array(form)[...])
        while var sign = rest.popFirst() {
            let isWild = sign == "*" || sign == "?"
            if sign == "\\", let next = rest.first, "*?\\".contains(next) {
                sign = next
                rest.removeFirst()
            }
            let isSpecial = sign.isPunctuation || sign.isSymbol
            result += isWild ? (sign == "*" ? ".*" : ".") : (isSpecial ? "\\" : "") + "\(sign)"
        }
        return result
    }

    /// Parts of which the first that decides ends the test.
    private mutating func add(_ parts: [MappingPredicate], depth: Int, isAnd: Bool) -> Bool {
        var jumps: [Int] = []
        for part in parts {
            guard add(part, depth: depth) else { return false }
            jumps.append(reserve())
        }
        steps.append(.constant(.boolean(isAnd)))
        let end = reserve()
        for jump in jumps {
            steps[jump] = isAnd ? .jumpIfFalse(steps.count) : .jumpIfTrue(steps.count)
        }
        steps.append(.constant(.boolean(!isAnd)))
        steps[end] = .jump(steps.count)
        return true
    }
}
