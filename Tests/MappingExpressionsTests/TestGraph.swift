import ExpressionEvaluation
import ManagedObjectModel
import MappingExpressions

/// A team of three with what makes paths difficult: absent values, empty sets, equal values.
struct TestGraph: ExpressionObjects {
    typealias Value = ExpressionValue<String>

    static func text(_ text: String) -> Value { .scalar(.text(text)) }
    static func integer(_ value: Int64) -> Value { .scalar(.integer(value)) }

    static let objects: [String: [String: Value]] = [
        "team": [
            "name": text("Café"), "founded": .scalar(.date(100)), "motto": .null,
            "budget": .scalar(.decimal("1000.50")), "active": .scalar(.boolean(true)),
            "size": integer(3), "rate": .scalar(.real(2.5)),
            "key": .scalar(.uuid(Array(0..<16))), "home": .scalar(.uri("http://a.example/")),
            "logo": .scalar(.data([1, 2])), "lead": .object("ann"), "deputy": .null,
            "members": .set([.object("ann"), .object("bob"), .object("cid")]),
            "ranking": .collection(
                [.object("bob"), .object("ann"), .object("cid")], .orderedSet),
            "projects": .set([]),
        ],
        "ann": [
            "name": text("Ann"), "age": integer(30), "salary": .scalar(.real(10.5)),
            "nick": .null, "boss": .null, "share": .scalar(.decimal("0.10")),
            "reports": .set([.object("bob"), .object("cid")]), "skills": .array([text("a")]),
        ],
        "bob": [
            "name": text("Bob"), "age": integer(25), "salary": .scalar(.real(20)),
            "nick": text("Bobby"), "boss": .object("ann"), "share": .scalar(.decimal("0.20")),
            "reports": .set([]), "skills": .array([text("a"), text("b")]),
        ],
        "cid": [
            "name": text("Cid"), "age": .null, "salary": .scalar(.real(10.5)),
            "nick": text("CC"), "boss": .object("ann"), "share": .scalar(.decimal("0.70")),
            "reports": .set([]), "skills": .array([]),
        ],
    ]

    func value(forKey key: String, of object: String) throws(ExpressionError) -> Value {
        guard let value = Self.objects[object]?[key] else {
            throw ExpressionError(.unknownName, "no key \(key)")
        }
        return value
    }

    static let variables: [String: Value] = [
        "source": .object("team"), "ann": .object("ann"), "none": .null,
        "ages": .array([integer(30), integer(25), .null, integer(30)]),
        "composed": text("\u{E9}"), "decomposed": text("e\u{301}"),
        "nan": .scalar(.real(.nan)), "truth": .scalar(.boolean(true)),
        "lines": text("a\r\nb"), "family": text("👩‍👩‍👧"),
    ]

    /// The value of a text, with the team as the evaluated object and `now` at 1,000 seconds.
    static func value(_ text: String) throws(ExpressionError) -> Value {
        let evaluator = ExpressionEvaluator(TestGraph(), now: 1_000)
        return try evaluator.value(
            of: try ExpressionParser.expression(text), object: .object("team"),
            variables: variables)
    }

    /// Whether the predicate of a text is fulfilled, in the same surroundings.
    static func isFulfilled(_ text: String) throws(ExpressionError) -> Bool {
        let evaluator = ExpressionEvaluator(TestGraph(), now: 1_000)
        return try evaluator.isFulfilled(
            try ExpressionParser.predicate(text), object: .object("team"), variables: variables)
    }
}
