import Foundation
import Testing

@testable import ManagedObjectModel

@Suite struct ModelDiffTests {
    private func lines(_ source: [Entity], _ destination: [Entity]) throws -> [String] {
        ModelDiff(from: try Model(entities: source), to: try Model(entities: destination)).lines
    }

    @Test func entitiesAddedRemovedAndRenamed() throws {
        let old = [
            Entity(name: "Gone"), Entity(name: "Car"),
            Entity(name: "Sport", parent: "Car", attributes: [Attribute(name: "a", type: .date)]),
            Entity(
                name: "Garage",
                relationships: [
                    Relationship(name: "best", destination: "Sport", inverse: nil)
                ]),
        ]
        let new = [
            Entity(name: "Car"),
            Entity(
                name: "Luxury", parent: "Car", attributes: [Attribute(name: "a", type: .date)],
                renamingIdentifier: "Sport"),
            Entity(
                name: "Garage",
                relationships: [
                    Relationship(name: "best", destination: "Luxury", inverse: nil)
                ]),
            Entity(
                name: "New", isAbstract: true,
                attributes: [Attribute(name: "n", type: .integer16, defaultValue: .integer(0))],
                fetchIndexes: [
                    FetchIndex(name: "byN", elements: [FetchIndexElement(.property("n"))])
                ], uniquenessConstraints: [["n"]]),
        ]
        #expect(
            try lines(old, new) == [
                "~ Garage.best: destination Sport -> Luxury (follows the renaming)",
                "- Gone", "~ Luxury: renamed from Sport", "+ New: abstract; unique n",
                "+ New.n: Integer 16, optional, default 0",
                "+ New[index byN]: n [no version hash changes]",
            ])
    }

    @Test func attributesChangeInEveryWay() throws {
        let old = Entity(
            name: "E",
            attributes: [
                Attribute(name: "kept", type: .integer16),
                Attribute(name: "timeout", type: .double),
                Attribute(name: "gone", type: .string),
                Attribute(name: "shadow", type: .string, isTransient: true),
            ])
        let new = Entity(
            name: "E",
            attributes: [
                Attribute(
                    name: "kept", type: .integer64, isOptional: false, isIndexed: true,
                    defaultValue: .integer(1)),
                Attribute(name: "localTimeout", type: .double, renamingIdentifier: "timeout"),
                Attribute(name: "shadow", type: .date, isTransient: true),
                Attribute(name: "fresh", type: .string, isTransient: true),
            ])
        #expect(
            try lines([old], [new]) == [
                "+ E.fresh: String, optional, transient [no version hash changes]",
                "- E.gone: String, optional", "~ E.kept: type Integer 16 -> Integer 64",
                "~ E.kept: optional yes -> no",
                "~ E.kept: default none -> 1 [no version hash changes]",
                "~ E.kept: indexed no -> yes [no version hash changes]",
                "~ E.localTimeout: renamed from timeout",
                "~ E.shadow: type String -> Date [no version hash changes]",
            ])
    }

    @Test func relationshipsAndIndexesChange() throws {
        func entity(
            _ relationship: Relationship, _ index: [FetchIndexElement], unique: [[String]],
            _ parent: String?
        ) -> [Entity] {
            [
                Entity(name: "P"),
                Entity(
                    name: "E", className: unique.isEmpty ? "A" : "B", parent: parent,
                    relationships: [relationship],
                    fetchIndexes: [FetchIndex(name: "i", elements: index)],
                    uniquenessConstraints: unique),
            ]
        }
        let old = entity(
            Relationship(name: "r", destination: "P"), [FetchIndexElement(.entity)], unique: [], nil
        )
        let new = entity(
            Relationship(
                name: "r", destination: "E", minimumCount: 1, maximumCount: 0, isOrdered: true,
                deleteRule: .cascade),
            [FetchIndexElement(.objectID, isAscending: false)], unique: [["a", "b"]], "P")
        #expect(
            try lines(old, new) == [
                "~ E: parent none -> P", "~ E: uniqueness none -> a, b",
                "~ E: class A -> B [no version hash changes]",
                "~ E.r: destination P -> E", "~ E.r: maximum count 1 -> 0",
                "~ E.r: minimum count 0 -> 1", "~ E.r: ordered no -> yes",
                "~ E.r: delete rule Nullify -> Cascade [no version hash changes]",
                "~ E[index i]: index (entity) -> (object ID) descending [no version hash changes]",
            ])
    }

    @Test func modelsItselfChange() throws {
        let entities = [Entity(name: "A"), Entity(name: "B")]
        let old = try Model(
            entities: entities, versionIdentifiers: ["1"], configurations: ["C": ["A"]])
        let new = try Model(
            entities: entities, versionIdentifiers: ["2"],
            configurations: ["C": ["A", "B"], "D": ["B"]])
        #expect(
            ModelDiff(from: old, to: new).lines == [
                "~ model: version identifiers \"1\" -> \"2\" [no version hash changes]",
                "~ model: configuration C (A) -> C (A, B) [no version hash changes]",
                "+ model: configuration: D (B) [no version hash changes]",
            ])
    }

    @Test func identifiersPairThroughSeveralVersions() throws {
        func model(_ attributes: [Attribute]) throws -> Model {
            try Model(entities: [Entity(name: "E", attributes: attributes)])
        }
        let first = try model([Attribute(name: "a", type: .date)])
        let second = try model([
            Attribute(name: "b", type: .date, renamingIdentifier: "a")
        ])
        // The third renames b again by the same identifier, and has another attribute named a.
        let third = try model([
            Attribute(name: "c", type: .date, renamingIdentifier: "a"),
            Attribute(name: "a", type: .date, renamingIdentifier: "other"),
        ])
        #expect(ModelMatch(from: first, to: second).attributes["E"] == ["b": "a"])
        #expect(ModelMatch(from: second, to: third).attributes["E"] == ["c": "b"])
        #expect(ModelMatch(from: first, to: third).attributes["E"] == ["c": "a"])
        #expect(ModelMatch(from: third, to: third).attributes["E"] == ["a": "a", "c": "c"])
        // An identifier that names the latest name of the source, as Xcode suggests.
        let byName = try model([Attribute(name: "d", type: .date, renamingIdentifier: "b")])
        #expect(ModelMatch(from: second, to: byName).attributes["E"] == ["d": "b"])
    }

    @Test func inverseFollowsItsRenaming() throws {
        func model(_ name: String, identifier: String?) throws -> [Entity] {
            [
                Entity(
                    name: "A",
                    relationships: [Relationship(name: "b", destination: "B", inverse: name)]),
                Entity(
                    name: "B",
                    relationships: [
                        Relationship(
                            name: name, destination: "A", inverse: "b",
                            renamingIdentifier: identifier)
                    ]),
            ]
        }
        #expect(
            try lines(model("old", identifier: nil), model("new", identifier: "old")) == [
                "~ A.b: inverse old -> new (follows the renaming)",
                "~ B.new: renamed from old",
            ])
    }

    @Test func jsonRoundTripsAndHasTheDocumentedKeys() throws {
        let old = try Model(entities: [Entity(name: "A")])
        let new = try Model(
            entities: [Entity(name: "A", attributes: [Attribute(name: "x", type: .uuid)])])
        let diff = ModelDiff(from: old, to: new)
        let data = try JSONEncoder().encode(diff)
        #expect(try JSONDecoder().decode(ModelDiff.self, from: data) == diff)
        let json = try #require(
            try JSONSerialization.jsonObject(with: data) as? [String: [[String: Any]]])
        let change = try #require(json["changes"]?.first)
        #expect(
            Set(change.keys) == [
                "kind", "entity", "property", "to", "changesVersionHash", "followsRenaming",
            ])
        #expect(change["kind"] as? String == "added")
    }
}
