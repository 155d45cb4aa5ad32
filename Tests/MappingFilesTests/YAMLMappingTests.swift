import ManagedObjectModel
import MappingExpressions
import MappingFiles
import MappingModel
import Testing

/// Mapping files in YAML.
struct YAMLMappingTests {
    private func read(_ text: String) throws -> MappingDefinition {
        try MappingFile(path: "m.yaml", form: .yaml, bytes: Array(text.utf8)).definition
    }

    private func message(_ text: String) -> String {
        do {
            _ = try read(text)
            return "it was read"
        } catch {
            return "\(error)"
        }
    }

    private func values(_ lines: String) -> String {
        """
        godwit-mapping: 1
        entities:
          - entity: Note
            attributes:
              \(lines)
        """
    }

    @Test(arguments: [
        ("{value: $source.a, default: 0}", "TERNARY($source.a == nil, 0, $source.a)"),
        (
            "{value: $source.a, table: {0: open, 1: closed}, otherwise: none}",
            #"TERNARY($source.a == nil, nil, TERNARY($source.a == 0, "open", "#
                + #"TERNARY($source.a == 1, "closed", "none")))"#
        ),
        (
            "{value: $source.a, table: {x: 1, null: 2}, otherwise: null}",
            #"TERNARY($source.a == nil, 2, TERNARY($source.a == "x", 1, nil))"#
        ),
        (
            "{value: $source.a, table: {x: 1}, otherwise: 3, default: 4}",
            #"TERNARY($source.a == nil, 4, TERNARY($source.a == "x", 1, 3))"#
        ),
    ])
    func someValuesAreReplaced(line: String, expression: String) throws {
        let mapping = try #require(try read(values("a: \(line)")).entityMappings.first)
        #expect(mapping.attributes.map(\.value.expressionText) == [expression])
    }

    @Test(arguments: [
        ("{value: $source.a}", "value needs default"),
        ("{value: $source.a, otherwise: 1}", "value needs default"),
        ("{value: $source.a, table: {x: 1}}", "a table needs otherwise"),
        ("{value: $source.a, table: {}, otherwise: 1}", "the table is empty"),
        ("{constant: 1, default: 2}", "constant cannot be combined"),
        ("{constant: $source.title}", "looks like an expression"),
        ("{default: 2}", "needs an expression"),
        ("{value: unset, default: 2}", "an expression belongs here"),
        ("{convert: unset}", "an expression or the word automatic"),
        ("{convert: automatic, table: {x: 1}}", "convert cannot be combined with table"),
        ("{value: $source.a, format: yyyy}", "write convert instead of value"),
        ("{convert: automatic, format: QQ}", "the format of dates has no QQ"),
        ("{convert: automatic, format: yyyy, zone: CET}", "zone must be UTC or an offset"),
        ("{convert: automatic, zone: UTC}", "zone needs format"),
        ("{convert: automatic, json: a, plist: b}", "not both"),
        ("{convert: automatic, json: a..b}", "a path of keys"),
        ("{convert: automatic, text: [shout]}", "unknown text step"),
        ("{convert: automatic, failing: ignore}", "failing must be refuse, drop"),
        ("{convert: automatic, failing: {constant: null}}", "failing must be refuse, drop"),
    ])
    func mistakesInReplacementsAreTold(line: String, text: String) {
        let message = message(values("a: \(line)"))
        #expect(message.contains(text) && message.contains("line 5"), "\(message)")
    }

    @Test func conversionsAreReadAndWritten() throws {
        let format = try DateFormat("dd.MM.yyyy HH:mm", offset: 7200)
        let cases: [(String, StatedConversion)] = [
            ("convert", StatedConversion()),
            (
                "{convert: automatic, failing: {constant: 0}}",
                StatedConversion(failing: .constant(.integer(0)))
            ),
            (
                "{convert: $source.born, format: dd.MM.yyyy HH:mm, zone: '+02:00', failing: drop}",
                StatedConversion(value: .source("born"), format: format, failing: .drop)
            ),
            (
                "{convert: $source.payload, json: address.city, default: none}",
                StatedConversion(
                    value: .source("payload"),
                    field: DocumentField(form: .json, path: ["address", "city"]),
                    missing: .text("none"))
            ),
            (
                "{convert: $source.payload, plist: ['a.b', 0], text: [trim, nfc]}",
                StatedConversion(
                    value: .source("payload"),
                    field: DocumentField(form: .plist, path: ["a.b", "0"]), steps: [.trim, .nfc])
            ),
            ("{convert: automatic, text: empty}", StatedConversion(steps: [.empty])),
        ]
        for (line, conversion) in cases {
            let definition = try read(values("a: \(line)"))
            let found = definition.entityMappings.first?.attributes.map(\.value)
            #expect(found == [.converted(conversion)], "\(line)")
            let again = try read(YAMLMappingWriter.text(definition))
            #expect(again.withoutPositions == definition.withoutPositions, "\(line)")
        }
        let guarded = try read(values("a: {value: 1 / $source.b, failing: drop}"))
        #expect(
            guarded.entityMappings.first?.attributes.first?.value.expressionText
                == "ATTEMPT(1 / $source.b, nil)")
    }

    @Test func everyFormIsRead() throws {
        let definition = try read(
            """
            godwit-mapping: 1
            unmentioned: unset
            entities:
              - source: Post
                destination: Article
                name: Posts
                filter: draft == NO
                policy: App.PostPolicy
                attributes:
                  title: $source.headline
                  score: 3
                  kind: {constant: news}
                  number: {constant: 12}
                  note: null
                  other: automatic
                  last: unset
                relationships:
                  author: $source.writer
                  editor: {source: $source.desk.chief, mapping: UserToUser}
              - entity: User
              - add: Stamp
              - remove: Draft
            """)
        #expect(!definition.infersRest)
        let mappings = definition.entityMappings
        #expect(
            mappings.map(\.effectiveName) == ["Posts", "UserToUser", "Stamp", "Draft"])
        #expect(mappings[0].filter == (try ExpressionParser.predicate("draft == NO")))
        #expect(mappings[0].policy == "App.PostPolicy")
        let values = Dictionary(
            uniqueKeysWithValues: mappings[0].attributes.map { ($0.destination, $0.value) })
        #expect(values["title"] == .expression(.source("headline")))
        #expect(values["score"] == .expression(.constant(.integer(3))))
        #expect(values["kind"] == .expression(.constant(.text("news"))))
        #expect(values["number"] == .expression(.constant(.integer(12))))
        #expect(values["note"] == .expression(.null))
        #expect(values["other"] == .automatic)
        #expect(values["last"] == .unset)
        let links = mappings[0].relationships.map(\.value)
        #expect(
            links == [
                .expression(ManagerCall.relationship("writer", .source("writer")).expression),
                .expression(
                    ManagerCall.entityMapping(
                        "UserToUser", .keyPath(.variable("source"), ["desk", "chief"])
                    ).expression),
            ])
        #expect(mappings[0].attributes.last?.position?.line == 10)
        let text = YAMLMappingWriter.text(definition)
        #expect(try read(text).withoutPositions == definition.withoutPositions)
    }

    @Test(arguments: [
        ("entities: []", "godwit-mapping: 1"),
        ("godwit-mapping: 2", "only format version 1"),
        ("godwit-mapping: 1\nentites: []", "Did you mean entities?"),
        ("godwit-mapping: 1\nentities:\n  - source: Post", "write remove instead of source"),
        ("godwit-mapping: 1\nentities:\n  - destination: Post", "write add instead"),
        ("godwit-mapping: 1\nentities:\n  - name: x", "it has none of them"),
        (
            "godwit-mapping: 1\nentities:\n  - entity: A\n    attributes:\n      b: red",
            "line 5, column 10: AToA.b: red names no value"
        ),
        (
            "godwit-mapping: 1\nentities:\n  - entity: A\n    attributes:\n      b: $source.a +",
            "line 5, column 10"
        ),
        (
            "godwit-mapping: 1\nentities:\n  - entity: A\n    attributes:\n"
                + "      b: {value: $source.a, table: {null: 1, ~: 2}, otherwise: 0}",
            "the table has this value twice"
        ),
        ("godwit-mapping: 1\ngodwit-mapping: 1", "occurs twice"),
        ("godwit-mapping: 1\nentities:\n\t- entity: A", "YAML takes no tabs"),
        (
            "godwit-mapping: 1\nentities:\n  - entity: A\n    attributes:\n      b: $source.b\n"
                + "        c: $source.c", "Check the indentation"
        ),
        ("godwit-mapping: [", "line 2, column 1"), ("", "empty"), ("- a", "has no keys"),
    ])
    func mistakesNameTheirPlace(text: String, words: String) {
        #expect(message(text).contains(words), "\(message(text))")
    }

    @Test func aByteOrderMarkIsPassedBy() throws {
        let text = "\u{FEFF}godwit-mapping: 1\nentities:\n  - entity: A\n"
        let file = try MappingFile(path: "m.yaml", form: .yaml, bytes: Array(text.utf8))
        #expect(file.definition.entityMappings.map(\.source) == ["A"])
    }

    @Test func allMistakesOfAFileAreTold() {
        let message = message(
            """
            godwit-mapping: 1
            unmentoned: unset
            entities:
              - entity: Note
                filter: a ==
                policie: P
                attributes:
                  b: $source.a +
                  c: {value: IF(1, 2), failing: drop}
                  d: $source.d
              - source: Draft
                attributes:
                  e: summ($source.x)
              - source: Post
                destination: Article
                type: odd
                relationships:
                  f: {source: $source.g., mapping: M}
            """)
        let wanted = """
            the mapping is malformed: 9 mistakes
            - line 2, column 1: a mapping file has no key unmentoned. Did you mean unmentioned?
            - line 6, column 5: NoteToNote: an entity mapping has no key policie. Did you mean \
            policy?
            - line 5, column 13: NoteToNote: filter: in "a ==": column 5: unexpected end; expected \
            a value
            - line 8, column 10: NoteToNote.b: in "$source.a +": column 12: unexpected end; \
            expected a value
            - line 9, column 24: NoteToNote.c: a value has no key 2). If an expression goes on \
            here, put the whole expression in single quotes, and double each one within
            - line 11, column 5: Draft: an entity mapping has a source and no destination: to drop \
            its objects, write remove instead of source
            - line 13, column 10: Draft.e: in "summ($source.x)": column 1: unknown function summ; \
            did you mean sum:?
            - line 16, column 11: PostToArticle: unknown entity mapping type odd
            - line 18, column 19: PostToArticle.f: in "$source.g.": column 11: unexpected end; \
            expected a key
            """
        #expect(message == wanted)
    }

    @Test(arguments: [
        ("b: \"Hello world\"", #"For this text, write {constant: "Hello world"}"#),
        ("b: no title yet", #"For this text, write {constant: "no title yet"}"#),
    ])
    func textsAreConstants(line: String, words: String) {
        #expect(message(values(line)).contains(words), "\(message(values(line)))")
        #expect(!message(values("b: $source.a c")).contains("constant"))
    }

    @Test(arguments: [
        ("b: \"x\" + $source.a", "line 5, column 14"), ("b: {1, 2}.@count", "line 5, column 16"),
        ("b: @count > 1", "line 5, column 10"), ("b: %@", "line 5, column 10"),
        ("b: !(a == 1)", "!(a"), ("b: {1, 2}", "braces"), ("b: [1]", "brackets"),
        ("b: 'x' + $source.a", "line 5, column 14"), ("b: *a", "line 5, column 10"),
        ("b: FUNCTION(a, \"b: c\")", "line 5"), ("b: \"x + $source.a", "line 5, column 10"),
        ("b: {value: \"x\" + $source.a, failing: drop}", "line 5"),
    ])
    func signsOfYAMLNeedQuotes(line: String, words: String) {
        let message = message(values(line))
        #expect(message.contains(words) && message.contains("in single quotes"), "\(message)")
    }

    /// By aliases a file of a few lines can stand for one without end.
    @Test func anchorsAreRefused() {
        let head = "godwit-mapping: 1\nentities:\n"
        #expect(message(head + "  - &a {entity: A}\n  - *a").contains("line 3: anchors"))
        #expect(message(head + "  - entity: &a A").contains("line 3: anchors"))
        #expect(message("x: &x [1]\ny: &y {? *x : *x}").contains("line 1: anchors"))
        let text = head + "  - entity: A\n    filter: a == 1 && b == 2\n"
        #expect(message(text) == "it was read")
    }
}

extension PropertyMappingDefinition.Value {
    /// The text of an expression; nil for other values.
    fileprivate var expressionText: String? {
        guard case .expression(let expression) = self else { return nil }
        return expression.text
    }
}
