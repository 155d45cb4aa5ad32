import ExpressionEvaluation
import ManagedObjectModel
import MappingExpressions
import Testing

/// What expressions read of objects, and the text in which it comes.
@Suite("Trees of objects") struct TreeTextTests {
    private func model() throws -> Model {
        try Model(entities: [
            Entity(
                name: "Team",
                attributes: [
                    Attribute(name: "name", type: .string),
                    Attribute(
                        name: "place", type: .composite,
                        elements: [
                            Attribute(name: "city", type: .string),
                            Attribute(name: "zip", type: .integer32),
                        ]),
                ],
                relationships: [
                    Relationship(
                        name: "members", destination: "Person", inverse: "team", maximumCount: 0,
                        isOrdered: true),
                    Relationship(name: "lead", destination: "Person", inverse: "leads"),
                ]),
            Entity(
                name: "Person",
                attributes: [
                    Attribute(name: "age", type: .integer16),
                    Attribute(name: "since", type: .date),
                ],
                relationships: [
                    Relationship(name: "team", destination: "Team", inverse: "members"),
                    Relationship(
                        name: "leads", destination: "Team", inverse: "lead", maximumCount: 0),
                ]),
        ])
    }

    private func tree(_ text: String) throws -> ObjectTree {
        ObjectTree(readBy: try ExpressionParser.expression(text), of: "Team", in: try model())
    }

    /// A tree as one line.
    private func outline(_ tree: ObjectTree) -> String {
        let parts = tree.fields.map(\.name) + tree.branches.map { "\($0.name)\(outline($0.tree))" }
        return "(\(parts.joined(separator: " ")))"
    }

    private static let cases: [(text: String, outline: String)] = [
        ("$source.members.age.@sum", "(members(age))"),
        (
            "SUBQUERY($source.members, $x, $x.age > 3 AND $x.team.name == $source.name).@count",
            "(name members(age team(name)))"
        ),
        ("$source.members[FIRST].since", "(members(since))"),
        ("$source.place.city", "(place.city)"),
        (
            "TERNARY(ANY $source.members.leads.name == \"a\", $source.lead.age, 0)",
            "(members(leads(name)) lead(age))"
        ),
        (
            "SUBQUERY($source.members UNION $source.lead.team.members, $x, $x.age == 1).@count",
            "(members(age) lead(team(members(age))))"
        ),
        (
            "SUBQUERY($source.members, $x, SUBQUERY($x.leads, $y, $y.lead == $x).@count > 0)"
                + ".@count",
            "(members(leads(lead())))"
        ),
    ]

    @Test(arguments: cases)
    func readsWhatIsAskedFor(text: String, wanted: String) throws {
        #expect(outline(try tree(text)) == wanted)
    }

    /// A team with two members, one of them twice, in the other order.
    private static let text =
        "i1 t4162 t426F6E6E i5 i1 i9 i40 ;i1 i20 i9 n r0.5 i1 i10 i8 i30 i3 i1 i20 i9 n r0.5 ;"

    @Test func valuesAreThoseOfTheText() throws {
        let wanted = "(name place.city place.zip lead(age) members(age since))"
        let tree = try tree(
            "TERNARY($source.name == $source.place.city, $source.place.zip, $source.lead.age) + "
                + "SUBQUERY($source.members, $x, $x.age == 1 AND $x.since != nil).@count")
        #expect(outline(tree) == wanted)
        let object = try TreeText.object(Array(Self.text.utf8), tree)
        let evaluator = ExpressionEvaluator(TreeObjects(), now: 0)
        let value = { (text: String) throws in
            try evaluator.value(
                of: ExpressionParser.expression(text), variables: ["source": .object(object)])
        }
        #expect(try value("$source.name") == .scalar(.text("Ab")))
        #expect(try value("$source.place.city") == .scalar(.text("Bonn")))
        #expect(try value("$source.place.zip") == .scalar(.integer(5)))
        #expect(try value("$source.lead.age") == .scalar(.integer(40)))
        #expect(try value("$source.members.@count") == .scalar(.integer(2)))
        #expect(try value("$source.members[FIRST].age") == .scalar(.integer(30)))
        #expect(try value("$source.members[FIRST].since") == .scalar(.date(3)))
        #expect(try value("$source.members[LAST].since") == .scalar(.date(0.5)))
        #expect(try value("$source.members[LAST].age") == .null)
    }

    @Test func textsOfOtherTreesAreRefused() throws {
        let tree = try tree("SUBQUERY($source.members, $x, $x.age == 1).@count")
        let whole = "i1 ;"
        #expect(try TreeText.object(Array(whole.utf8), tree).key == 1)
        for key in [Int64.min, .max, 0] {
            #expect(try TreeText.object(Array("i\(key) ;".utf8), tree).key == key)
        }
        for text in [
            "", "i1", "i1 ", "n ;", "i1 ;;", "i1 i1 i10 i8 ;", "i1 i1 i10 n i3 ;", "i1 x ;",
            "t4 ;", "i1 i1 i10 i8 tG1 ;", "i99999999999999999999 ;", "i1 i1 i10 i8 r1.x ;", "i1 i1",
            "i9223372036854775808 ;",
            "i-9223372036854775809 ;", "i- ;", "i ;",
        ] {
            #expect(throws: ExpressionError.self, "\(text)") {
                try TreeText.object(Array(text.utf8), tree)
            }
        }
    }
}
