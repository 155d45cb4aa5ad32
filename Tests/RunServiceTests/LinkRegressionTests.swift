import CoreDataStore
import DurableFiles
import FaultSupport
import ManagedObjectModel
import MappingInference
import MappingModel
import MigrationPlans
import RunService
import StateFolders
import StoreForge
import StoreRuns
import TestSupport
import Testing

/// What random models found, in the smallest models that show it.
@Suite("Links: what was wrong once")
struct LinkRegressionTests {
    /// A migration of a forged store whose links are written by hand.
    struct HandMade {
        var source: [Entity]
        var destination: [Entity]
        /// Rows by entity; keys ascend by entity in each table, from 1.
        var rows: [String: Int]
        /// Statements on the source.
        var edits: [String]
        var options = PlanOptions(strategy: .whole)

        /// Migrates and compares with the row-by-row reference.
        ///
        /// - Returns: the destination and its differences.
        func migrate() throws -> (store: PlainStore, differences: [String]) {
            let (from, to) = (try Model(entities: source), try Model(entities: destination))
            var recipe = ForgeRecipe(model: from)
            recipe.rows = rows
            recipe.linkShare = 0
            recipe.keyOrder = .byEntity
            return try withTemporaryFolder { url in
                let folder = try #require(FilePath(url))
                let original = folder.appending("Original.sqlite")
                try ForgedStore.write(recipe, to: original, edits: edits)
                let request = MigrationRequest(
                    store: original, output: folder.appending("Result.sqlite"),
                    state: folder.appending("state"),
                    destination: .model(try DestinationModel(model: to)), options: options)
                _ = try EngineMigration(request, clock: { 0 }).run()
                let after = try PlainStore(request.result, model: to)
                let expected = PlainMigration(
                    try PlainStore(original, model: from), to: to,
                    mapping: try Inference(from: from, to: to).mapping,
                    keepsBroken: options.dangling == .keep)
                return (after, PlainComparison(expected, after).differences)
            }
        }

        /// The texts of a refusal.
        func refusals() throws -> [String] {
            let error = try #require(throws: RunError.self) { try migrate() }
            guard case .plan(.refused(let texts)) = error else { throw error }
            return texts
        }
    }

    private static func toMany(
        _ name: String, _ destination: String, _ inverse: String? = nil, identifier: String? = nil,
        isOrdered: Bool = false
    ) -> Relationship {
        Relationship(
            name: name, destination: destination, inverse: inverse, maximumCount: 0,
            isOrdered: isOrdered, renamingIdentifier: identifier)
    }

    private static func toOne(
        _ name: String, _ destination: String, _ inverse: String? = nil, identifier: String? = nil
    ) -> Relationship {
        Relationship(
            name: name, destination: destination, inverse: inverse,
            renamingIdentifier: identifier)
    }

    @Test("relationships of one name in split tables keep their own owners")
    func sameName() throws {
        let case1 = HandMade(
            source: [
                Entity(name: "Base", relationships: [Self.toMany("items", "Item")]),
                Entity(name: "Part", parent: "Base"), Entity(name: "Item"),
            ],
            destination: [
                Entity(name: "Base", relationships: [Self.toMany("items", "Item")]),
                Entity(name: "Part", relationships: [Self.toMany("items", "Item")]),
                Entity(name: "Item"),
            ],
            rows: ["Base": 2, "Part": 2, "Item": 4],
            edits: ["UPDATE ZITEM SET Z1ITEMS = Z_PK"])
        let (store, differences) = try case1.migrate()
        #expect(differences == [])
        let base = try #require(store.relations[PropertyKey("Base", "items")])
        let part = try #require(store.relations[PropertyKey("Part", "items")])
        #expect(Set(base.keys) == [.init(owner: 1, target: 1), .init(owner: 2, target: 2)])
        #expect(Set(part.keys) == [.init(owner: 3, target: 3), .init(owner: 4, target: 4)])
    }

    /// Tags of notes, many to many, whose inverse goes.
    private static func tags(_ edits: [String], _ options: PlanOptions) -> HandMade {
        HandMade(
            source: [
                Entity(name: "Note", relationships: [toMany("tags", "Tag", "notes")]),
                Entity(name: "Tag", relationships: [toMany("notes", "Note", "tags")]),
            ],
            destination: [
                Entity(name: "Note", relationships: [toMany("tags", "Tag")]), Entity(name: "Tag"),
            ],
            rows: ["Note": 3, "Tag": 3], edits: edits, options: options)
    }

    private static let tagging = "INSERT INTO Z_1TAGS (Z_1NOTES, Z_2TAGS) VALUES "

    @Test("a many-to-many that loses its inverse asks for targets of one object")
    func lostInverse() throws {
        let whole = PlanOptions(strategy: .whole)
        let apart = try Self.tags([Self.tagging + "(1, 1), (1, 2), (2, 3)"], whole).migrate()
        #expect(apart.differences == [])
        #expect(apart.store.relations[PropertyKey("Note", "tags")]?.count == 3)
        let shared = try Self.tags([Self.tagging + "(1, 1), (2, 1)"], whole).refusals()
        #expect(shared.count == 1)
        #expect(shared.first?.contains("Note.tags links 1 object more than once") == true)
    }

    @Test("a missing owner counts as long as its links are kept")
    func missingOwner() throws {
        let edits = [Self.tagging + "(1, 1), (2, 1)", "DELETE FROM ZNOTE WHERE Z_PK = 2"]
        var options = PlanOptions(strategy: .whole)
        #expect(try Self.tags(edits, options).refusals().count == 1)
        options.dangling = .nullify
        #expect(try Self.tags(edits, options).migrate().differences == [])
    }

    @Test("links of an owner without a row go when the owner's row is to hold them")
    func rowlessOwner() throws {
        for dangling in DanglingPolicy.allCases {
            var options = PlanOptions(strategy: .partitioned)
            options.dangling = dangling
            let one = HandMade(
                source: [
                    Entity(name: "Note", relationships: [Self.toMany("tags", "Tag", "notes")]),
                    Entity(name: "Tag", relationships: [Self.toMany("notes", "Note", "tags")]),
                ],
                destination: [
                    Entity(name: "Note", relationships: [Self.toOne("tags", "Tag", "notes")]),
                    Entity(name: "Tag", relationships: [Self.toMany("notes", "Note", "tags")]),
                ],
                rows: ["Note": 3, "Tag": 3],
                edits: [
                    Self.tagging + "(1, 1), (2, 1), (2, 2)", "DELETE FROM ZNOTE WHERE Z_PK = 2",
                ], options: options)
            let (store, differences) = try one.migrate()
            #expect(differences == [])
            let links = store.relations[PropertyKey("Note", "tags")] ?? [:]
            #expect(Set(links.keys) == [.init(owner: 1, target: 1)])
        }
    }

    @Test("a side with sources of its own takes the rest from its inverse")
    func bothSides() throws {
        // Note.items has an inverse in the source, Item.extras has none; both become one pair.
        let one = HandMade(
            source: [
                Entity(name: "Item", relationships: [Self.toMany("extras", "Note")]),
                Entity(name: "Note", relationships: [Self.toMany("items", "Item", "note")]),
                Entity(name: "Item2"),
            ].map { entity in
                var entity = entity
                if entity.name == "Item" {
                    entity.relationships.append(Self.toOne("note", "Note", "items"))
                }
                return entity
            },
            destination: [
                Entity(
                    name: "Base",
                    relationships: [
                        Self.toMany("extras", "Base", "owner", identifier: "items"),
                        Self.toOne("owner", "Base", "extras", identifier: "note"),
                    ]),
                Entity(name: "Item", parent: "Base"), Entity(name: "Note", parent: "Base"),
                Entity(name: "Item2"),
            ],
            rows: ["Item": 2, "Note": 2, "Item2": 0],
            edits: [
                "UPDATE ZITEM SET ZNOTE = 1 WHERE Z_PK = 2",
                "UPDATE ZNOTE SET Z1EXTRAS = 1 WHERE Z_PK = 2",
            ])
        let (store, differences) = try one.migrate()
        #expect(differences == [])
        let links = store.relations[PropertyKey("Base", "extras")] ?? [:]
        #expect(Set(links.keys) == [.init(owner: 1, target: 4), .init(owner: 3, target: 2)])
        let back = store.relations[PropertyKey("Base", "owner")] ?? [:]
        #expect(Set(back.keys) == [.init(owner: 4, target: 1), .init(owner: 2, target: 3)])
    }

    @Test("a reference beyond its table's keys never becomes one to another table's object")
    func beyondKeys() throws {
        let one = HandMade(
            source: [
                Entity(name: "Left", relationships: [Self.toOne("next", "Left")]),
                Entity(name: "Right", relationships: [Self.toOne("next", "Right")]),
            ],
            destination: [
                Entity(name: "Both"),
                Entity(
                    name: "Left", parent: "Both", relationships: [Self.toOne("next", "Left")]),
                Entity(
                    name: "Right", parent: "Both", relationships: [Self.toOne("next", "Right")]),
            ],
            rows: ["Left": 2, "Right": 2],
            edits: ["UPDATE ZLEFT SET ZNEXT = 3", "UPDATE ZRIGHT SET ZNEXT = 0"])
        let (store, differences) = try one.migrate()
        #expect(differences == [])
        #expect(store.relations[PropertyKey("Left", "next")] == [:])
        #expect(store.relations[PropertyKey("Right", "next")] == [:])
    }

    @Test("several UUID attributes may be named for a store that is migrated as a whole")
    func wholeWithRoutes() throws {
        let entities = ["Left", "Right"].map {
            Entity(name: $0, attributes: [Attribute(name: "uid", type: .uuid)])
        }
        var options = PlanOptions(strategy: .whole)
        options.partition = .uuid([PropertyKey("Left", "uid"), PropertyKey("Right", "uid")])
        let one = HandMade(
            source: entities, destination: entities, rows: ["Left": 3, "Right": 3], edits: [],
            options: options)
        #expect(try one.migrate().differences == [])
    }

    @Test("R-trees hold numbers beyond 32-bit floats as far as they can")
    func largeNumbers() throws {
        let index = FetchIndex(
            name: "area", elements: [FetchIndexElement(.property("value"), type: .rTree)])
        let entities = [
            Entity(
                name: "Place", attributes: [Attribute(name: "value", type: .double)],
                fetchIndexes: [index])
        ]
        let one = HandMade(
            source: entities, destination: entities, rows: ["Place": 3],
            edits: [
                "UPDATE ZPLACE SET ZVALUE = 1.7976931348623157e308 WHERE Z_PK = 1",
                "UPDATE ZPLACE SET ZVALUE = 5e-324 WHERE Z_PK = 2",
            ])
        #expect(try one.migrate().differences == [])
    }

    @Test("a to-many that is its own inverse stays so, or is refused")
    func lostSymmetry() throws {
        let one = HandMade(
            source: [
                Entity(name: "Person", relationships: [Self.toMany("friends", "Person", "friends")])
            ],
            destination: [
                Entity(name: "Person", relationships: [Self.toMany("friends", "Person")])
            ],
            rows: ["Person": 3], edits: [])
        let error = try #require(throws: RunError.self) { try one.migrate() }
        guard case .inference(let inference) = error else { throw error }
        #expect(inference.refusals.map(\.rule) == [.ambiguousInverse])
    }

    @Test("links to nothing go where a hidden key becomes a to-one to several entities")
    func hiddenKeyToNothing() throws {
        let (base, part) = (Entity(name: "Base"), Entity(name: "Part", parent: "Base"))
        var (before, after) = (base, base)
        before.relationships = [Self.toMany("items", "Item")]
        after.relationships = [Self.toMany("items", "Item", "base")]
        let (store, differences) = try HandMade(
            source: [before, part, Entity(name: "Item")],
            destination: [
                after, part,
                Entity(name: "Item", relationships: [Self.toOne("base", "Base", "items")]),
            ],
            rows: ["Base": 1, "Part": 1, "Item": 3],
            edits: [
                "UPDATE ZITEM SET Z1ITEMS = Z_PK WHERE Z_PK < 3",
                "UPDATE ZITEM SET Z1ITEMS = 77 WHERE Z_PK = 3",
            ]
        ).migrate()
        #expect(differences == [])
        let links = try #require(store.relations[PropertyKey("Item", "base")])
        #expect(Set(links.keys) == [.init(owner: 1, target: 1), .init(owner: 2, target: 2)])
    }
}
