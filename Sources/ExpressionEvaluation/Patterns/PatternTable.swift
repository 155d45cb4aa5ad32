import Synchronization

/// A program as a table: what state follows a state for an ASCII character, and for any other one.
///
/// It answers for most texts in one step a character. Others it leaves to `PatternMachine`.
final class PatternTable: Sendable {
    /// The column of scalars beyond ASCII.
    fileprivate static let beyond = 0x80
    fileprivate static let width = 0x81
    /// The state from which no text matches, and the one in which texts begin.
    fileprivate static let (dead, start) = (0, 1)
    /// Stands for a state where only the machine knows what follows.
    fileprivate static let unsure = UInt8.max

    private let next: [UInt8]
    /// Whether a text may end in a state.
    private let accepts: [Bool]

    fileprivate init(next: [UInt8], accepts: [Bool]) {
        self.next = next
        self.accepts = accepts
    }

    /// The last tables, by the bytes of patterns; nil for patterns without one.
    private static let known = Mutex<[[UInt8]: PatternTable?]>([:])
    private static let limit = 64

    /// The table of a pattern, kept for others who ask.
    ///
    /// Nil for a pattern that fails, that would need too large a table, or in which a place depends
    /// on what is around it.
    static func of(_ pattern: String, ignoresCase: Bool) -> PatternTable? {
        let key = [ignoresCase ? 1 : 0] + Array(pattern.utf8)
        if let known = known.withLock({ $0[key] }) { return known }
        let made = TextPattern.table(pattern, ignoresCase: ignoresCase)
        // What is longer than any pattern may be is not kept.
        guard key.count <= 1 << 14 else { return made }
        known.withLock { known in
            if known.count >= limit { known.removeAll() }
            known[key] = .some(made)
        }
        return made
    }

    /// Whether a whole text matches; nil where the machine must decide.
    ///
    /// - Complexity: O(n).
    func matches(_ text: PlainBytes) -> Bool? {
        next.withUnsafeBufferPointer { next in
            var (state, place) = (Self.start, 0)
            while place < text.count, state != Self.dead {
                var column = Int(text.byte(place, foldsCase: false))
                if column < Self.beyond {
                    place += 1
                } else {
                    guard let width = text.plainWidth(at: place) else { return nil }
                    (column, place) = (Self.beyond, place + width)
                }
                let found = next[state * Self.width + column]
                guard found != Self.unsure else { return nil }
                state = Int(found)
            }
            return accepts[state]
        }
    }
}

/// Makes the table of a program.
struct PatternTableMaker {
    private static let stateLimit = 64
    private static let instructionLimit = 500

    private let program: PatternProgram
    /// The instructions at which the machine stands, by state.
    private var states: [[Int]] = [[]]
    /// States by them; the one at the text's start is none of another place.
    private var numbers: [[Int]: Int] = [[]: PatternTable.dead]
    /// The same by the instructions that took the character.
    private var followers: [[Int]: UInt8] = [:]

    private var (takesLineEnds, anchorsLineEnds) = (false, false)

    init(_ program: PatternProgram) { self.program = program }

    /// - Complexity: O(states × instructions × 129), both of which are bounded.
    mutating func table() -> PatternTable? {
        guard program.instructions.count <= Self.instructionLimit else { return nil }
        for case .assertion(let assertion) in program.instructions {
            guard [.textStart, .textEnd, .lastLineEnd].contains(assertion) else { return nil }
        }
        for instruction in program.instructions {
            if case .anyWithLineEnds = instruction { takesLineEnds = true }
            if case .assertion(.lastLineEnd) = instruction { anchorsLineEnds = true }
        }
        states.append(closure([0], holding: [.textStart]))
        var (next, accepts): ([UInt8], [Bool]) = ([], [])
        var state = 0
        while state < states.count {
            for column in 0..<PatternTable.width {
                guard let found = follower(of: state, column) else { return nil }
                next.append(found)
            }
            let start: [PatternAssertion] = state == PatternTable.start ? [.textStart] : []
            let last = closure(states[state], holding: start + [.textEnd, .lastLineEnd])
            // No other instruction stands at the end.
            accepts.append(last.last == program.instructions.count - 1)
            state += 1
        }
        return PatternTable(next: next, accepts: accepts)
    }

    /// Nil where there are too many states.
    private mutating func follower(of state: Int, _ column: Int) -> UInt8? {
        // Anchors stand before the last line end, and line ends may be two characters.
        if (0x0A...0x0D).contains(column), anchorsLineEnds { return PatternTable.unsure }
        if column == 0x0D, takesLineEnds { return PatternTable.unsure }
        var places: [Int] = []
        for place in states[state] {
            let takes = program.takes(place, column < PatternTable.beyond ? UInt8(column) : nil)
            guard let takes else { return PatternTable.unsure }
            guard takes else { continue }
            var width = 1
            // The instruction for the rest of a line end is passed.
            if case .anyWithLineEnds = program.instructions[place] { width = 2 }
            places.append(place + width)
        }
        if let known = followers[places] { return known }
        let found = closure(places, holding: [])
        let number = numbers[found] ?? states.count
        if number == states.count {
            guard number < Self.stateLimit else { return nil }
            states.append(found)
            numbers[found] = number
        }
        followers[places] = UInt8(number)
        return UInt8(number)
    }

    /// All instructions that are reached without taking a scalar, in order.
    private func closure(_ places: [Int], holding: [PatternAssertion]) -> [Int] {
        var (found, pending) = (Set<Int>(), places)
        while let place = pending.popLast() {
            guard found.insert(place).inserted else { continue }
            switch program.instructions[place] {
            case .jump(let target): pending.append(target)
            case .split(let one, let other): pending += [one, other]
            case .assertion(let assertion) where holding.contains(assertion):
                pending.append(place + 1)
            default: break
            }
        }
        return found.sorted()
    }
}

extension PatternProgram {
    /// Whether an instruction takes an ASCII character, or any scalar beyond that is no line end;
    /// nil where that depends on the scalar.
    fileprivate func takes(_ place: Int, _ byte: UInt8?) -> Bool? {
        switch instructions[place] {
        case .scalar(let wanted):
            return byte.map { wanted.value == $0 } ?? (wanted.isASCII ? false : nil)
        case .folded(let wanted):
            // The signs of the kelvin and the long s fold to letters of ASCII.
            return byte.map { wanted.value == PlainBytes.changed($0, .lower) }
                ?? (wanted.isASCII && wanted != "k" && wanted != "s" ? false : nil)
        case .any: return byte.map { !(0x0A...0x0D).contains($0) } ?? true
        case .anyWithLineEnds: return true
        case .set(let index):
            return byte.map { sets[index].contains(Unicode.Scalar($0)) } ?? sets[index].beyond
        case .restOfLineEnd, .assertion, .split, .jump, .accept: return false
        }
    }
}
