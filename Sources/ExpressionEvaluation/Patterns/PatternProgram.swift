import MappingExpressions

/// A regular expression as instructions of a machine without backtracking.
struct PatternProgram: Sendable {
    /// One step of the machine.
    enum Instruction: Sendable {
        case scalar(Unicode.Scalar)
        /// A scalar that is equal after simple case folding.
        case folded(Unicode.Scalar)
        /// Any scalar but those of line ends.
        case any
        /// Any scalar; a carriage return with a line feed counts as one, as in ICU, and the line
        /// feed is taken by the instruction behind, which other scalars skip.
        case anyWithLineEnds
        case restOfLineEnd
        case set(Int)
        case assertion(PatternAssertion)
        /// Goes on at both places.
        case split(Int, Int)
        case jump(Int)
        case accept
    }

    /// Instructions of one program; with it, a match takes at most so many steps per scalar.
    private static let sizeLimit = 20_000

    private(set) var instructions: [Instruction] = []
    private(set) var sets: [PatternSet] = []

    /// - Complexity: O(instructions), which are bounded.
    init(_ node: PatternNode) throws(ExpressionError) {
        try add(node)
        try append(.accept)
    }

    private mutating func append(_ instruction: Instruction) throws(ExpressionError) {
        guard instructions.count < Self.sizeLimit else {
            throw ExpressionError(
                .limit, "the pattern needs more than \(Self.sizeLimit) instructions")
        }
        instructions.append(instruction)
    }

    private mutating func add(_ node: PatternNode) throws(ExpressionError) {
        switch node {
        case .empty: break
        case .scalar(let scalar, let ignoresCase):
            try append(ignoresCase ? .folded(SimpleCase.fold(scalar)) : .scalar(scalar))
        case .any(matchesLineEnds: false): try append(.any)
        case .any(matchesLineEnds: true):
            try append(.anyWithLineEnds)
            try append(.restOfLineEnd)
        case .set(let set):
            sets.append(set)
            try append(.set(sets.count - 1))
        case .assertion(let assertion): try append(.assertion(assertion))
        case .sequence(let parts): for part in parts { try add(part) }
        case .choice(let parts): try addChoice(parts)
        case .repetition(let part, let minimum, let maximum):
            try addRepetition(part, minimum, maximum)
        }
    }

    private mutating func addChoice(_ parts: [PatternNode]) throws(ExpressionError) {
        var exits: [Int] = []
        for part in parts.dropLast() {
            let split = instructions.count
            try append(.split(split + 1, split + 1))
            try add(part)
            exits.append(instructions.count)
            try append(.jump(0))
            instructions[split] = .split(split + 1, instructions.count)
        }
        if let last = parts.last { try add(last) }
        for exit in exits { instructions[exit] = .jump(instructions.count) }
    }

    private mutating func addRepetition(
        _ part: PatternNode, _ minimum: Int, _ maximum: Int?
    ) throws(ExpressionError) {
        for _ in 0..<minimum {
            let before = instructions.count
            try add(part)
            // What has no instructions needs no repetition, of which there could be too many.
            if instructions.count == before { return }
        }
        guard let maximum else {
            let split = instructions.count
            try append(.split(split + 1, split + 1))
            try add(part)
            try append(.jump(split))
            instructions[split] = .split(split + 1, instructions.count)
            return
        }
        var splits: [Int] = []
        for _ in minimum..<maximum {
            splits.append(instructions.count)
            try append(.split(0, 0))
            try add(part)
        }
        for split in splits { instructions[split] = .split(split + 1, instructions.count) }
    }
}
