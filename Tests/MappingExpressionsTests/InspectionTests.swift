import MappingExpressions
import Testing

@Suite("Expressions: inspection")
struct InspectionTests {
    @Test func expressions() throws {
        let text = """
            TERNARY($source.a.b == $x, now(), FUNCTION($manager, 'c:', $source.items.@count)) \
            + SUBQUERY($source.items, $y, $y.d > $z AND $source.e == 1)[SIZE] + CAST(f, 'NSNumber')
            """
        let found = ExpressionInspection(try ExpressionParser.expression(text))
        #expect(found.variables == ["source", "x", "manager", "z"])
        #expect(
            found.sourceKeyPaths == [["a", "b"], ["items", "@count"], ["items"], ["e"]])
        #expect(found.calls.map(\.selector) == ["c:"])
        #expect(found.calls.map(\.receiver) == [.variable("manager")])
        #expect(found.usesNow)
        #expect(found.usesEvaluatedObject)
        #expect(!found.isDeterministic)
    }

    @Test func predicates() throws {
        let found = ExpressionInspection(
            try ExpressionParser.predicate("NOT $source.a IN {1, $b[2]}"))
        #expect(found.variables == ["source", "b"])
        #expect(found.sourceKeyPaths == [["a"]])
        #expect(found.isDeterministic)
        #expect(!found.usesNow && !found.usesEvaluatedObject && found.calls.isEmpty)
    }

    @Test("a variable of a subquery is not one from outside, beyond it it is")
    func bound() throws {
        let inner = ExpressionInspection(
            try ExpressionParser.expression("SUBQUERY($source.a, $source, $source.b == 1)"))
        #expect(inner.variables == ["source"])
        #expect(inner.sourceKeyPaths == [["a"]])
        let outer = ExpressionInspection(
            try ExpressionParser.expression("{SUBQUERY($a, $x, $x.b == 1), $x}"))
        #expect(outer.variables == ["a", "x"])
    }
}
