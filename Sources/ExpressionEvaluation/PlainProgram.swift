import ManagedObjectModel
package import MappingExpressions

/// An expression of numbers, dates, truth values and texts over numbered inputs, as steps.
///
/// It gives what an evaluator gives, several times as fast, and leaves to it whatever is no plain
/// case: errors, numbers that are too large, values of different kinds. Of texts beyond ASCII it
/// changes letters and sees beginnings; what else is asked of them is left, too.
package struct PlainProgram: Sendable {
    enum Arithmetic: Sendable {
        case add, subtract, multiply, divide
    }

    enum Relation: Sendable {
        case equal, notEqual, less, lessOrEqual
    }

    enum Part: Sendable {
        case beginning, end, anywhere
    }

    private enum Step: Sendable {
        case constant(PlainValue)
        case input(Int)
        case arithmetic(Arithmetic)
        /// Pushes a truth value.
        case comparison(Relation, foldsCase: Bool)
        /// The same, for a text and a part of it.
        case part(Part, foldsCase: Bool)
        case letters(PlainText.Letters)
        /// Makes a text of a date.
        case dateText(format: Int)
        case length
        case negation
        case jump(Int)
        /// Takes a truth value away, and jumps where it is false.
        case jumpIfFalse(Int)
        /// The same where it is true.
        case jumpIfTrue(Int)
    }

    private var steps: [Step] = []
    /// The bytes of all constant texts.
    private var constants: [UInt8] = []
    /// The formats of dates; nil for ISO 8601.
    private var formats: [DateFormat?] = []
    private let inputs: [String: Int]
    private let now: Double
    /// The most values at one time.
    private var height = 0

    /// Nil for an expression with anything but plain values.
    ///
    /// - Parameters:
    ///   - expression: of at most 64 levels.
    ///   - inputs: the numbers of its variables.
    ///   - now: what `now()` gives, in seconds since 2001.
    package init?(_ expression: MappingExpression, inputs: [String: Int], now: Double) {
        self.inputs = inputs
        self.now = now
        guard add(expression, depth: 0) else { return nil }
    }

    // MARK: - Compiling

    /// Adds the steps of an expression; false where it is not plain.
    ///
    /// `depth`: how many values are there already.
    private mutating func add(_ expression: MappingExpression, depth: Int) -> Bool {
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
        case .function(.uppercase, let arguments), .function(.lowercase, let arguments),
            .function(.length, let arguments):
            guard arguments.count == 1, add(arguments[0], depth: depth) else { return false }
            switch expression {
            case .function(.uppercase, _): steps.append(.letters(.upper))
            case .function(.lowercase, _): steps.append(.letters(.lower))
            default: steps.append(.length)
            }
        case .function(let function, let arguments):
            let known: [ExpressionFunction: Arithmetic] = [
                .add: .add, .subtract: .subtract, .multiply: .multiply, .divide: .divide,
            ]
            guard let arithmetic = known[function], arguments.count == 2,
                add(arguments[0], depth: depth), add(arguments[1], depth: depth + 1)
            else { return false }
            steps.append(.arithmetic(arithmetic))
        // What fails is no plain case, and left to an evaluator.
        case .attempt(let first, _): return add(first, depth: depth)
        case .conversion(.type(.string, let format), let part):
            guard add(part, depth: depth), format?.pattern.utf8.contains(0) != true else {
                return false
            }
            steps.append(.dateText(format: formats.count))
            formats.append(format)
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
        var sides = (comparison.left, comparison.right)
        let foldsCase = comparison.options.contains(.caseInsensitive)
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
        case .beginsWith: step = .part(.beginning, foldsCase: foldsCase)
        case .endsWith: step = .part(.end, foldsCase: foldsCase)
        case .contains: step = .part(.anywhere, foldsCase: foldsCase)
        case .contained:
            // The left side is said for each member, and none may fail that an evaluator looks at.
            guard case .list(let members) = comparison.right, !members.isEmpty,
                ([comparison.left] + members).allSatisfy(Self.isLeaf)
            else { return false }
            let parts = members.map { member in
                MappingPredicate.comparison(
                    PredicateComparison(
                        comparison.left, .equal, member, options: comparison.options))
            }
            return add(parts, depth: depth, isAnd: false)
        default: return false
        }
        guard add(sides.0, depth: depth), add(sides.1, depth: depth + 1) else { return false }
        steps.append(step)
        return true
    }

    private static func isLeaf(_ expression: MappingExpression) -> Bool {
        switch expression {
        case .null, .constant, .variable: true
        default: false
        }
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

    // MARK: - Running

    /// The value for inputs.
    ///
    /// - Parameters:
    ///   - input: gives an input by its number; nil for what is no plain value.
    ///   - bytes: gives the bytes of an input that is a text.
    /// - Returns: nil where an evaluator must decide.
    package func value(
        _ input: (Int) -> PlainValue?,
        bytes: (Int) -> UnsafeRawBufferPointer = { _ in UnsafeRawBufferPointer(start: nil, count: 0)
        }
    ) -> PlainValue? {
        withUnsafeTemporaryAllocation(of: PlainValue.self, capacity: height + 1) { stack in
            constants.withUnsafeBytes { constants in
                steps.withUnsafeBufferPointer {
                    run($0, stack, input) { Self.text($0, constants, bytes) }
                }
            }
        }
    }

    /// The bytes of the text that the program gave.
    ///
    /// `bytes`: as above. Nil where an evaluator must decide.
    package func utf8(
        _ text: PlainText, bytes: (Int) -> UnsafeRawBufferPointer
    ) -> [UInt8]? {
        if case .date(let seconds, let format) = text.origin {
            return DateFormat.utf8(seconds, formats[format])
        }
        return constants.withUnsafeBytes { constants in
            let found = Self.text(text, constants, bytes)
            switch text.letters {
            case .asTheyAre where text.isASCII: return Array(found.bytes)
            // Whatever is no UTF-8 is replaced, as an evaluator does.
            case .asTheyAre: return Array(String(decoding: found.bytes, as: UTF8.self).utf8)
            case .upper where !text.isASCII:
                return Array(String(decoding: found.bytes, as: UTF8.self).uppercased().utf8)
            case .lower where !text.isASCII:
                return Array(String(decoding: found.bytes, as: UTF8.self).lowercased().utf8)
            case .upper, .lower:
                return [UInt8](unsafeUninitializedCapacity: found.count) { buffer, count in
                    for place in 0..<found.count {
                        buffer[place] = PlainBytes.changed(found.bytes[place], text.letters)
                    }
                    count = found.count
                }
            }
        }
    }

    @inline(__always)
    private static func text(
        _ text: PlainText, _ constants: UnsafeRawBufferPointer,
        _ bytes: (Int) -> UnsafeRawBufferPointer
    ) -> PlainBytes {
        switch text.origin {
        case .input(let number): PlainBytes(bytes: bytes(number), letters: text.letters)
        case .constant(let start, let count):
            PlainBytes(
                bytes: UnsafeRawBufferPointer(rebasing: constants[start..<start + count]),
                letters: text.letters)
        case .date:
            PlainBytes(
                bytes: UnsafeRawBufferPointer(rebasing: constants[..<0]), letters: .asTheyAre)
        }
    }

    private func run(
        _ steps: UnsafeBufferPointer<Step>, _ stack: UnsafeMutableBufferPointer<PlainValue>,
        _ input: (Int) -> PlainValue?, _ bytes: (PlainText) -> PlainBytes
    ) -> PlainValue? {
        var (place, top) = (0, -1)
        while place < steps.count {
            let step = steps[place]
            place += 1
            switch step {
            case .constant(let value):
                top += 1
                stack[top] = value
            case .input(let number):
                guard let value = input(number) else { return nil }
                top += 1
                stack[top] = value
            case .arithmetic(let function):
                guard let value = PlainValue.result(of: function, stack[top - 1], stack[top])
                else { return nil }
                top -= 1
                stack[top] = value
            case .comparison(let relation, let foldsCase):
                let holds = Self.holds(relation, stack[top - 1], stack[top], foldsCase, bytes)
                guard let holds else { return nil }
                top -= 1
                stack[top] = .boolean(holds)
            case .part(let part, let foldsCase):
                let holds = Self.has(part, stack[top - 1], stack[top], foldsCase, bytes)
                guard let holds else { return nil }
                top -= 1
                stack[top] = .boolean(holds)
            case .letters, .length:
                guard let value = Self.result(of: step, stack[top], bytes) else { return nil }
                stack[top] = value
            case .dateText(let format):
                switch stack[top] {
                case .null: break
                case .date(let seconds):
                    guard let text = PlainText(date: seconds, format: format) else { return nil }
                    stack[top] = .text(text)
                default: return nil
                }
            case .negation: stack[top] = .boolean(stack[top] != .boolean(true))
            case .jump(let target): place = target
            case .jumpIfFalse(let target):
                if stack[top] != .boolean(true) { place = target }
                top -= 1
            case .jumpIfTrue(let target):
                if stack[top] == .boolean(true) { place = target }
                top -= 1
            }
        }
        return stack[top]
    }

    // MARK: - Texts

    /// What a function makes of a text; nil for another value.
    private static func result(
        of step: Step, _ value: PlainValue, _ bytes: (PlainText) -> PlainBytes
    ) -> PlainValue? {
        if value == .null { return .null }
        guard case .text(var text) = value, text.hasBytes else { return nil }
        guard case .letters(let letters) = step else {
            return text.isASCII ? .integer(Int64(bytes(text).count)) : nil
        }
        // Two changes of ASCII letters are the second one; those of others are not.
        guard text.isASCII || text.letters == .asTheyAre else { return nil }
        text.letters = letters
        return .text(text)
    }

    private static func holds(
        _ relation: Relation, _ one: PlainValue, _ other: PlainValue, _ foldsCase: Bool,
        _ bytes: (PlainText) -> PlainBytes
    ) -> Bool? {
        guard case .text(let one) = one, case .text(let other) = other else {
            return PlainValue.holds(relation, one, other)
        }
        guard one.isASCII, other.isASCII else { return nil }
        let (left, right) = (bytes(one), bytes(other))
        let isEqual = {
            left.count == right.count && left.has(right, at: 0, foldsCase: foldsCase)
        }
        switch relation {
        case .equal: return isEqual()
        case .notEqual: return !isEqual()
        case .less: return left.isLess(than: right, foldsCase: foldsCase)
        case .lessOrEqual: return !right.isLess(than: left, foldsCase: foldsCase)
        }
    }

    /// Whether a text has a part; nil for other values.
    private static func has(
        _ part: Part, _ whole: PlainValue, _ wanted: PlainValue, _ foldsCase: Bool,
        _ bytes: (PlainText) -> PlainBytes
    ) -> Bool? {
        switch (whole, wanted) {
        case (.null, .null), (.null, .text), (.text, .null): return false
        case (.text(let whole), .text(let wanted)):
            guard whole.hasBytes, wanted.hasBytes else { return nil }
            let (text, form) = (bytes(whole), bytes(wanted))
            guard wanted.isASCII else { return nil }
            if !whole.isASCII {
                guard part == .beginning, whole.letters == .asTheyAre,
                    text.isASCII(through: form.count)
                else { return nil }
            }
            switch part {
            case .beginning: return text.has(form, at: 0, foldsCase: foldsCase)
            case .end: return text.has(form, at: text.count - form.count, foldsCase: foldsCase)
            case .anywhere:
                return (0...max(0, text.count - form.count)).contains {
                    text.has(form, at: $0, foldsCase: foldsCase)
                }
            }
        default: return nil
        }
    }
}
