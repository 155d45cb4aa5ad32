import ManagedObjectModel
import MappingExpressions
import Testing

@Suite("Expressions: text reads back")
struct RoundTripTests {
    @Test("20,000 random expressions and 10,000 predicates", arguments: UInt64(0)..<10)
    func random(seed: UInt64) throws {
        var trees = RandomTrees(seed: seed)
        for _ in 0..<2_000 {
            let expression = trees.expression(trees.generator.below(6))
            let text = expression.text
            guard text.utf8.count <= ExpressionLimits.length else { continue }
            let read = try ExpressionParser.expression(text)
            try #require(read == expression, "\(text)")
            try #require(read.text == text)
        }
        for _ in 0..<1_000 {
            let predicate = trees.predicate(trees.generator.below(6))
            let text = predicate.text
            guard text.utf8.count <= ExpressionLimits.length else { continue }
            let read = try ExpressionParser.predicate(text)
            try #require(read == predicate, "\(text)")
        }
    }

    @Test("trees of 64 levels read back, deeper ones are refused")
    func deep() throws {
        let wraps: [(MappingExpression) -> MappingExpression] = [
            { .function(.onesComplement, [$0]) }, { .function(.subtract, [$0, $0]) },
            { .function(.multiply, [.null, $0]) }, { .list([$0]) }, { .cast($0, to: .date) },
            { .keyPath($0, ["a"]) }, { .element(.evaluatedObject, at: .at($0)) },
            { .conditional(.constant(true), $0, .null) }, { .function(.add, [$0, .null]) },
            { .call($0, selector: "x", []) }, { .combination(.union, .null, $0) },
            { .subquery($0, variable: "x", .constant(true)) },
        ]
        for wrap in wraps where !Self.doubles(wrap) {
            var tree = MappingExpression.constant(.text("x"))
            for _ in 1..<ExpressionLimits.depth { tree = wrap(tree) }
            #expect(try ExpressionParser.expression(tree.text) == tree)
            #expect(throws: ExpressionError.self) {
                try ExpressionParser.expression(wrap(tree).text)
            }
        }
        var predicate = MappingPredicate.constant(true)
        for level in 1..<ExpressionLimits.depth {
            predicate = level % 2 == 0 ? .not(predicate) : .and([.constant(true), predicate])
        }
        #expect(try ExpressionParser.predicate(predicate.text) == predicate)
        #expect(throws: ExpressionError.self) {
            try ExpressionParser.predicate(MappingPredicate.not(predicate).text)
        }
    }

    /// Whether a tree grows exponentially.
    private static func doubles(_ wrap: (MappingExpression) -> MappingExpression) -> Bool {
        let leaf = MappingExpression.constant(.text("leaf"))
        return wrap(leaf).text.ranges(of: "leaf").count > 1
    }

    @Test(
        "canonical text",
        arguments: [
            ("$source.a.b", "$source.a.b"), ("a . b", "a.b"), ("SELF.a", "a"),
            ("count:(pages)", "count:(pages)"), ("sum( {1,2} )", "sum:({1, 2})"),
            ("1+2*3", "1 + 2 * 3"), ("(1+2)*3", "(1 + 2) * 3"), ("1-(2-3)", "1 - (2 - 3)"),
            ("1-2-3", "1 - 2 - 3"), ("2**3**2", "2 ** 3 ** 2"), ("2**(3**2)", "2 ** (3 ** 2)"),
            ("-2", "-2"), ("-a", "0 - a"), ("-2**2", "0 - 2 ** 2"), ("(-2)**2", "(-2) ** 2"),
            ("2*-3", "2 * -3"), ("0x1F", "31"), ("0o17", "15"), ("0b101", "5"),
            ("9.2e-5", "9.2e-05"), ("yes", "TRUE"), ("No", "FALSE"), ("NULL", "nil"),
            ("'it\\'s'", "\"it's\""), ("\"a\\u00e9\"", "\"aé\""), ("#size.first", "#size.#first"),
            ("a[FIRST]", "a[FIRST]"), ("a[size]", "a[SIZE]"), ("a[1+1].b", "a[1 + 1].b"),
            ("objectFrom:withIndex:(a, 1)", "a[1]"), ("a & b | c", "a & b | c"),
            ("a | b & c", "a | b & c"), ("(a | b) & c", "(a | b) & c"), ("~a", "~a"),
            ("1 << 2 + 3", "1 << 2 + 3"), ("now()", "now()"), ("a union b", "a UNION b"),
            ("a UNION (b MINUS c)", "a UNION (b MINUS c)"), ("uppercase(name)", "uppercase:(name)"),
            ("cast(5, 'NSDate')", "CAST(5.0, \"NSDate\")"),
            ("CAST((5), 'NSDate')", "CAST((5), \"NSDate\")"),
            ("castObject:toType:(a, 'NSString')", "CAST(a, \"NSString\")"),
            ("CAST('1.50', 'NSDecimalNumber')", "CAST(\"1.50\", \"NSDecimalNumber\")"),
            ("SUBQUERY(a, $x, $x.b > 1).@count", "SUBQUERY(a, $x, $x.b > 1).@count"),
            ("TERNARY(a == 1, 'x', 'y')", "TERNARY(a == 1, \"x\", \"y\")"),
            (
                "function($source.a, 'stringByAppendingString:', 'b')",
                "FUNCTION($source.a, \"stringByAppendingString:\", \"b\")"
            ),
            (
                "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:',"
                    + " 'AToA', $source.b)",
                "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\","
                    + " \"AToA\", $source.b)"
            ),
        ])
    func canonical(text: String, expected: String) throws {
        #expect(try ExpressionParser.expression(text).text == expected)
    }

    @Test(
        "canonical text of predicates",
        arguments: [
            ("a = 1", "a == 1"), ("a <> 1", "a != 1"), ("a =< 1", "a <= 1"), ("a => 1", "a >= 1"),
            ("a == 1 && b == 2 || c == 3", "(a == 1 AND b == 2) OR c == 3"),
            ("a == 1 and (b == 2 or c == 3)", "a == 1 AND (b == 2 OR c == 3)"),
            ("!(a == 1)", "NOT a == 1"), ("not a == 1 and b == 2", "NOT a == 1 AND b == 2"),
            ("not not truepredicate", "NOT NOT TRUEPREDICATE"),
            ("NONE a.b == 1", "NOT ANY a.b == 1"), ("some a.b == 1", "ANY a.b == 1"),
            ("all a.b > 1", "ALL a.b > 1"), ("a like[cd] 'x*'", "a LIKE[cd] \"x*\""),
            ("a ==[c] 'x'", "a ==[c] \"x\""), ("a BETWEEN {1, 5}", "a BETWEEN {1, 5}"),
            ("a in {1}", "a IN {1}"), ("a beginswith[n] 'x'", "a BEGINSWITH[n] \"x\""),
            ("(a == 1)", "a == 1"), ("((a + 1) == (2))", "a + 1 == 2"),
            ("a != nil", "a != nil"), ("a matches '\\\\d+'", "a MATCHES \"\\\\d+\""),
            ("a == 1 AND b == 2 AND c == 3", "a == 1 AND b == 2 AND c == 3"),
        ])
    func canonicalPredicate(text: String, expected: String) throws {
        #expect(try ExpressionParser.predicate(text).text == expected)
    }
}
