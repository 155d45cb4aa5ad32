import ManagedObjectModel
package import MappingExpressions

/// An expression of numbers, dates, truth values and texts over numbered inputs, as steps.
///
/// It gives what an evaluator gives, several times as fast, and leaves to it whatever is no plain
/// case: errors, numbers that are too large, values of different kinds. Of texts beyond ASCII it
/// changes letters, counts, and sees parts that no mark of a letter touches.
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

    private let steps: [Step]
    /// The bytes of all constant texts.
    private let constants: [UInt8]
    /// The formats of dates; nil for ISO 8601.
    private let formats: [DateFormat?]
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
        height = compiler.height
        kept = min((inputs.values.max() ?? -1) + 1, UInt64.bitWidth)
    }

    // MARK: - Running

    /// The value for inputs.
    ///
    /// - Parameter input: gives an input by its number; nil for what is no plain value.
    /// - Returns: nil where an evaluator must decide.
    package func value(_ input: (Int) -> PlainValue?) -> PlainValue? {
        withUnsafeTemporaryAllocation(of: PlainValue.self, capacity: kept + height + 1) { values in
            constants.withUnsafeBytes { constants in
                steps.withUnsafeBufferPointer {
                    run($0, values, input) { Self.text($0, constants) }
                }
            }
        }
    }

    /// Hands the bytes of the text that the program gave to a body, without an array for them.
    ///
    /// False where an evaluator must decide; the body is not called then.
    package func withUTF8(
        _ text: PlainText, _ body: (UnsafeRawBufferPointer) -> Void
    ) -> Bool {
        if case .date(let seconds, let format) = text.origin {
            guard let found = DateFormat.utf8(seconds, formats[format]) else { return false }
            found.withUnsafeBytes(body)
            return true
        }
        constants.withUnsafeBytes { constants in
            let found = Self.text(text, constants)
            switch text.letters {
            // Carried as SQL carries it, also what is no UTF-8.
            case .asTheyAre: body(found.bytes)
            case .upper where !text.isASCII:
                guard !LetterTable.upper.change(found.bytes, body) else { return }
                StoredText.bytes(StoredText.string(found.bytes).uppercased()).withUnsafeBytes(body)
            case .lower where !text.isASCII:
                guard !LetterTable.lower.change(found.bytes, body) else { return }
                StoredText.bytes(StoredText.string(found.bytes).lowercased()).withUnsafeBytes(body)
            case .upper, .lower:
                withUnsafeTemporaryAllocation(byteCount: found.count, alignment: 1) { buffer in
                    found.write(to: buffer)
                    body(UnsafeRawBufferPointer(buffer))
                }
            }
        }
        return true
    }

    @inline(__always)
    private static func text(
        _ text: PlainText, _ constants: UnsafeRawBufferPointer
    ) -> PlainBytes {
        switch text.origin {
        case .input(let start, let count):
            PlainBytes(
                bytes: UnsafeRawBufferPointer(start: start, count: count), letters: text.letters)
        case .constant(let start, let count):
            PlainBytes(
                bytes: UnsafeRawBufferPointer(rebasing: constants[start..<start + count]),
                letters: text.letters)
        case .date:
            PlainBytes(
                bytes: UnsafeRawBufferPointer(rebasing: constants[..<0]), letters: .asTheyAre)
        }
    }

    /// `stack`: its first values are the inputs that were read.
    private func run(
        _ steps: UnsafeBufferPointer<Step>, _ stack: UnsafeMutableBufferPointer<PlainValue>,
        _ input: (Int) -> PlainValue?, _ bytes: (PlainText) -> PlainBytes
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
            case .negation: stack[top] = .boolean(!stack[top].isTrue)
            case .jump(let target): place = target
            case .jumpIfFalse(let target):
                if !stack[top].isTrue { place = target }
                top -= 1
            case .jumpIfTrue(let target):
                if stack[top].isTrue { place = target }
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
        if value.isNull { return .null }
        guard case .text(var text) = value, text.hasBytes else { return nil }
        guard case .letters(let letters) = step else {
            if text.isASCII { return .integer(Int64(bytes(text).count)) }
            guard text.letters == .asTheyAre else { return nil }
            return bytes(text).utf16Count.map { .integer(Int64($0)) }
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
            // An evaluator looks at each character once, however long the part is.
            guard form.count <= 64 || part != .anywhere else { return nil }
            let last = max(0, text.count - form.count)
            let places =
                switch part {
                case .beginning: 0...0
                case .end: last...last
                case .anywhere: 0...last
                }
            if !whole.isASCII {
                guard whole.letters == .asTheyAre else { return nil }
                guard part == .beginning, text.isASCII(through: form.count) else {
                    return foldsCase ? nil : text.has(form, amid: places)
                }
            }
            return text.firstPlace(of: form, in: places, foldsCase: foldsCase) != nil
        default: return nil
        }
    }
}
