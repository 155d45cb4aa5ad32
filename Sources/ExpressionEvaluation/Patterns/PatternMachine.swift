/// Follows all ways of a program through a text at once.
struct PatternMachine {
    private let program: PatternProgram
    private let text: [Unicode.Scalar]
    private var position = 0
    /// Whether the last scalar that is no combining mark is of a word.
    private var followsWord = false
    /// The instructions at which the machine stands, without repetition.
    private var places: [Int] = []
    private var next: [Int] = []
    /// The step in which an instruction was reached last.
    private var reached: [Int]
    private var step = 0
    private var pending: [Int] = []

    init(_ program: PatternProgram, _ text: String) {
        self.program = program
        self.text = Array(text.unicodeScalars)
        reached = Array(repeating: 0, count: program.instructions.count)
    }

    mutating func run() -> Bool {
        step = 1
        reach(0)
        places = next
        while position < text.count {
            if places.isEmpty { return false }
            advance(over: text[position])
        }
        return places.contains { place in
            if case .accept = program.instructions[place] { true } else { false }
        }
    }

    private mutating func advance(over scalar: Unicode.Scalar) {
        if !Self.isCombining(scalar) { followsWord = PatternProperty.isWord(scalar) }
        position += 1
        step += 1
        next.removeAll(keepingCapacity: true)
        var folded: Unicode.Scalar?
        for place in places {
            let takes: Bool
            switch program.instructions[place] {
            case .scalar(let wanted): takes = scalar == wanted
            case .folded(let wanted):
                let own = folded ?? SimpleCase.fold(scalar)
                folded = own
                takes = own == wanted
            case .any: takes = !Self.isLineEnd(scalar)
            case .anyWithLineEnds:
                let isPair = scalar == "\r" && position < text.count && text[position] == "\n"
                reach(isPair ? place + 1 : place + 2)
                continue
            case .restOfLineEnd: takes = true
            case .set(let index): takes = program.sets[index].contains(scalar)
            default: takes = false
            }
            if takes { reach(place + 1) }
        }
        swap(&places, &next)
    }

    /// Adds an instruction and all that is reached from it without taking a scalar.
    private mutating func reach(_ start: Int) {
        pending.append(start)
        while let place = pending.popLast() {
            guard reached[place] != step else { continue }
            reached[place] = step
            switch program.instructions[place] {
            case .jump(let target): pending.append(target)
            case .split(let one, let other):
                pending.append(other)
                pending.append(one)
            case .assertion(let assertion):
                if holds(assertion) { pending.append(place + 1) }
            default: next.append(place)
            }
        }
    }

    private func holds(_ assertion: PatternAssertion) -> Bool {
        switch assertion {
        case .textStart: return position == 0
        case .lineStart:
            return position == 0 || position < text.count && Self.isLineEnd(text[position - 1])
        case .textEnd: return position == text.count
        case .lastLineEnd: return isLastLineEnd
        case .lineEnd: return position == text.count || startsLineEnd
        case .wordBoundary: return isWordBoundary
        case .noWordBoundary: return !isWordBoundary
        }
    }

    /// Whether a line end starts here: not between the two of a carriage return and a line feed.
    private var startsLineEnd: Bool {
        guard position < text.count, Self.isLineEnd(text[position]) else { return false }
        return !(text[position] == "\n" && position > 0 && text[position - 1] == "\r")
    }

    private var isLastLineEnd: Bool {
        switch text.count - position {
        case 0: true
        case 1: startsLineEnd
        case 2: text[position] == "\r" && text[position + 1] == "\n"
        default: false
        }
    }

    /// As in ICU, combining marks belong to the scalar before them.
    private var isWordBoundary: Bool {
        guard position < text.count else { return followsWord }
        if Self.isCombining(text[position]) { return false }
        return PatternProperty.isWord(text[position]) != followsWord
    }

    private static func isCombining(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value >= 0x80 else { return false }
        return scalar.properties.isGraphemeExtend || scalar.properties.generalCategory == .format
    }

    private static func isLineEnd(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A...0x0D, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }
}
