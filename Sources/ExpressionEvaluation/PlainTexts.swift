import ManagedObjectModel
import MappingExpressions

/// Where the bytes of texts stand while a program runs: those of inputs and constants where they
/// are, those that it joins in a buffer of its own.
struct PlainTexts: ~Copyable {
    private let constants: UnsafeRawBufferPointer
    private let formats: UnsafeBufferPointer<DateFormat?>
    /// Joined texts, one behind the other.
    private var joined = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// How many bytes of it are used.
    private var used = 0

    /// `constants`, `formats`: of the program.
    init(constants: UnsafeRawBufferPointer, formats: UnsafeBufferPointer<DateFormat?>) {
        self.constants = constants
        self.formats = formats
    }

    deinit { joined.deallocate() }

    /// The bytes of a text; none of one whose bytes are not there yet.
    @inline(__always)
    func bytes(_ text: PlainText) -> PlainBytes {
        let found =
            switch text.origin {
            case .input(let start, let count): UnsafeRawBufferPointer(start: start, count: count)
            case .constant(let start, let count):
                UnsafeRawBufferPointer(rebasing: constants[start..<start + count])
            case .joined(let start, let count):
                UnsafeRawBufferPointer(
                    rebasing: UnsafeRawBufferPointer(joined)[start..<start + count])
            case .date, .integer, .real: UnsafeRawBufferPointer(start: nil, count: 0)
            }
        return PlainBytes(bytes: found, letters: text.letters)
    }

    /// Hands the bytes of a text to a body, without an array for them where it can.
    ///
    /// False where an evaluator must decide; the body is not called then.
    func write(_ text: PlainText, _ body: (UnsafeRawBufferPointer) -> Void) -> Bool {
        switch text.origin {
        case .date(let seconds, let format):
            guard let found = DateFormat.utf8(seconds, formats[format]) else { return false }
            found.withUnsafeBytes(body)
            return true
        case .integer(let number):
            Array("\(number)".utf8).withUnsafeBytes(body)
            return true
        case .real(let number):
            guard let found = DefaultValue.real(number).stringValue else { return false }
            Array(found.utf8).withUnsafeBytes(body)
            return true
        case .input, .constant, .joined: break
        }
        let found = bytes(text)
        switch text.letters {
        // Carried as SQL carries it, also what is no UTF-8.
        case .asTheyAre: body(found.bytes)
        case .upper where !text.isASCII:
            if !LetterTable.upper.change(found.bytes, body) {
                StoredText.bytes(StoredText.string(found.bytes).uppercased()).withUnsafeBytes(body)
            }
        case .lower where !text.isASCII:
            if !LetterTable.lower.change(found.bytes, body) {
                StoredText.bytes(StoredText.string(found.bytes).lowercased()).withUnsafeBytes(body)
            }
        case .upper, .lower:
            withUnsafeTemporaryAllocation(byteCount: found.count, alignment: 1) { buffer in
                found.write(to: buffer)
                body(UnsafeRawBufferPointer(buffer))
            }
        }
        return true
    }

    // MARK: - Joining

    /// Two texts as one; nil where an evaluator must decide.
    ///
    /// - Complexity: O(n) for texts of n bytes.
    mutating func join(_ one: PlainText, _ other: PlainText) -> PlainText? {
        let start = used
        guard append(one), append(other) else { return nil }
        return PlainText(joined: start, UnsafeRawBufferPointer(joined)[start..<used])
    }

    private mutating func append(_ text: PlainText) -> Bool {
        if text.letters == .asTheyAre, text.stands { return add(bytes(text).bytes) }
        var written: [UInt8] = []
        guard write(text, { written = Array($0) }) else { return false }
        return written.withUnsafeBytes { add($0) }
    }

    /// Adds bytes, which may stand in the buffer itself.
    private mutating func add(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let end = used + bytes.count
        // A string has up to three bytes for one that is no UTF-8.
        guard end <= ExpressionLimits.value / 3 else { return false }
        if end > joined.count {
            let larger = UnsafeMutableRawBufferPointer.allocate(
                byteCount: max(256, 2 * end), alignment: 1)
            larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: joined[..<used]))
            UnsafeMutableRawBufferPointer(rebasing: larger[used...]).copyMemory(from: bytes)
            joined.deallocate()
            joined = larger
        } else if !bytes.isEmpty {
            UnsafeMutableRawBufferPointer(rebasing: joined[used...]).copyMemory(from: bytes)
        }
        used = end
        return true
    }

    // MARK: - Functions and predicates

    /// What a function makes of a text; nil for another value.
    func result(of step: PlainProgram.Step, _ value: PlainValue) -> PlainValue? {
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

    /// A value in another type or form; nil where an evaluator must decide.
    mutating func converted(
        _ value: PlainValue, _ conversion: ValueConversion
    ) -> PlainValue? {
        switch conversion {
        case .type(let type, let format): converted(value, to: type, format)
        case .normalized(let steps): normalized(value, steps)
        case .field: nil
        }
    }

    private mutating func normalized(_ value: PlainValue, _ steps: [TextStep]) -> PlainValue? {
        if value.isNull { return .null }
        guard case .text(let text) = value, text.hasBytes,
            text.isASCII
                || text.letters == .asTheyAre && bytes(text).hasPlainSpaces
                    && steps.allSatisfy({ [.trim, .collapse, .empty].contains($0) })
        else { return nil }
        // Changed where they are joined.
        var start = used
        guard append(text) else { return nil }
        // White space of ASCII, as Unicode has it.
        let isSpace = { (byte: UInt8) in byte == 32 || (9...13).contains(byte) }
        for step in steps {
            switch step {
            case .trim:
                while start < used, isSpace(joined[used - 1]) { used -= 1 }
                while start < used, isSpace(joined[start]) { start += 1 }
            case .collapse:
                var (end, wasSpace) = (start, false)
                for place in start..<used {
                    let byte = joined[place]
                    if !(wasSpace && isSpace(byte)) {
                        joined[end] = isSpace(byte) ? 32 : byte
                        end += 1
                    }
                    wasSpace = isSpace(byte)
                }
                used = end
            case .nfc, .nfd: break
            case .lowercase, .uppercase:
                for place in start..<used {
                    joined[place] = PlainBytes.changed(
                        joined[place], step == .lowercase ? .lower : .upper)
                }
            case .empty: if start == used { return .null }
            }
        }
        return .text(PlainText(joined: start, UnsafeRawBufferPointer(joined)[start..<used]))
    }

    private func converted(
        _ value: PlainValue, to type: AttributeType, _ format: DateFormat?
    ) -> PlainValue? {
        let scalar: DefaultValue
        switch value {
        case .null: return .null
        case .text(let text):
            guard text.isASCII, text.hasBytes, text.letters == .asTheyAre else { return nil }
            scalar = .text(String(decoding: bytes(text).bytes, as: UTF8.self))
        default:
            guard let found = value.scalar else { return nil }
            scalar = found
        }
        do throws(ExpressionError) {
            return PlainValue(try TypeConversion.value(of: scalar, as: type, format))
        } catch {
            return nil
        }
    }

    func holds(
        _ relation: PlainProgram.Relation, _ one: PlainValue, _ other: PlainValue,
        foldsCase: Bool
    ) -> Bool? {
        guard case .text(let one) = one, case .text(let other) = other else {
            return PlainValue.holds(relation, one, other)
        }
        guard one.isASCII, other.isASCII else { return nil }
        let (left, right) = (bytes(one), bytes(other))
        switch relation {
        case .equal, .notEqual:
            let isEqual =
                left.count == right.count && left.has(right, at: 0, foldsCase: foldsCase)
            return isEqual == (relation == .equal)
        case .less: return left.isLess(than: right, foldsCase: foldsCase)
        case .lessOrEqual: return !right.isLess(than: left, foldsCase: foldsCase)
        }
    }

    /// Whether a value is at neither side of two bounds, which belong to the range.
    func isBetween(
        _ value: PlainValue, _ least: PlainValue, _ most: PlainValue, foldsCase: Bool
    ) -> Bool? {
        let isAbove = holds(.lessOrEqual, least, value, foldsCase: foldsCase)
        return isAbove == true
            ? holds(.lessOrEqual, value, most, foldsCase: foldsCase) : isAbove
    }

    /// Whether a whole text matches a pattern; nil where an evaluator must decide.
    func matches(_ value: PlainValue, _ table: PatternTable, isOfASCII: Bool) -> Bool? {
        if value.isNull { return false }
        guard case .text(let text) = value, text.hasBytes,
            text.isASCII || !isOfASCII && text.letters == .asTheyAre
        else { return nil }
        return table.matches(bytes(text))
    }

    /// Whether a text has a part; nil where an evaluator must decide.
    func has(
        _ part: PlainProgram.Part, _ whole: PlainValue, _ wanted: PlainValue, foldsCase: Bool,
        foldsMarks: Bool
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
                guard whole.letters == .asTheyAre, !foldsMarks else { return nil }
                guard part == .beginning, text.isASCII(through: form.count) else {
                    return foldsCase ? nil : text.has(form, amid: places)
                }
            }
            return text.firstPlace(of: form, in: places, foldsCase: foldsCase) != nil
        default: return nil
        }
    }
}
