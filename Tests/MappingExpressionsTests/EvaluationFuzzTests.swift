import ExpressionEvaluation
import Foundation
import ManagedObjectModel
import MappingExpressions
import Testing

@Suite("Expressions: evaluation of random trees")
struct EvaluationFuzzTests {
    @Test("values or errors, without a trap, and the same again", arguments: UInt64(100)..<104)
    func random(seed: UInt64) throws {
        var trees = RandomTrees(seed: seed)
        let evaluator = ExpressionEvaluator(TestGraph(), now: 1_000) {
            (_, _, arguments) throws(ExpressionError) in .array(arguments)
        }
        for _ in 0..<4_000 {
            let expression = trees.expression(1 + trees.generator.below(4))
            let results = (0..<2).map { _ in
                Result { () throws(ExpressionError) in
                    try evaluator.value(
                        of: expression, object: .object("team"), variables: TestGraph.variables)
                }
            }
            switch (results[0], results[1]) {
            case (.success(let one), .success(let other)):
                // What is not a number differs from itself.
                try #require(one == other || "\(one)".contains("nan"))
            case (.failure(let one), .failure(let other)): try #require(one == other)
            default: Issue.record("\(expression.text)")
            }
            let predicate = trees.predicate(1 + trees.generator.below(4))
            _ = Result { () throws(ExpressionError) in
                try evaluator.isFulfilled(
                    predicate, object: .object("ann"), variables: TestGraph.variables)
            }
        }
    }

    @Test("random operations on extreme numbers", arguments: UInt64(200)..<202)
    func numbers(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let numbers = [
            "0", "1", "-1", "-9223372036854775808", "9223372036854775807", "2", "63", "64", "0.5",
            "-0.0", "1e308", "CAST('inf', 'NSNumber')", "CAST('nan', 'NSNumber')", "1e-300",
            "CAST('1e127', 'NSDecimalNumber')", "CAST('1e-128', 'NSDecimalNumber')",
            "CAST('99999999999999999999999999999999999999', 'NSDecimalNumber')",
            "CAST('-0.33333333333333333333333333333333333333', 'NSDecimalNumber')", "TRUE", "nil",
            "CAST('0', 'NSDecimalNumber')", "CAST('1e9999', 'NSDecimalNumber')",
        ]
        let functions = ExpressionFunction.allCases.filter { $0.argumentCount > 0 }
        for _ in 0..<6_000 {
            let function = functions.one(&generator)
            var arguments = (0..<function.argumentCount).map { _ in numbers.one(&generator) }
            if generator.below(3) == 0 {
                arguments[0] = "{\(numbers.one(&generator)), \(numbers.one(&generator))}"
            }
            let text = "\(function.rawValue)(\(arguments.joined(separator: ", ")))"
            let relation = ["==", "<", ">=", "!="].one(&generator)
            let other = numbers.one(&generator)
            _ = Result { () throws(ExpressionError) in try TestGraph.value(text) }
            _ = Result { () throws(ExpressionError) in
                try TestGraph.isFulfilled("\(text) \(relation) \(other)")
            }
        }
    }

    @Test("the deepest trees fit the stack of a worker's thread")
    func stack() throws {
        let isDone = NSCondition()
        let results = Results()
        let thread = Thread {
            isDone.lock()
            results.value = Result { () throws(ExpressionError) in try Self.evaluateDeepTexts() }
            isDone.signal()
            isDone.unlock()
        }
        thread.stackSize = 2 << 20
        isDone.lock()
        thread.start()
        while results.value == nil { isDone.wait() }
        isDone.unlock()
        #expect(try results.value?.get() == 8)
    }

    /// Written under the lock of the condition.
    private final class Results: @unchecked Sendable {
        var value: Result<Int, ExpressionError>?
    }

    private static func evaluateDeepTexts() throws(ExpressionError) -> Int {
        var count = 0
        let levels = ExpressionLimits.depth - 3
        for (open, close) in [
            ("1 | 2 ^ 3 & 4 << 5 + 6 * 7 ** (", ")"), ("TERNARY(TRUEPREDICATE, ", ", 1)"),
            ("{", "}[0]"), ("~-~-(", ")"),
        ] {
            let step = open.hasPrefix("1") ? 7 : open.hasPrefix("~") ? 4 : open == "{" ? 2 : 1
            let text =
                String(repeating: open, count: levels / step) + "1"
                + String(repeating: close, count: levels / step)
            let expression = try ExpressionParser.expression(text)
            guard try ExpressionParser.expression(expression.text) == expression else { continue }
            let result = Result { () throws(ExpressionError) in
                try ExpressionEvaluator(TestGraph(), now: 0).value(of: expression)
            }
            if case .failure(let error) = result, error.reason != .evaluation { continue }
            count += 1
        }
        // Brackets within the limit, operators far beyond it.
        for open in [
            "1 == 2 UNION 3 | 4 ^ 5 & 6 << 7 + 8 * 9 ** (",
            "a == 1 OR b == 1 AND NOT ANY c UNION d | (",
            "NOT ANY -(", "1 ** FUNCTION(a, 'b:', 1 * SUBQUERY(c, $d, 1 UNION CAST(",
        ] {
            let text = String(repeating: open, count: 65_536 / open.utf8.count)
            let result = Result { () throws(ExpressionError) in
                try ExpressionParser.predicate(text)
            }
            if case .failure(let error) = result, error.reason == .limit { count += 1 }
        }
        return count
    }
}
