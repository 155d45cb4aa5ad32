/// A program as a table: what state follows a state for an ASCII character, and for any other one.
///
/// It answers for most texts in one step a character. Others it leaves to `PatternMachine`.
package struct PatternTable: Sendable {
    private static let stateLimit = 128
    private static let instructionLimit = 500
    /// The column of scalars beyond ASCII.
    private static let beyond = 0x80
    private static let width = 0x81
    /// The state from which no text matches.
    private static let dead: UInt8 = 0
    /// Stands for a state where only the machine knows what follows.
    private static let unsure = UInt8.max

    private let program: PatternProgram
    /// The instructions at which the machine stands, by state.
    private var states: [[Int]] = [[]]
    private var next: [UInt8] = []
    /// Whether a text may end in a state.
    private var accepts: [Bool] = []

    /// Nil where a table would be too large, or a place of the text depends on what is around it.
    ///
    /// - Complexity: O(states × instructions), both of which are bounded.
    init?(_ program: PatternProgram) {
        self.program = program
        guard program.instructions.count <= Self.instructionLimit else { return nil }
        for case .assertion(let assertion) in program.instructions {
            guard [.textStart, .textEnd, .lastLineEnd].contains(assertion) else { return nil }
        }
        states.append(closure([0], holding: [.textStart]))
        var state = 0
        while state < states.count {
            guard states.count <= Self.stateLimit else { return nil }
            for column in 0..<Self.width { next.append(follower(of: state, column)) }
            let start: [PatternAssertion] = state == 1 ? [.textStart] : []
            accepts.append(
                closure(states[state], holding: start + [.textEnd, .lastLineEnd]).contains {
                    if case .accept = program.instructions[$0] { true } else { false }
                })
            state += 1
        }
    }

    private mutating func follower(of state: Int, _ column: Int) -> UInt8 {
        // Line ends may be two characters, and anchors stand before the last one.
        if (0x0A...0x0D).contains(column) { return Self.unsure }
        var places: [Int] = []
        for place in states[state] {
            let takes = program.takes(place, column < Self.beyond ? UInt8(column) : nil)
            guard let takes else { return Self.unsure }
            guard takes else { continue }
            if case .anyWithLineEnds = program.instructions[place] {
                places.append(place + 2)
            } else {
                places.append(place + 1)
            }
        }
        let found = closure(places, holding: [])
        if let known = states.firstIndex(of: found) { return UInt8(known) }
        states.append(found)
        return UInt8(truncatingIfNeeded: states.count - 1)
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

    /// Whether a whole text matches; nil where the machine must decide.
    ///
    /// - Complexity: O(n).
    func matches(_ text: PlainBytes) -> Bool? {
        next.withUnsafeBufferPointer { next in
            var (state, place) = (1, 0)
            while place < text.count, state != Int(Self.dead) {
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

extension PatternProgram {
    /// Whether an instruction takes an ASCII character, or any scalar beyond that is no line end;
    /// nil where that depends on the scalar.
    fileprivate func takes(_ place: Int, _ byte: UInt8?) -> Bool? {
        let scalar = byte.map { Unicode.Scalar($0) }
        switch instructions[place] {
        case .scalar(let wanted):
            return scalar.map { $0 == wanted } ?? (wanted.isASCII ? false : nil)
        case .folded(let wanted):
            // The signs of the kelvin and the long s fold to letters of ASCII.
            return scalar.map { SimpleCase.fold($0) == wanted }
                ?? (wanted.isASCII && wanted != "k" && wanted != "s" ? false : nil)
        case .any, .anyWithLineEnds: return true
        case .set(let index): return scalar.map { sets[index].contains($0) } ?? sets[index].beyond
        case .restOfLineEnd, .assertion, .split, .jump, .accept: return false
        }
    }
}
