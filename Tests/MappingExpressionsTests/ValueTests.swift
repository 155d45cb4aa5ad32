import ExpressionEvaluation
import ManagedObjectModel
import MappingExpressions
import Testing

@Suite("Expressions: values, texts, paths")
struct ValueTests {
    static let texts: [(String, String)] = [
        ("uppercase('abc')", "'ABC'"), ("lowercase('ABC')", "'abc'"), ("uppercase('ß')", "'SS'"),
        ("uppercase('é')", "'É'"), ("lowercase('İ')", "'i̇'"), ("uppercase('i')", "'I'"),
        ("uppercase(nil)", "nil"), ("uppercase(motto)", "nil"), ("uppercase(name)", "'CAFÉ'"),
        ("length('abc')", "3"), ("length('')", "0"), ("length('👩')", "2"), ("length('é')", "1"),
        ("length($decomposed)", "2"), ("length($family)", "8"), ("length(nil)", "nil"),
        ("length(name)", "4"), ("lowercase:('ÀÉ')", "'àé'"), ("uppercase(lowercase('aB'))", "'AB'"),
        ("FUNCTION('a', 'stringByAppendingString:', 'b')", "'ab'"),
        ("FUNCTION(name, 'stringByAppendingString:', '')", "'Café'"),
        ("FUNCTION('e', 'stringByAppendingString:', '\\u0301')", "'é'"),
        ("FUNCTION(nil, 'stringByAppendingString:', 'b')", "nil"),
        ("FUNCTION(motto, 'stringByAppendingString:', motto)", "nil"),
        ("length(FUNCTION('e', 'stringByAppendingString:', '\\u0301'))", "2"),
        (
            "FUNCTION(FUNCTION(lead.name, 'stringByAppendingString:', ' '), "
                + "'stringByAppendingString:', CAST(12, 'NSString'))", "'Ann 12'"
        ),
        ("'\\u0041'", "'A'"), ("\"it's\"", "'it\\'s'"),
    ]

    static let casts: [(String, String)] = [
        ("CAST(5, 'NSDate')", "CAST(5.0, 'NSDate')"),
        ("CAST((5), 'NSDate')", "CAST(5.0, 'NSDate')"),
        ("CAST(now(), 'NSNumber')", "1000.0"), ("CAST(founded, 'NSNumber') + 1", "101.0"),
        ("CAST(CAST(founded, 'NSNumber') + 60, 'NSDate')", "CAST(160, 'NSDate')"),
        ("CAST('12', 'NSNumber')", "12"), ("CAST('1.5', 'NSNumber')", "1.5"),
        ("CAST(12, 'NSString')", "'12'"), ("CAST(1.5, 'NSString')", "'1.5'"),
        ("CAST(2.0, 'NSString')", "'2'"), ("CAST(TRUE, 'NSString')", "'1'"),
        ("CAST(budget, 'NSString')", "'1000.5'"), ("CAST(name, 'NSString')", "'Café'"),
        ("CAST(home, 'NSString')", "'http://a.example/'"),
        ("CAST(key, 'NSString')", "'00010203-0405-0607-0809-0A0B0C0D0E0F'"),
        ("CAST('00010203-0405-0607-0809-0a0b0c0d0e0f', 'NSUUID')", "key"),
        ("CAST(('00010203-0405-0607-0809-0a0b0c0d0e0f'), 'NSUUID')", "key"),
        ("CAST('http://a.example/', 'NSURL')", "home"), ("CAST('0102', 'NSData')", "logo"),
        ("CAST(3, 'NSDecimalNumber')", "CAST('3', 'NSDecimalNumber')"),
        ("CAST(0.5, 'NSDecimalNumber')", "CAST('0.5', 'NSDecimalNumber')"),
        ("CAST(('1.50'), 'NSDecimalNumber')", "CAST('1.5', 'NSDecimalNumber')"),
        ("CAST(nil, 'NSDate')", "nil"), ("CAST(motto, 'NSNumber')", "nil"),
        ("CAST(TRUE, 'NSNumber')", "TRUE"), ("CAST(key, 'NSUUID')", "key"),
        ("castObject:toType:(7, 'NSString')", "'7'"),
    ]

    static let paths: [(String, String)] = [
        ("name", "'Café'"), ("SELF.name", "'Café'"), ("$source.name", "'Café'"),
        ("$ann.name", "'Ann'"),
        ("#size", "3"), ("self.#size", "3"), ("lead.name", "'Ann'"), ("lead.boss.name", "nil"),
        ("deputy.name", "nil"), ("deputy.boss.name", "nil"), ("$none.name", "nil"),
        ("motto", "nil"),
        ("lead.self.name", "'Ann'"), ("members.@count", "3"), ("projects.@count", "0"),
        ("lead.reports.@count", "2"), ("deputy.reports.@count", "nil"),
        ("members.@sum.salary", "41.0"),
        ("members.@sum.age", "55"), ("members.@min.age", "25"),
        // Who has no age counts as 0 (Key-Value Coding Programming Guide).
        ("members.@avg.age", "18.333333333333332"),
        ("members.@max.age", "30"), ("members.@min.name", "'Ann'"), ("members.@max.name", "'Cid'"),
        ("projects.@sum.cost", "0"), ("projects.@avg.cost", "nil"), ("projects.@min.cost", "nil"),
        ("projects.@max.cost", "nil"), ("members.@sum.boss.age", "60"),
        ("ranking.name", "{'Bob', 'Ann', 'Cid'}"),
        ("ranking.nick", "{'Bobby', 'CC'}"), ("ranking.salary", "{20.0, 10.5}"),
        ("ranking.@unionOfObjects.salary", "{20.0, 10.5, 10.5}"),
        ("ranking.@distinctUnionOfObjects.salary", "{20.0, 10.5}"),
        ("ranking.@unionOfArrays.skills", "{'a', 'b', 'a'}"),
        ("ranking.@distinctUnionOfArrays.skills", "{'a', 'b'}"), ("ranking.@count", "3"),
        ("{3, 1}.@max.self", "3"), ("{1, 2}.@sum.self", "3"),
        ("{1, 1}.@count", "2"), ("$ages.@sum.self", "85"), ("$ages.@count", "4"),
        ("{lead, deputy}.name", "{'Ann'}"), ("{lead, $ann}.name", "{'Ann', 'Ann'}"),
        ("ranking[0].name", "'Bob'"), ("ranking[FIRST].name", "'Bob'"),
        ("ranking[LAST].name", "'Cid'"),
        ("ranking[SIZE]", "3"), ("members[SIZE]", "3"), ("{1, 2}[1]", "2"), ("{}[FIRST]", "nil"),
        ("{}[LAST]", "nil"), ("deputy.reports[FIRST]", "nil"), ("{1, 2, 3}[{1, 2, 3}[0]]", "2"),
        ("objectFrom:withIndex:({'a', 'b'}, 1)", "'b'"), ("ranking[LAST].boss.name", "'Ann'"),
        ("(members UNION projects).@count", "3"), ("(members INTERSECT lead.reports).@count", "2"),
        ("(members MINUS lead.reports).@sum.age", "30"), ("({1, 2} UNION {2.0, 3}).@count", "3"),
        ("({1, 2} UNION {3} MINUS {1}).@sum.self", "5"), ("deputy.reports UNION members", "nil"),
        ("SUBQUERY(members, $x, $x.age > 26).@count", "1"),
        ("SUBQUERY(ranking, $x, $x.boss == $ann).name", "{'Bob', 'Cid'}"),
        ("SUBQUERY(ranking, $x, $x.age == nil)[0].name", "'Cid'"),
        ("SUBQUERY(members, $x, $x.reports.@count > 0).@count", "1"),
        ("SUBQUERY(members, $x, SUBQUERY($x.reports, $y, $y.boss == $x).@count == 2).@count", "1"),
        ("SUBQUERY(deputy.reports, $x, TRUEPREDICATE)", "nil"),
        ("SUBQUERY({}, $x, TRUEPREDICATE)", "{}"),
        ("SUBQUERY({1, 2, 3}, $x, $x > 1)", "{2, 3}"),
        ("SUBQUERY(members, $x, $x.age > $source.#size).@count", "2"),
        ("TERNARY(active == YES, 'on', 'off')", "'on'"),
        ("TERNARY(motto == nil, 0, length(motto))", "0"), ("TERNARY(motto == nil, 1, 1 / 0)", "1"),
        ("now()", "CAST(1000, 'NSDate')"), ("{}", "{}"), ("{1, {2, nil}}", "{1, {2, nil}}"),
        ("nil", "NULL"),
        ("TRUE", "YES"), ("False", "NO"),
    ]

    @Test("texts", arguments: texts)
    func textsGive(text: String, expected: String) throws {
        #expect(try TestGraph.value(text) == TestGraph.value(expected))
    }

    @Test("casts", arguments: casts)
    func castsGive(text: String, expected: String) throws {
        #expect(try TestGraph.value(text) == TestGraph.value(expected))
    }

    @Test("paths and collections", arguments: paths)
    func pathsGive(text: String, expected: String) throws {
        var value = try TestGraph.value(text)
        // A list in braces is an array.
        if case .collection(let members, .orderedSet) = value { value = .array(members) }
        #expect(try value == TestGraph.value(expected))
    }

    @Test("kinds of collections")
    func kinds() throws {
        #expect(try TestGraph.value("members.boss") == .set([.object("ann")]))
        #expect(
            try TestGraph.value("members.salary")
                == .set([.scalar(.real(10.5)), .scalar(.real(20))]))
        #expect(
            try TestGraph.value("members.@unionOfSets.reports")
                == .set([.object("bob"), .object("cid")]))
        #expect(
            try TestGraph.value("members.reports")
                == .set([.set([.object("bob"), .object("cid")]), .set([])]))
        #expect(
            try TestGraph.value("ranking.name")
                == .collection(["Bob", "Ann", "Cid"].map(TestGraph.text), .orderedSet))
        #expect(try TestGraph.value("{1} UNION {1}") == .set([TestGraph.integer(1)]))
        #expect(
            try TestGraph.value("SUBQUERY(members, $x, $x.name == 'Bob')") == .set([.object("bob")])
        )
    }

    @Test(
        "errors",
        arguments: [
            ("unknown", "no key unknown"), ("$missing", "the variable $missing has no value"),
            ("name.length", "a text has no key length"),
            ("lead.@count", "@count needs a collection"),
            ("members.@sum", "a key must follow @sum"),
            ("members.@count.name", "no key may follow @count"),
            ("members.@sum.name", "@sum needs numbers"), ("members.unknown", "no key unknown"),
            ("ranking.@unionOfArrays.name", "@unionOfArrays needs collections within a collection"),
            ("members[0]", "a set has no order for an index"),
            ("members[FIRST]", "a set has no order for an index"),
            ("{1}[1]", "an index is outside of its collection"),
            ("{1}[-1]", "an index is outside of its collection"),
            ("{1}['a']", "an index must be an integer"), ("name[0]", "an index needs a collection"),
            ("name UNION members", "UNION needs two collections"),
            ("SUBQUERY(lead, $x, $x == 1)", "SUBQUERY needs a collection"),
            ("uppercase(5)", "uppercase: needs a text"), ("length({1})", "length: needs a text"),
            (
                "FUNCTION(name, 'stringByAppendingString:', motto)",
                "stringByAppendingString: needs two texts, and one of them has no value"
            ),
            (
                "FUNCTION(name, 'stringByAppendingString:', 5)",
                "stringByAppendingString: needs two texts"
            ),
            (
                "FUNCTION($manager, 'stringByAppendingString:', 'a')",
                "the method stringByAppendingString: cannot be called"
            ),
            ("CAST('x', 'NSDate')", "a text cannot be cast to NSDate"),
            ("CAST('x', 'NSNumber')", "a text cannot be cast to NSNumber"),
            ("CAST('x', 'NSUUID')", "a text cannot be cast to NSUUID"),
            ("CAST(logo, 'NSString')", "bytes cannot be cast to NSString"),
            ("CAST(lead, 'NSString')", "objects and collections cannot be cast to NSString"),
            ("FUNCTION($manager, 'sourceContext')", "the method sourceContext cannot be called"),
        ])
    func errors(text: String, expected: String) {
        let error = #expect(throws: ExpressionError.self) { try TestGraph.value(text) }
        #expect(error?.description == expected)
    }

    @Test("calls are answered by the caller, with the receiver as it is written")
    func calls() throws {
        let evaluator = ExpressionEvaluator(TestGraph(), now: 0) {
            (receiver, selector, arguments) throws(ExpressionError) in
            #expect(receiver == .variable("manager"))
            return .array([TestGraph.text(selector)] + arguments)
        }
        let expression = try ExpressionParser.expression(
            "FUNCTION($manager, 'a:b:', 1, $source.name)")
        let value = try evaluator.value(of: expression, variables: TestGraph.variables)
        #expect(
            value
                == .array(
                    ["a:b:"].map(TestGraph.text) + [TestGraph.integer(1), TestGraph.text("Café")]))
    }

    @Test("trees that are too deep are refused")
    func depth() throws {
        var expression = MappingExpression.constant(.integer(1))
        for _ in 0..<500 { expression = .function(.onesComplement, [expression]) }
        let deep = expression
        let error = #expect(throws: ExpressionError.self) {
            try ExpressionEvaluator(TestGraph(), now: 0).value(of: deep)
        }
        #expect(error?.reason == .limit)
    }
}
