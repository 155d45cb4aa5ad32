import ManagedObjectModel
import MappingExpressions
import MappingFiles
import MappingInference
import MappingModel
import Testing

@Suite("Mapping files: completed and checked")
struct DirectedInferenceTests {
    private func source() throws -> Model {
        try model(
            Entity(
                name: "Post",
                attributes: [
                    Attribute(name: "headline", type: .string),
                    Attribute(name: "likes", type: .integer32),
                    Attribute(name: "posted", type: .date),
                ],
                relationships: [
                    Relationship(name: "writer", destination: "User", inverse: "posts")
                ]),
            Entity(
                name: "User", attributes: [Attribute(name: "name", type: .string)],
                relationships: [
                    Relationship(
                        name: "posts", destination: "Post", inverse: "writer", maximumCount: 0)
                ]))
    }

    private func destination(_ change: (inout [Entity]) -> Void = { _ in }) throws -> Model {
        var entities = [
            Entity(
                name: "Article",
                attributes: [
                    Attribute(name: "title", type: .string),
                    Attribute(name: "score", type: .double),
                    Attribute(name: "posted", type: .date),
                ],
                relationships: [
                    Relationship(name: "author", destination: "User", inverse: "articles")
                ]),
            Entity(
                name: "User", attributes: [Attribute(name: "name", type: .string)],
                relationships: [
                    Relationship(
                        name: "articles", destination: "Article", inverse: "author",
                        maximumCount: 0)
                ]),
        ]
        change(&entities)
        return try Model(entities: entities)
    }

    private func attribute(
        _ name: String, _ text: String
    ) throws -> PropertyMappingDefinition {
        PropertyMappingDefinition(
            destination: name, value: .expression(try ExpressionParser.expression(text)))
    }

    private func definition(
        attributes: [PropertyMappingDefinition] = [], infersRest: Bool = true
    ) -> MappingDefinition {
        MappingDefinition(
            entityMappings: [
                EntityMappingDefinition(
                    source: "Post", destination: "Article", attributes: attributes,
                    relationships: [
                        PropertyMappingDefinition(
                            destination: "author",
                            value: .expression(
                                ManagerCall.relationship("writer", .source("writer")).expression))
                    ])
            ], infersRest: infersRest)
    }

    @Test("what is stated is taken over, the rest is inferred")
    func stated() throws {
        let inference = try Inference(
            from: source(), to: destination(),
            by: definition(attributes: [
                attribute("title", "$source.headline"), attribute("score", "$source.likes * 2"),
            ]))
        #expect(try inference.value("title", of: "Article") == .source("headline"))
        #expect(try inference.value("posted", of: "Article") == .source("posted"))
        #expect(
            try inference.value("score", of: "Article")
                == .expression(ExpressionParser.expression("$source.likes * 2")))
        #expect(try inference.links("author", of: "Article") == "writer")
        #expect(try inference.links("articles", of: "User") == "posts")
        #expect(try inference.mapping(to: "Article").name == "PostToArticle")
        #expect(inference.mapping.entityMappings.allSatisfy { $0.kind != .remove })
    }

    @Test("a new property does not take the values of one that was renamed and is stated")
    func renamedAndStated() throws {
        let destination = try destination { entities in
            entities[0].attributes[0].renamingIdentifier = "headline"
            entities[0].attributes.append(Attribute(name: "headline", type: .string))
        }
        for stated in [[], [try attribute("title", "uppercase:($source.headline)")]] {
            let inference = try Inference(
                from: source(), to: destination, by: definition(attributes: stated))
            #expect(try inference.value("headline", of: "Article") == .null)
        }
        let automatic = PropertyMappingDefinition(destination: "headline", value: .automatic)
        let inference = try Inference(
            from: source(), to: destination,
            by: definition(attributes: [
                attribute("title", "uppercase:($source.headline)"), automatic,
            ]))
        #expect(try inference.value("headline", of: "Article") == .source("headline"))
    }

    @Test("mistakes say what to write")
    func remedies() throws {
        func mistake(_ property: PropertyMappingDefinition) throws -> String {
            let error = try #require(throws: MappingMismatch.self) {
                try Inference(
                    from: source(), to: destination(), by: definition(attributes: [property]))
            }
            return error.mistakes.map(\.description).joined(separator: "\n")
        }
        let joined = try mistake(attribute("title", "$source.headline + \" \" + $source.likes"))
        #expect(joined.split(separator: "\n").count == 1)
        #expect(
            joined.contains(
                "Write FUNCTION(FUNCTION($source.headline, \"stringByAppendingString:\", \" \"), "
                    + "\"stringByAppendingString:\", CAST($source.likes, \"NSString\"))"),
            "\(joined)")
        #expect(
            try mistake(attribute("title", "$source.posted"))
                .contains("Write {convert: $source.posted}"))
        #expect(
            try mistake(attribute("title", "CAST($source.posted, \"NSString\")"))
                .contains("Write CONVERT($source.posted, \"string\")"))
        let automatic = PropertyMappingDefinition(destination: "title", value: .automatic)
        #expect(try mistake(automatic).contains("Post has no attribute of this name"))
    }

    @Test("without inference, what is not mentioned stays out")
    func unmentioned() throws {
        let inference = try Inference(
            from: source(), to: destination(),
            by: definition(
                attributes: [attribute("title", "$source.headline")], infersRest: false))
        #expect(try inference.value("posted", of: "Article") == .null)
        #expect(try inference.mapping(to: "User").kind == .add)
        #expect(
            inference.mapping.entityMappings.filter { $0.kind == .remove }.map(\.source) == ["User"]
        )
    }

    @Test("every mistake is told with its place and the nearest name")
    func mistakes() throws {
        var given = definition(attributes: [
            PropertyMappingDefinition(
                destination: "tilte", value: .expression(.source("headline")),
                position: FilePosition(line: 4, column: 7)),
            try attribute("title", "$source.likes"),
            try attribute("score", "$source.like + 1"),
            try attribute("posted", "$source.writer.nmae"),
        ])
        given.entityMappings.append(
            EntityMappingDefinition(source: "Usr", destination: "User"))
        let error = try #require(throws: MappingMismatch.self) {
            try Inference(from: source(), to: destination(), by: given)
        }
        let texts = error.mistakes.map(\.description)
        #expect(texts.count == 5)
        #expect(texts[0].hasPrefix("line 4, column 7: PostToArticle.tilte: "))
        #expect(texts[0].contains("Did you mean title?"))
        #expect(texts[1].contains("a number"))
        #expect(texts[2].contains("Did you mean likes?"))
        #expect(texts[3].contains("User has no property nmae. Did you mean name?"))
        #expect(texts[4].contains("no entity Usr. Did you mean User?"))
    }

    @Test("an attribute that becomes required is not filled with its default")
    func required() throws {
        let to = try destination { entities in
            entities[0].attributes[0].isOptional = false
            entities[0].attributes[0].defaultValue = .text("none")
        }
        let stated = try Inference(
            from: source(), to: to,
            by: definition(attributes: [attribute("title", "$source.headline")]))
        #expect(
            stated.requirements.contains(
                .noMissingValue(
                    source: PropertyReference("Post", "headline"),
                    destination: PropertyReference("Article", "title"))))
        #expect(try stated.value("title", of: "Article") == .source("headline"))
    }

    @Test("policies are named with their selectors")
    func policies() throws {
        var given = definition(attributes: [
            try attribute("title", #"FUNCTION($entityPolicy, "titleOf:", $source.headline)"#)
        ])
        given.entityMappings[0].policy = "App.PostPolicy"
        let error = try #require(throws: MappingMismatch.self) {
            try Inference(from: source(), to: destination(), by: given)
        }
        #expect(error.description.contains("App.PostPolicy (called: titleOf:)"))
    }

    @Test("one source entity may become two")
    func split() throws {
        var given = definition()
        given.entityMappings.append(
            EntityMappingDefinition(
                source: "Post", destination: "Stamp",
                attributes: [
                    try attribute("at", "$source.posted")
                ]))
        let to = try destination { entities in
            entities.append(
                Entity(name: "Stamp", attributes: [Attribute(name: "at", type: .date)]))
        }
        let inference = try Inference(from: source(), to: to, by: given)
        #expect(inference.mapping.entityMappings.filter { $0.source == "Post" }.count == 2)
        #expect(try inference.value("at", of: "Stamp") == .source("posted"))
    }

    @Test(
        "what no row can be computed by is refused",
        arguments: [
            (#"TERNARY($source.likes > 1, $source.headline, 5)"#, "a text or a number"),
            (#"FUNCTION($source, "foo")"#, "can call only methods of $entityPolicy"),
            (
                #"FUNCTION($source.headline, "stringByAppendingString:", $source.likes)"#,
                "needs a text, not a number. Write CAST($source.likes, \"NSString\")"
            ),
            (
                #"$source.headline + "!""#,
                #"Write FUNCTION($source.headline, "stringByAppendingString:", "!")"#
            ),
            (
                "$source.writer.posts.count",
                "Post has no property count: an operator of collections is written @count"
            ),
            ("3000000000", "gives a number"), ("$source.writer", "an object of User"),
            (#"SUBQUERY({1, 2}, $#"godwit input 0", 1 == 1).@count"#, "cannot name its variable"),
        ])
    func refused(text: String, words: String) throws {
        let error = try #require(throws: MappingMismatch.self) {
            try Inference(
                from: source(), to: destination(),
                by: definition(attributes: [attribute("title", text)]))
        }
        #expect(error.description.contains(words), "\(error)")
    }

    private func mapping(_ lines: String) throws -> MappingDefinition {
        let text = """
            godwit-mapping: 1
            entities:
              - source: Post
                destination: Article
            \(lines)
            """
        return try MappingFile(path: "m.yaml", form: .yaml, bytes: Array(text.utf8)).definition
    }

    @Test(
        "what is wrong in a file is said at its own line",
        arguments: [
            ("    filter: headlin == 'x'", "line 5, column 13: PostToArticle: filter: source"),
            (
                "    attributes: {author: $source.writer}",
                "PostToArticle.author: it is a relationship: write it under relationships"
            ),
            (
                "    relationships: {title: $source.headline}",
                "PostToArticle.title: it is an attribute: write it under attributes"
            ),
        ])
    func places(lines: String, words: String) throws {
        let error = try #require(throws: MappingMismatch.self) {
            try Inference(from: source(), to: destination(), by: mapping(lines))
        }
        #expect(error.description.contains(words), "\(error)")
    }

    @Test(
        "values of two kinds are never equal, which is noted",
        arguments: [
            (
                "    filter: likes == '5'",
                "line 5, column 13: PostToArticle: filter: likes == \"5\" compares a number with "
                    + "a text: they are never equal"
            ),
            (
                "    attributes: {score: {value: $source.headline, table: {0: 1}, otherwise: 2}}",
                "PostToArticle.score: $source.headline == 0 compares a text with a number"
            ),
            ("    filter: headline IN {1, 2}", "compares a text with a number"),
            ("    filter: likes == 5 AND headline != nil AND likes IN {1, nil}", nil),
        ])
    func neverEqual(lines: String, words: String?) throws {
        let definition = try mapping(lines + "\n    relationships: {author: $source.writer}")
        let notes = try Inference(from: source(), to: destination(), by: definition).notes
        let warnings = notes.filter(\.isWarning).map(\.description)
        #expect(warnings.count == (words == nil ? 0 : 1))
        #expect(warnings.first?.contains(words ?? "") != false, "\(warnings)")
    }

    @Test(
        "constants that an attribute cannot hold are refused",
        arguments: [
            ("3000000000", AttributeType.integer32, "does not fit"),
            ("40000", .integer16, "does not fit"), ("1.5", .integer64, "is not a whole number"),
            ("5", .boolean, "neither YES nor NO"), (#"CAST("inf", "NSNumber")"#, .double, "finite"),
            (#"CAST("1e400", "NSDecimalNumber")"#, .double, "the decimal number is too large"),
            // Within braces, YAML would take the quotation marks away.
            (#""2020-01-01""#, .date, #"Write {convert: '"2020-01-01"'}"#),
            ("$source.writer.posts.likes.@sum", .integer64, "@sum needs a key after it"),
        ])
    func constants(text: String, type: AttributeType, words: String) throws {
        let to = try destination { $0[0].attributes[1].type = type }
        let error = try #require(throws: MappingMismatch.self) {
            try Inference(
                from: source(), to: to, by: definition(attributes: [attribute("score", text)]))
        }
        #expect(error.description.contains(words), "\(error)")
    }

    @Test("derived, transient and composite destinations keep their values")
    func unstatable() throws {
        let to = try destination { entities in
            entities[0].attributes += [
                Attribute(name: "gone", type: .string, isTransient: true),
                Attribute(
                    name: "upper", type: .string,
                    derivation: Derivation(expression: "uppercase:(title)")),
                Attribute(
                    name: "place", type: .composite,
                    elements: [Attribute(name: "street", type: .string)]),
            ]
        }
        let error = try #require(throws: MappingMismatch.self) {
            try Inference(
                from: source(), to: to,
                by: definition(attributes: [
                    attribute("gone", "1"), attribute("upper", "$source.headline"),
                    attribute("place.street", "$source.headline"),
                    attribute("place", "$source.headline"),
                ]))
        }
        let texts = error.mistakes.map(\.text)
        #expect(texts.count == 4)
        for words in ["is transient", "is derived", "one by one", "of type composite"] {
            #expect(texts.contains { $0.contains(words) }, "\(texts)")
        }
    }

    @Test(
        "collections and objects are read where one value is made of them",
        arguments: [
            "$source.writer.posts.@count",
            "SUBQUERY($source.writer.posts, $x, $x == $source).@count",
            "TERNARY(ANY $source.writer.posts.headline == nil, 1, 0)",
        ])
    func collections(text: String) throws {
        let given = definition(attributes: [try attribute("score", text)])
        _ = try Inference(from: source(), to: destination(), by: given)
    }

    @Test(
        "objects without values, and collections alone, are refused by name",
        arguments: [
            ("TERNARY($entityMapping == nil, 1, 0)", "needs an object itself"),
            ("TERNARY($destination == nil, 1, 0)", "needs an object itself"),
            ("$source.writer.posts.headline", "gives a collection"),
        ])
    func refusals(text: String, words: String) throws {
        let given = definition(attributes: [try attribute("score", text)])
        let error = try #require(throws: MappingMismatch.self) {
            try Inference(from: source(), to: destination(), by: given)
        }
        #expect(error.description.contains(words))
    }
}
