import CoreDataStore
import ManagedObjectModel
import MappingModel
import MigrationPlans
import Testing

@testable import MigrationPlanning

/// Several entity mappings take the objects of one source entity.
@Suite struct PassTests {
    /// Notes lead to persons in the source, to labels in the destination.
    private func model(target: String, entities: [Entity]) throws -> StoreLayout {
        let note = Entity(
            name: "Note",
            relationships: [
                Relationship(name: "author", destination: target, inverse: "notes")
            ])
        return try StoreLayout(
            model: Model(entities: entities + [note]), framework: .newestVerified)
    }

    private func entity(_ name: String, _ attribute: String, hasNotes: Bool = false) -> Entity {
        Entity(
            name: name, attributes: [Attribute(name: attribute, type: .string)],
            relationships: hasNotes
                ? [
                    Relationship(
                        name: "notes", destination: "Note", inverse: "author", maximumCount: 0)
                ]
                : [])
    }

    private func person(to destination: String, _ attribute: String) -> EntityMapping {
        EntityMapping(
            name: "PersonTo\(destination)", kind: .transform, source: "Person",
            destination: destination,
            attributes: [AttributeMapping(destination: attribute, value: .source("name"))])
    }

    private func context(_ persons: [EntityMapping]) throws -> PlanContext {
        let note = EntityMapping(
            name: "NoteToNote", kind: .transform, source: "Note", destination: "Note",
            relationships: [RelationshipMapping(destination: "author", source: "author")])
        return try PlanContext(
            source: model(target: "Person", entities: [entity("Person", "name", hasNotes: true)]),
            destination: model(
                target: "Label",
                entities: [entity("Label", "text", hasNotes: true), entity("Person", "name")]),
            mapping: Mapping(entityMappings: persons + [note]),
            highestKeys: ["ZPERSON": 7, "ZNOTE": 3])
    }

    @Test(arguments: [false, true])
    func eachPassFeedsItsOwnTable(isReversed: Bool) throws {
        let passes = [person(to: "Person", "name"), person(to: "Label", "text")]
        let context = try context(isReversed ? passes.reversed() : passes)
        let feeds = try PlanShape(context).feeds
        let columns = try ["ZPERSON", "ZLABEL"].map { table in
            let feed = try #require(feeds.first { $0.destinationTable == table })
            #expect(feed.sourceTable == "ZPERSON" && feed.offset == 0)
            return feed.columns.filter { !$0.cells.isEmpty }.map(\.name)
        }
        #expect(columns == [["ZNAME"], ["ZTEXT"]])
    }

    @Test(arguments: [false, true])
    func linksLeadToTheEntityThatTheRelationshipNames(isReversed: Bool) throws {
        let passes = [person(to: "Person", "name"), person(to: "Label", "text")]
        let context = try context(isReversed ? passes.reversed() : passes)
        let note = try #require(
            try PlanShape(context).feeds.first { $0.destinationTable == "ZNOTE" })
        let author = try #require(note.columns.first { $0.name == "ZAUTHOR" })
        guard case .key(_, _, _, let targets) = try #require(author.cells.first).cell else {
            Issue.record("no key")
            return
        }
        let label = try #require(context.destination.number(of: "Label"))
        #expect(targets.map(\.place?.number) == [Int64(label)])
    }

    /// Nothing tells which of two labels a note's link leads to.
    @Test func linksToObjectsThatAreMadeTwiceAreRefused() throws {
        let passes = [person(to: "Label", "text"), person(to: "Label", "text")]
        let context = try context(passes)
        #expect(Set(context.allPasses.map(\.way.layer)) == [0, 1])
        #expect(throws: PlanError.self) { try PlanShape(context) }
    }
}
