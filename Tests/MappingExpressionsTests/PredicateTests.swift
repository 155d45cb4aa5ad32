import MappingExpressions
import Testing

@Suite("Expressions: predicates")
struct PredicateTests {
    static let fulfilled: [String] = [
        // Equality.
        "1 == 1", "1 = 1.0", "1 != 2", "1 <> 2", "TRUE == 1", "active == YES", "active == 1",
        "NO == 0",
        "nil == nil", "motto == nil", "NULL == motto", "name != nil", "motto != 'x'",
        "deputy.name == nil",
        "'a' == 'a'", "'a' != 'A'", "$composed == $decomposed", "$composed !=[n] $decomposed",
        "'a' ==[c] 'A'", "'ß' ==[c] 'SS'", "'ẞ' ==[c] 'ß'", "'ﬁ' ==[c] 'FI'", "'Σ' ==[c] 'ς'",
        "'İ' !=[c] 'i'",
        "'ı' !=[c] 'I'", "'é' ==[d] 'e'", "$decomposed ==[d] 'e'", "'É' ==[cd] 'e'",
        "'é' !=[c] 'e'",
        "'ø' !=[d] 'o'", "'İ' ==[cd] 'i'", "'ộ' ==[d] 'o'", "name == 'Café'", "name ==[cd] 'CAFE'",
        "budget == 1000.5", "budget == CAST('1000.50', 'NSDecimalNumber')",
        "CAST('2', 'NSDecimalNumber') == 2",
        "9007199254740993 != 9007199254740992.0", "founded == CAST(100, 'NSDate')",
        "founded != 100",
        "'1' != 1", "lead == $ann", "lead != deputy", "lead.boss == nil", "key == key",
        "logo == CAST('0102', 'NSData')",
        "{1, 2} == {1, 2}", "{1, 2} != {2, 1}", "members == ranking",
        "lead.reports == SUBQUERY(members, $x, $x.boss == $ann)",
        "({1, 2} UNION {3}) == {3, 2, 1}", "{1, nil} == {1, nil}", "$nan != $nan", "$nan != 1",
        "SELF == $source",
        // Order.
        "1 < 2", "1 <= 1", "1 =< 1", "2 > 1.5", "2 >= 2.0", "2 => 2", "-1 < 0", "'a' < 'b'",
        "'B' < 'a'",
        "'a' <[c] 'B'", "'a' <= 'a'", "'z' < 'é'", "'e' <=[d] 'é'", "founded < now()",
        "0.1 < CAST('0.2', 'NSDecimalNumber')",
        "NOT nil < 1", "NOT nil > 1", "NOT nil <= nil", "NOT 1 >= nil", "NOT deputy.age > 1",
        "TRUE > FALSE",
        "9007199254740993 > 9007199254740992.0", "NOT $nan < 1", "NOT $nan >= 1", "'a' < 'aa'",
        "'' < 'a'",
        "CAST('-1.5', 'NSDecimalNumber') < -1", "1.5 > CAST('1.25', 'NSDecimalNumber')",
        // Ranges.
        "5 BETWEEN {1, 10}", "1 BETWEEN {1, 10}", "10 BETWEEN {1, 10}", "NOT 11 BETWEEN {1, 10}",
        "'b' BETWEEN {'a', 'c'}", "founded BETWEEN {CAST(0, 'NSDate'), now()}",
        "NOT nil BETWEEN {1, 2}",
        "NOT 1 BETWEEN {nil, 2}", "2.5 BETWEEN {2, 3}", "NOT 5 BETWEEN {10, 1}",
        // Texts.
        "'hello' BEGINSWITH 'he'", "'hello' BEGINSWITH ''", "NOT 'hello' BEGINSWITH 'HE'",
        "'hello' BEGINSWITH[c] 'HE'",
        "'éa' BEGINSWITH[d] 'e'", "NOT 'éa' BEGINSWITH 'e'", "NOT $decomposed BEGINSWITH 'e'",
        "$decomposed BEGINSWITH[n] 'e'", "'hello' ENDSWITH 'lo'", "NOT 'hello' ENDSWITH 'l'",
        "'STRASSE' ENDSWITH[c] 'ße'",
        "'hello' CONTAINS 'ell'", "'hello' CONTAINS ''", "NOT 'hello' CONTAINS 'elo'",
        "'hello' CONTAINS[c] 'ELL'",
        "NOT 'é' CONTAINS 'e'", "'café' CONTAINS[cd] 'AFE'",
        "$lines CONTAINS '\\n'",
        "NOT nil CONTAINS 'a'", "NOT 'a' CONTAINS nil", "NOT motto BEGINSWITH 'x'",
        "$family CONTAINS '👧'",
        "'aaab' CONTAINS 'aab'", "'ababac' CONTAINS 'abac'", "name CONTAINS 'fé'",
        // LIKE.
        "'hello' LIKE 'hello'", "'hello' LIKE 'h*o'", "'hello' LIKE '*'", "'hello' LIKE 'h?llo'",
        "NOT 'hello' LIKE 'h?lo'",
        "'hello' LIKE 'h****o'", "'hello' LIKE '*l?'", "NOT 'hello' LIKE 'ello'", "'' LIKE '*'",
        "'' LIKE ''",
        "NOT '' LIKE '?'", "'a*b' LIKE 'a\\\\*b'", "NOT 'axb' LIKE 'a\\\\*b'", "'a?' LIKE '?\\\\?'",
        "'a\\\\b' LIKE 'a\\\\\\\\b'",
        "'HELLO' LIKE[c] 'h*o'", "'café' LIKE[d] 'caf?'", "'é' LIKE '?'", "$decomposed LIKE '?'",
        "$family LIKE '?'",
        "NOT 'a.c' LIKE 'abc'", "'a.c' LIKE 'a.c'", "NOT nil LIKE '*'", "'aXbXc' LIKE 'a*X?'",
        "'a\\nb' LIKE 'a*b'",
        // MATCHES.
        "'abc' MATCHES 'a.c'", "NOT 'abcd' MATCHES 'a.c'", "'ABC' MATCHES[c] 'abc'",
        "'é' MATCHES[d] 'e'",
        "'2024-01-31' MATCHES '\\\\d{4}-\\\\d{2}-\\\\d{2}'", "'x' MATCHES 'x|y'",
        "NOT nil MATCHES '.*'", "'É' MATCHES[cd] '[a-e]'",
        // Collections.
        "1 IN {1, 2}", "NOT 3 IN {1, 2}", "1.0 IN {1, 2}", "'a' IN[c] {'A', 'B'}", "nil IN {nil}",
        "NOT nil IN {1}",
        "'ell' IN 'hello'", "lead IN members", "NOT SELF IN members", "members CONTAINS lead",
        "{1, 2} CONTAINS 2",
        "NOT {1, 2} CONTAINS '2'", "{'A'} CONTAINS[c] 'a'", "NOT 1 IN nil", "NOT nil CONTAINS 1",
        "NOT 1 IN {}",
        "members.name CONTAINS 'Bob'", "'Bob' IN members.name", "name IN {'x', name}",
        // Quantifiers.
        "ANY members.age > 29", "NOT ANY members.age > 30", "SOME members.name == 'Bob'",
        "ALL members.salary > 10",
        "NOT ALL members.salary > 15", "NONE members.name == 'Dan'",
        "NOT NONE members.name == 'Bob'",
        "NOT ANY projects.cost > 0", "ALL projects.cost > 0", "NONE projects.cost > 0",
        "ALL members.age > 20",
        "ANY members.nick LIKE 'B*'", "ANY {1, 2, 3} == 2", "ALL {1, 2, 3} > 0",
        "ANY members.name IN {'Bob', 'x'}",
        "ALL members.name MATCHES '[A-Z][a-z]{2}'", "ANY members.reports.name == 'Cid'",
        "NOT ANY deputy.reports.name == 'x'",
        "ALL deputy.reports.name == 'x'", "ANY lead.name == 'Ann'", "ANY members == lead",
        "ANY members.name BEGINSWITH[c] 'b'",
        "ANY members.age BETWEEN {24, 26}", "ANY SUBQUERY(members, $x, $x.age > 26).name == 'Ann'",
        "SUBQUERY(members, $x, $x.age > 20 AND ANY $x.reports.name == 'Bob').@count == 1",
        // Compounds.
        "TRUEPREDICATE", "NOT FALSEPREDICATE", "1 == 1 AND 2 == 2", "1 == 2 OR 2 == 2",
        "NOT (1 == 2 OR 1 == 3)",
        "1 == 2 AND 1 == 1 OR 1 == 1", "1 == 1 OR 1 == 2 AND 1 == 3",
        "!(1 == 2) && (1 == 1 || 1 == 2)",
        "NOT 1 == 2 AND 1 == 1", "1 == 1 OR 1 / 0 == 1", "NOT (1 == 2 AND 1 / 0 == 1)",
        "not not truepredicate",
        "TERNARY(1 == 2, 1, 2) == 2", "members.@count == 3 AND members.@avg.age > 18",
        "lead.name == 'Ann' and lead.boss = nil", "#size == members.@count",
    ]

    @Test("fulfilled ones", arguments: fulfilled)
    func isFulfilled(text: String) throws {
        #expect(try TestGraph.isFulfilled(text))
        let negated = try ExpressionParser.predicate("NOT (\(text))")
        #expect(try !TestGraph.isFulfilled(negated.text))
    }

    @Test(
        "errors",
        arguments: [
            ("1 < 'a'", "a number has no order with a text"),
            ("founded > 5", "a number has no order with a date"),
            ("key < key", "a UUID has no order with a UUID"),
            ("lead < lead", "objects and collections have no order"),
            ("members > 1", "objects and collections have no order"),
            ("1 BEGINSWITH '1'", "BEGINSWITH needs texts"),
            ("name LIKE 5", "LIKE needs texts"),
            ("members BEGINSWITH 'a'", "BEGINSWITH needs texts"),
            ("1 MATCHES '.'", "MATCHES needs texts"), ("5 CONTAINS 5", "CONTAINS needs texts"),
            ("1 IN 'a'", "IN needs texts"),
            ("1 BETWEEN {1}", "BETWEEN needs two bounds in order"),
            ("1 BETWEEN 1", "BETWEEN needs two bounds in order"),
            ("1 BETWEEN members", "BETWEEN needs two bounds in order"),
            ("'a' MATCHES '(?=a)'", "character 1 of the pattern: look-ahead is not supported"),
            ("$missing == 1", "the variable $missing has no value"),
            ("ANY members.unknown == 1", "no key unknown"),
        ])
    func errors(text: String, expected: String) {
        let error = #expect(throws: ExpressionError.self) { try TestGraph.isFulfilled(text) }
        #expect(error?.description == expected)
    }
}
