import ManagedObjectModel
package import MappingExpressions

/// Evaluates expressions and predicates over objects, without a clock, randomness or a locale.
///
/// Where Apple's documentation leaves a case open, this holds:
///
/// - No value in arithmetic, in functions and at the start of a path gives no value.
/// - No value equals only no value; it is neither before nor after anything, and fulfils no
///   comparison of texts.
/// - Integers divided by each other truncate toward zero. A division by an integer or a decimal
///   of zero and results beyond `Int64` are errors; real numbers follow IEEE 754. An integer with
///   a real number gives a real number, and decimals have 38 digits. Booleans are 0 and 1.
/// - Dates have no arithmetic and are compared with dates only.
/// - Texts are compared by canonical equivalence, with `[n]` by their scalars, with `[c]` by full
///   case folding, with `[d]` without combining marks; their order is that of Unicode scalars.
///   A part of a text never ends within a letter: é does not contain e.
/// - A key asked of a collection is asked of its members, and members without a value are left
///   out; the result of a set or an ordered set has no equal members twice, as `NSSet` documents.
/// - `ANY` of no members is false and `ALL` is true. Members of members count as members, and a
///   value that is no collection as the only one.
package struct ExpressionEvaluator<Objects: ExpressionObjects> {
    /// What its expressions give.
    package typealias Value = ExpressionValue<Objects.Object>
    /// Answers `FUNCTION(receiver, "selector:", argument)`: receiver, selector, arguments.
    ///
    /// The receiver is not evaluated, because it usually names a manager or a policy.
    package typealias MethodCall =
        @Sendable (
            MappingExpression, String, [Value]
        ) throws(ExpressionError) -> Value

    let objects: Objects
    let now: Double
    let methodCall: MethodCall?
    let patterns = PatternCache()

    /// - Parameters:
    ///   - objects: knows the values of objects.
    ///   - now: what `now()` gives, in seconds since 2001.
    ///   - methodCall: answers calls of methods, which are refused without it.
    package init(_ objects: Objects, now: Double, methodCall: MethodCall? = nil) {
        self.objects = objects
        self.now = now
        self.methodCall = methodCall
    }

    /// The value of an expression.
    ///
    /// - Parameters:
    ///   - expression: of at most 64 levels.
    ///   - object: what `SELF` and keys without a variable mean.
    ///   - variables: by their names without the dollar sign.
    /// - Returns: the value, `null` for none.
    /// - Throws: `ExpressionError` for unknown variables, values that do not fit a function, and
    ///   what `objects` and `methodCall` throw.
    package func value(
        of expression: MappingExpression, object: Value = .null, variables: [String: Value] = [:]
    ) throws(ExpressionError) -> Value {
        try value(expression, Scope(object: object, variables: variables))
    }

    /// Whether a predicate is fulfilled.
    ///
    /// - Parameters:
    ///   - predicate: of at most 64 levels.
    ///   - object: what `SELF` and keys without a variable mean.
    ///   - variables: by their names without the dollar sign.
    /// - Returns: true or false; there is no third truth value.
    /// - Throws: `ExpressionError` as of expressions, and for comparisons of what has no order.
    package func isFulfilled(
        _ predicate: MappingPredicate, object: Value = .null, variables: [String: Value] = [:]
    ) throws(ExpressionError) -> Bool {
        try isFulfilled(predicate, Scope(object: object, variables: variables))
    }

    /// What names mean, and how many levels are above.
    struct Scope {
        var object: Value
        var variables: [String: Value]
        var depth = 0

        /// One level deeper.
        func deeper() throws(ExpressionError) -> Scope {
            guard depth < ExpressionLimits.depth else {
                throw ExpressionError(
                    .limit, "an expression of more than \(ExpressionLimits.depth) levels")
            }
            var scope = self
            scope.depth += 1
            return scope
        }
    }

    func value(
        _ expression: MappingExpression, _ outer: Scope
    ) throws(ExpressionError) -> Value {
        let scope = try outer.deeper()
        switch expression {
        case .null: return .null
        case .constant(.text(let text)): return .scalar(.text(StoredText.string(text)))
        case .constant(let value): return .scalar(value)
        case .evaluatedObject: return scope.object
        case .variable(let name):
            guard let value = scope.variables[name] else {
                throw ExpressionError(.evaluation, "the variable $\(name) has no value")
            }
            return value
        case .keyPath(let start, let keys):
            return try follow(keys[...], from: try value(start, scope))
        case .function(let function, let arguments):
            return try result(of: function, try values(arguments, scope))
        case .cast(let operand, let target):
            return try ValueCast.cast(try value(operand, scope), to: target)
        case .conversion(let conversion, let operand):
            return try converted(try value(operand, scope), conversion)
        case .attempt(let operand, let other):
            do throws(ExpressionError) {
                return try value(operand, scope)
            } catch {
                guard error.reason == .evaluation else { throw error }
                return try value(other, scope)
            }
        case .call(let receiver, let selector, let arguments):
            guard let methodCall else {
                throw ExpressionError(.unsupported, "the method \(selector) cannot be called")
            }
            return try methodCall(receiver, selector, try values(arguments, scope))
        case .conditional(let predicate, let one, let other):
            return try value(try isFulfilled(predicate, scope) ? one : other, scope)
        case .list(let parts): return .array(try values(parts, scope))
        case .combination(let operation, let one, let other):
            return try combine(operation, try value(one, scope), try value(other, scope))
        case .subquery(let collection, let variable, let predicate):
            return try select(try value(collection, scope), variable, predicate, scope)
        case .element(let collection, let index):
            return try element(of: try value(collection, scope), at: index, scope)
        }
    }

    private func values(
        _ expressions: [MappingExpression], _ scope: Scope
    ) throws(ExpressionError) -> [Value] {
        var values: [Value] = []
        for expression in expressions { values.append(try value(expression, scope)) }
        return values
    }

    /// `UNION`, `INTERSECT` or `MINUS`: a set, whatever kinds the operands have.
    private func combine(
        _ operation: MappingExpression.SetOperator, _ one: Value, _ other: Value
    ) throws(ExpressionError) -> Value {
        if one == .null || other == .null { return .null }
        guard case .collection(let members, _) = one, case .collection(let others, _) = other
        else {
            throw ExpressionError(.evaluation, "\(operation.rawValue) needs two collections")
        }
        if operation == .union { return .set(ValueComparison.distinct(members + others)) }
        let known = Set(others.map(ComparedValue.init))
        let isKept = operation == .intersect
        let kept = members.filter { known.contains(ComparedValue(value: $0)) == isKept }
        return .set(ValueComparison.distinct(kept))
    }

    /// `SUBQUERY`: the members that fulfil a predicate, as a collection of the same kind.
    private func select(
        _ collection: Value, _ variable: String, _ predicate: MappingPredicate, _ scope: Scope
    ) throws(ExpressionError) -> Value {
        if collection == .null { return .null }
        guard case .collection(let members, let kind) = collection else {
            throw ExpressionError(.evaluation, "SUBQUERY needs a collection")
        }
        var inner = scope
        var selected: [Value] = []
        for member in members {
            inner.variables[variable] = member
            if try isFulfilled(predicate, inner) { selected.append(member) }
        }
        return .collection(selected, kind)
    }

    /// `collection[index]`; the first and the last of no members are no value.
    private func element(
        of collection: Value, at index: MappingExpression.ElementIndex, _ scope: Scope
    ) throws(ExpressionError) -> Value {
        if collection == .null { return .null }
        guard case .collection(let members, let kind) = collection else {
            throw ExpressionError(.evaluation, "an index needs a collection")
        }
        if index == .size { return .scalar(.integer(Int64(members.count))) }
        guard kind != .set else {
            throw ExpressionError(.evaluation, "a set has no order for an index")
        }
        switch index {
        case .first: return members.first ?? .null
        case .last: return members.last ?? .null
        case .size: return .scalar(.integer(Int64(members.count)))
        case .at(let expression):
            guard case .scalar(.integer(let place)) = try value(expression, scope) else {
                throw ExpressionError(.evaluation, "an index must be an integer")
            }
            guard place >= 0, place < members.count else {
                throw ExpressionError(.evaluation, "an index is outside of its collection")
            }
            return members[Int(place)]
        }
    }
}

extension ExpressionEvaluator: Sendable where Objects: Sendable {}
