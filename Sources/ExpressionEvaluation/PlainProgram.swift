package import MappingExpressions

/// An expression of numbers, dates and truth values over numbered inputs, as a list of steps.
///
/// It gives what an evaluator gives, several times as fast, and leaves to it whatever is no plain
/// case: errors, numbers that are too large, values of different kinds.
package struct PlainProgram: Sendable {
    enum Arithmetic: Sendable {
        case add, subtract, multiply, divide
    }

    enum Relation: Sendable {
        case equal, notEqual, less, lessOrEqual
    }

    private enum Step: Sendable {
        case constant(PlainValue)
        case input(Int)
        case arithmetic(Arithmetic)
        /// Pushes a truth value.
        case comparison(Relation)
        case negation
        case jump(Int)
        /// Takes a truth value away, and jumps where it is false.
        case jumpIfFalse(Int)
        /// The same where it is true.
        case jumpIfTrue(Int)
    }

    private var steps: [Step] = []
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
        case .constant(let constant):
            guard let value = PlainValue(constant) else { return false }
            steps.append(.constant(value))
        case .variable(let name):
            guard let input = inputs[name] else { return false }
            steps.append(.input(input))
        case .function(.now, _): steps.append(.constant(.date(now)))
        case .function(let function, let arguments):
            let known: [ExpressionFunction: Arithmetic] = [
                .add: .add, .subtract: .subtract, .multiply: .multiply, .divide: .divide,
            ]
            guard let arithmetic = known[function], arguments.count == 2,
                add(arguments[0], depth: depth), add(arguments[1], depth: depth + 1)
            else { return false }
            steps.append(.arithmetic(arithmetic))
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
        case .comparison(let comparison):
            guard comparison.quantifier == .direct else { return false }
            var sides = (comparison.left, comparison.right)
            let relation: Relation
            switch comparison.relation {
            case .equal: relation = .equal
            case .notEqual: relation = .notEqual
            case .lessThan: relation = .less
            case .lessThanOrEqual: relation = .lessOrEqual
            case .greaterThan: (relation, sides) = (.less, (sides.1, sides.0))
            case .greaterThanOrEqual: (relation, sides) = (.lessOrEqual, (sides.1, sides.0))
            default: return false
            }
            guard add(sides.0, depth: depth), add(sides.1, depth: depth + 1) else {
                return false
            }
            steps.append(.comparison(relation))
        }
        return true
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
    /// - Parameter input: gives an input by its number; nil for what is no plain value.
    /// - Returns: nil where an evaluator must decide.
    package func value(_ input: (Int) -> PlainValue?) -> PlainValue? {
        withUnsafeTemporaryAllocation(of: PlainValue.self, capacity: height + 1) { stack in
            steps.withUnsafeBufferPointer { run($0, stack, input) }
        }
    }

    private func run(
        _ steps: UnsafeBufferPointer<Step>, _ stack: UnsafeMutableBufferPointer<PlainValue>,
        _ input: (Int) -> PlainValue?
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
            case .comparison(let relation):
                guard let holds = PlainValue.holds(relation, stack[top - 1], stack[top]) else {
                    return nil
                }
                top -= 1
                stack[top] = .boolean(holds)
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
}
