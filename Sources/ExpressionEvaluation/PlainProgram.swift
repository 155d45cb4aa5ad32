import ManagedObjectModel
package import MappingExpressions

/// An expression of numbers, dates, truth values and texts over numbered inputs, as steps.
///
/// It gives what an evaluator gives, several times as fast, and leaves to it whatever is no plain
/// case: errors, numbers that are too large, values of different kinds. Of texts beyond ASCII it
/// changes letters, counts, joins, and sees parts that no mark of a letter touches.
///
/// An object: loops over rows would count references to the parts of a structure.
package final class PlainProgram: Sendable {
    enum Arithmetic: Sendable {
        case add, subtract, multiply, divide
    }

    enum Relation: Sendable {
        case equal, notEqual, less, lessOrEqual
    }

    enum Part: Sendable {
        case beginning, end, anywhere
    }

    enum Step: Sendable {
        case constant(PlainValue)
        case input(Int)
        case arithmetic(Arithmetic)
        /// A function of one number.
        case number(ExpressionFunction)
        /// The same of two.
        case numbers(ExpressionFunction)
        /// Pushes a truth value.
        case comparison(Relation, foldsCase: Bool)
        /// The same, for a text and a part of it; of texts beyond ASCII, marks may have to be left
        /// out.
        case part(Part, foldsCase: Bool, foldsMarks: Bool)
        /// The same, for a value and two bounds.
        case between(foldsCase: Bool)
        case letters(PlainText.Letters)
        /// `CONVERT` to a text, of a date by its format or of a number.
        case dateText(format: Int)
        /// `CAST` to a text, which no date has.
        case numberText
        /// Appends a text to another.
        case join
        /// A value of another type or form, by its place in `conversions`.
        case conversion(Int)
        /// Takes a text and pushes a truth value, by a pattern's place in `tables`; texts of ASCII
        /// alone for `LIKE`.
        case match(Int, isOfASCII: Bool)
        case castToNumber
        case castToDate
        case length
        case negation
        case jump(Int)
        /// Takes a truth value away, and jumps where it is false.
        case jumpIfFalse(Int)
        /// The same where it is true.
        case jumpIfTrue(Int)
    }

    private let steps: [Step]
    /// The bytes of all constant texts.
    private let constants: [UInt8]
    /// The formats of dates; nil for ISO 8601.
    private let formats: [DateFormat?]
    private let conversions: [ValueConversion]
    private let tables: [PatternTable]
    /// The most values at one time.
    private let height: Int
    /// How many inputs are kept once they are read.
    private let kept: Int

    /// Nil for an expression with anything but plain values.
    ///
    /// - Parameters:
    ///   - expression: of at most 64 levels.
    ///   - inputs: the numbers of its variables.
    ///   - now: what `now()` gives, in seconds since 2001.
    package init?(_ expression: MappingExpression, inputs: [String: Int], now: Double) {
        var compiler = PlainCompiler(inputs: inputs, now: now)
        guard compiler.add(expression, depth: 0) else { return nil }
        steps = compiler.steps
        constants = compiler.constants
        formats = compiler.formats
        conversions = compiler.conversions
        tables = compiler.tables
        height = compiler.height
        kept = min((inputs.values.max() ?? -1) + 1, UInt64.bitWidth)
    }

    // MARK: - Running

    /// The value for inputs.
    ///
    /// - Parameters:
    ///   - input: gives an input by its number; nil for what is no plain value.
    ///   - text: gets the bytes of a text that is the value, before this returns.
    /// - Returns: nil where an evaluator must decide. A text is without its bytes.
    package func value(
        _ input: (Int) -> PlainValue?, text: (UnsafeRawBufferPointer) -> Void = { _ in }
    ) -> PlainValue? {
        withUnsafeTemporaryAllocation(of: PlainValue.self, capacity: kept + height + 1) { values in
            constants.withUnsafeBytes { constants in
                formats.withUnsafeBufferPointer { formats in
                    var texts = PlainTexts(constants: constants, formats: formats)
                    let value = steps.withUnsafeBufferPointer { run($0, values, input, &texts) }
                    guard case .text(let found)? = value else { return value }
                    return texts.write(found, text) ? value : nil
                }
            }
        }
    }

    /// `stack`: its first values are the inputs that were read.
    private func run(
        _ steps: UnsafeBufferPointer<Step>, _ stack: UnsafeMutableBufferPointer<PlainValue>,
        _ input: (Int) -> PlainValue?, _ texts: inout PlainTexts
    ) -> PlainValue? {
        var (place, top) = (0, kept - 1)
        // A bit for each of the kept inputs.
        var read: UInt64 = 0
        while place < steps.count {
            let step = steps[place]
            place += 1
            switch step {
            case .constant(let value):
                top += 1
                stack[top] = value
            case .input(let number):
                top += 1
                if number < kept, read >> UInt64(number) & 1 == 1 {
                    stack[top] = stack[number]
                    continue
                }
                guard let value = input(number) else { return nil }
                stack[top] = value
                guard number < kept else { continue }
                stack[number] = value
                read |= 1 << UInt64(number)
            case .jump(let target): place = target
            case .jumpIfFalse(let target):
                if !stack[top].isTrue { place = target }
                top -= 1
            case .jumpIfTrue(let target):
                if stack[top].isTrue { place = target }
                top -= 1
            case .comparison, .part, .arithmetic, .numbers, .join:
                guard let value = Self.result(of: step, stack[top - 1], stack[top], &texts)
                else { return nil }
                top -= 1
                stack[top] = value
            case .between(let foldsCase):
                let isBetween = texts.isBetween(
                    stack[top - 2], stack[top - 1], stack[top], foldsCase: foldsCase)
                guard let isBetween else { return nil }
                top -= 2
                stack[top] = .boolean(isBetween)
            case .conversion(let number):
                guard let value = texts.converted(stack[top], conversions[number]) else {
                    return nil
                }
                stack[top] = value
            case .match(let number, let isOfASCII):
                let holds = texts.matches(stack[top], tables[number], isOfASCII: isOfASCII)
                guard let holds else { return nil }
                stack[top] = .boolean(holds)
            default:
                guard let value = Self.result(of: step, stack[top], texts) else { return nil }
                stack[top] = value
            }
        }
        return stack[top]
    }

    /// What a step makes of two values; nil where an evaluator must decide.
    @inline(__always)
    private static func result(
        of step: Step, _ one: PlainValue, _ other: PlainValue, _ texts: inout PlainTexts
    ) -> PlainValue? {
        switch step {
        case .comparison(let relation, let foldsCase):
            return texts.holds(relation, one, other, foldsCase: foldsCase).map { .boolean($0) }
        case .part(let part, let foldsCase, let foldsMarks):
            return texts.has(
                part, one, other, foldsCase: foldsCase, foldsMarks: foldsMarks
            ).map { .boolean($0) }
        case .arithmetic(let function): return PlainValue.result(of: function, one, other)
        case .numbers(let function): return PlainValue.result(of: function, one, other)
        default:
            if one.isNull { return .null }
            guard case .text(let one) = one, case .text(let other) = other else { return nil }
            return texts.join(one, other).map { .text($0) }
        }
    }

    /// What a step makes of one value; nil where an evaluator must decide.
    @inline(__always)
    private static func result(
        of step: Step, _ value: PlainValue, _ texts: borrowing PlainTexts
    ) -> PlainValue? {
        switch step {
        case .letters, .length: return texts.result(of: step, value)
        case .negation: return .boolean(!value.isTrue)
        case .number(let function): return PlainValue.result(of: function, value, nil)
        case .dateText(let format):
            guard case .date(let seconds) = value else { return value.asText }
            return PlainText(date: seconds, format: format).map { .text($0) }
        case .numberText: return value.asText
        case .castToNumber:
            switch value {
            case .null, .integer, .real, .boolean: return value
            case .date(let seconds): return .real(seconds)
            case .text: return nil
            }
        default:
            if case .date = value { return value }
            return value.isNull ? .null : value.real.map { .date($0) }
        }
    }
}
