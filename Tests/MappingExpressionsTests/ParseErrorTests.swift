import MappingExpressions
import Testing

@Suite("Expressions: errors of texts")
struct ParseErrorTests {
    @Test(
        "expressions",
        arguments: [
            ("", "column 1: unexpected end; expected a value"),
            ("1 +", "column 4: unexpected end; expected a value"),
            ("summ(a)", "column 1: unknown function summ; did you mean sum:?"),
            ("1 + uppercas(a)", "column 5: unknown function uppercas; did you mean uppercase?"),
            ("add:too:(1, 2)", "column 1: unknown function add:too:; did you mean add:to:?"),
            ("frobnicate(a)", "column 1: unknown function frobnicate"),
            (
                "1 + IF(a == 1, 2, 3)",
                "column 5: unknown function IF; did you mean TERNARY(predicate, value, value)?"
            ),
            (
                "first($source.a.b)",
                "column 1: unknown function first; did you mean $source.a.b[FIRST]?"
            ),
            ("LAST(a + b)", "column 1: unknown function LAST; did you mean collection[LAST]?"),
            (
                "concat(a, b)",
                "column 1: unknown function concat; did you mean FUNCTION(text, "
                    + "\"stringByAppendingString:\", text)?"
            ),
            ("sum(1, 2)", "column 1: sum takes 1 arguments, not 2"),
            ("now(1)", "column 1: now takes 0 arguments, not 1"),
            (
                "random()",
                "column 1: the function random is not supported: a repeated migration must give "
                    + "equal values"
            ),
            (
                "distanceToLocation:fromLocation:(a, b)",
                "column 1: the function distanceToLocation:fromLocation: is not supported: stores "
                    + "hold no locations"
            ),
            ("a.@counts", "column 3: unknown collection operator @counts; did you mean @count?"),
            ("a.@total", "column 3: unknown collection operator @total"),
            ("$x := 5", "column 4: assignments are not supported"),
            ("a:=5", "column 2: assignments are not supported"),
            ("%@", "column 1: format specifiers such as %@ and %K have no arguments here"),
            ("a ? b", "column 3: ? is not a token of predicates"),
            ("FETCH(a, b)", "column 1: FETCH is not supported"),
            ("CI", "column 1: CI is not supported"),
            ("anykey", "column 1: anykey is not supported"),
            ("first", "column 1: first is a reserved word; as a key it is written #first"),
            ("1 + size", "column 5: size is a reserved word; as a key it is written #size"),
            ("'abc", "column 1: the text does not end with '"),
            ("'é' + 'abc", "column 7: the text does not end with '"),
            ("'\\d'", "column 2: unknown escape \\d; a backslash itself is \\\\"),
            ("'\\u12'", "column 2: four hexadecimal digits must follow \\u"),
            ("'\\ud800'", "column 2: an escape is not a Unicode scalar"),
            ("1.", "column 1: digits must follow the point of a number"),
            ("12ab", "column 1: a number is followed by a"),
            ("0x", "column 1: malformed number of base 16"),
            ("0b12", "column 1: malformed number of base 2"),
            ("1e", "column 1: malformed number 1e"),
            ("1e999", "column 1: the number 1e999 is too large"),
            ("9223372036854775808", "column 1: the integer 9223372036854775808 is too large"),
            ("99999999999999999999", "column 1: the integer 99999999999999999999 is too large"),
            ("(1", "column 3: unexpected end; expected )"),
            ("1)", "column 2: unexpected )"),
            ("{1, }", "column 5: unexpected }; expected a value"),
            ("a.", "column 3: unexpected end; expected a key"),
            ("a b", "column 3: unexpected b"),
            ("a.b(1)", "column 3: unexpected b; expected a key"),
            ("$", "column 1: a name must follow $"), ("#1", "column 1: a name must follow #"),
            ("$'x'", "column 1: a name must follow $"),
            ("add:to:", "column 1: ( must follow the function add:to:"),
            ("CAST(a, 'NSDat')", "column 9: no value can be cast to NSDat; did you mean NSDate?"),
            ("CAST(a, NSDate)", "column 9: unexpected NSDate; expected the name of a class"),
            ("CAST(a, 'NSData')", "column 9: only hexadecimal digits can be cast to NSData"),
            ("SUBQUERY(a, x, x > 1)", "column 13: unexpected x; expected a variable"),
            (
                "SUBQUERY(a, $x, b)",
                "column 17: a value stands where a predicate is expected, such as value == YES"
            ),
            (
                "TERNARY(a, 1, 2)",
                "column 9: a value stands where a predicate is expected, such as value == YES"
            ),
            ("TERNARY(a == 1, 1)", "column 1: TERNARY takes 3 arguments, not 2"),
            ("FUNCTION(a, 'b:')", "column 13: b: takes 1 arguments, not 0"),
            (
                "FUNCTION(a, 'stringByAppendingString:', b, c)",
                "column 13: stringByAppendingString: takes 1 arguments, not 2"
            ),
            ("FUNCTION(a)", "column 11: unexpected ); expected ,"),
            (
                "a == 1",
                "column 1: a predicate stands where a value is expected: "
                    + "write TERNARY(predicate, YES, NO)"
            ),
            (
                "(a == 1) + 2",
                "column 2: a predicate stands where a value is expected: "
                    + "write TERNARY(predicate, YES, NO)"
            ),
            ("a UTI-EQUALS 'x'", "column 3: UTI-EQUALS is not supported"),
            ("`", "column 1: unexpected character `"),
        ])
    func expression(text: String, expected: String) {
        let error = #expect(throws: ExpressionError.self) {
            try ExpressionParser.expression(text)
        }
        #expect(error?.description == expected)
    }

    @Test(
        "predicates",
        arguments: [
            ("a", "column 1: a value stands where a predicate is expected, such as value == YES"),
            (
                "a == 1 AND b",
                "column 12: a value stands where a predicate is expected, such as value == YES"
            ),
            (
                "NOT a",
                "column 5: a value stands where a predicate is expected, such as value == YES"
            ),
            ("a CONTAIN 'x'", "column 3: unexpected CONTAIN; did you mean CONTAINS?"),
            ("a begins 'x'", "column 3: unexpected begins; did you mean BEGINSWITH?"),
            ("a BEGINWITH 'x'", "column 3: unexpected BEGINWITH; did you mean BEGINSWITH?"),
            (
                "a ==[l] 'x'",
                "column 6: the option l depends on a locale, and a migration has none"
            ),
            ("a ==[cx] 'x'", "column 6: unknown option x; there are c, d and n"),
            ("a ==[] 'x'", "column 6: unexpected ]; expected c, d, cd, n or cdn"),
            (
                "a == b == c",
                "column 1: a predicate stands where a value is expected: "
                    + "write TERNARY(predicate, YES, NO)"
            ),
            ("ANY a", "column 6: unexpected end; expected a comparison"),
            ("ANY (a == 1)", "column 13: unexpected end; expected a comparison"),
            ("AND a == 1", "column 1: AND is a reserved word; as a key it is written #AND"),
            ("a UTI-CONFORMS-TO 'x'", "column 3: UTI-CONFORMS-TO is not supported"),
            ("a == 1,", "column 7: unexpected ,"),
        ])
    func predicate(text: String, expected: String) {
        let error = #expect(throws: ExpressionError.self) {
            try ExpressionParser.predicate(text)
        }
        #expect(error?.description == expected)
    }

    @Test("nesting and length are bounded")
    func limits() throws {
        for (open, close) in [("(", ")"), ("{", "}"), ("sum(", ")"), ("a[", "]")] {
            let fitting =
                String(repeating: open, count: 60) + "1" + String(repeating: close, count: 60)
            #expect(throws: Never.self) { try ExpressionParser.expression(fitting) }
            let deep =
                String(repeating: open, count: 65) + "1" + String(repeating: close, count: 65)
            let error = #expect(throws: ExpressionError.self) {
                try ExpressionParser.expression(deep)
            }
            #expect(error?.reason == .limit)
            let open = #expect(throws: ExpressionError.self) {
                try ExpressionParser.expression(String(repeating: open, count: 10_000))
            }
            #expect(open?.reason == .limit)
        }
        for prefix in [
            "-", "~", "NOT ", "! ", "NOT -", "ANY NOT ", "a + ", "2 ** ", "a UNION ", "a == 1 OR (",
            "ANY ",
        ] {
            let text = String(repeating: prefix, count: 6_500) + "1"
            #expect(throws: ExpressionError.self) { try ExpressionParser.predicate(text) }
        }
        let flat = Array(repeating: "a == 1", count: 5_000).joined(separator: " OR ")
        #expect(throws: Never.self) { try ExpressionParser.predicate(flat) }
        let long = #expect(throws: ExpressionError.self) {
            try ExpressionParser.expression(String(repeating: " ", count: 65_536) + "1")
        }
        #expect(long?.reason == .limit)
        #expect(long?.column == nil)
    }
}
