import CoreDataStore
import Foundation
import GRDB
import Godwit
import ManagedObjectModel
import MappingModel
import MigrationPlans
import MigrationValidation
import StateFolders
import StoreForge
import StoreRuns
import TestSupport
import Testing

/// Links that policies must not set, and those that come from the source as well.
@Suite("Links that policies cannot set") struct PolicyLinkRefusalTests {
    private static func options(
        _ strategy: MigrationPlans.Strategy, _ policy: String = "WrongLinkPolicy",
        entities: [String] = ["Note", "SpecialNote"]
    ) throws -> PlanOptions {
        let list = entities.map { "  - entity: \($0)\n    policy: \(policy)\n" }.joined()
        return try PolicyLab.options(
            strategy, mapping: "godwit-mapping: 1\nentities:\n\(list)", chunkBytes: 2048)
    }

    private static func failure(
        _ lab: StoreLab, to model: Model, _ options: PlanOptions,
        _ policies: [any MigrationPolicy.Type]
    ) throws -> String {
        do {
            _ = try lab.migrate(
                to: .model(DestinationModel(model: model)), options: options, policies: policies)
            Issue.record("it was migrated")
            return ""
        } catch let error as RunError {
            try lab.expectNothingLeft()
            return "\(error)"
        }
    }

    @Test("a link that could be set twice, or in no order, fails", arguments: WrongLink.allCases)
    func wrongLink(_ link: WrongLink) throws {
        for strategy in [MigrationPlans.Strategy.whole, .partitioned] {
            try StoreLab.run { lab in
                try PolicyLinkTests.forge(lab, seed: 1)
                let text = try WrongLinkPolicy.$link.withValue(link) {
                    try Self.failure(
                        lab, to: PolicyLinkTests.model(isNew: true), Self.options(strategy),
                        [WrongLinkPolicy.self])
                }
                #expect(text.contains(link.words), "\(text)")
                #expect(text.contains("/Note/p7: "))
            }
        }
    }

    /// Notes and tags that are linked in the source already.
    private static func linked(isNew: Bool = true, isOrdered: Bool = false) throws -> Model {
        let name = Attribute(name: "name", type: .string)
        let new = Attribute(name: "isRead", type: .boolean)
        return try Model(entities: [
            Entity(
                name: "Note", attributes: isNew ? [new, name] : [name],
                relationships: [
                    PolicyLinkTests.link("lines", "Line", "note", isOrdered: true),
                    PolicyLinkTests.link("tags", "Tag", "notes", isOrdered: isOrdered),
                ]),
            Entity(name: "Long", parent: "Note"),
            Entity(
                name: "Line", attributes: [name],
                relationships: [PolicyLinkTests.link("note", "Note", "lines", most: 1)]),
            Entity(
                name: "Tag", attributes: [name],
                relationships: [PolicyLinkTests.link("notes", "Note", "tags")]),
        ])
    }

    private static func forgeLinked(_ lab: StoreLab) throws {
        var recipe = ForgeRecipe(model: try linked(isNew: false), seed: 4)
        recipe.rows = ["Note": 60, "Long": 20, "Line": 90, "Tag": 12]
        try lab.forge(recipe)
    }

    @Test("the links of one relationship come from policies alone")
    func replaced() throws {
        for strategy in [MigrationPlans.Strategy.whole, .partitioned] {
            try StoreLab.run { lab in
                try Self.forgeLinked(lab)
                let outcome = try lab.migrate(
                    to: .model(DestinationModel(model: Self.linked())),
                    options: Self.options(strategy, "FirstTagPolicy", entities: ["Note", "Long"]),
                    policies: [FirstTagPolicy.self])
                #expect(outcome.validation.isEqual)
                let layout = try StoreLayout(
                    model: Self.linked(), framework: outcome.plan.framework)
                let join = try #require(layout.joinTable(of: PropertyKey("Note", "tags")))
                let note =
                    join.naming.entity == "Note" ? join.namingColumn : join.inverseColumn
                let tag = join.naming.entity == "Note" ? join.inverseColumn : join.namingColumn
                let store = lab.store.path
                let wrong = try lab.raw(lab.output) { database in
                    try database.execute(sql: "ATTACH '\(store)' AS old")
                    return try Int.fetchOne(
                        database,
                        sql: """
                            SELECT count(*) FROM (SELECT j.\(note), j.\(tag) FROM \(join.name) j
                            EXCEPT SELECT \(note), min(\(tag)) FROM old.\(join.name)
                            GROUP BY 1)
                            """)
                }
                #expect(wrong == 0)
                let rows = try lab.raw(lab.output) {
                    try Int.fetchOne($0, sql: "SELECT count(*) FROM \(join.name)")
                }
                #expect(try #require(rows) > 20)
            }
        }
    }

    @Test("other objects can go without the links, which then count as lost")
    func unset() throws {
        try StoreLab.run { lab in
            try Self.forgeLinked(lab)
            let mapping = """
                godwit-mapping: 1
                entities:
                  - entity: Note
                    policy: FirstTagPolicy
                  - entity: Long
                    relationships: {tags: unset}
                """
            let outcome = try lab.migrate(
                to: .model(DestinationModel(model: Self.linked())),
                options: PolicyLab.options(.whole, mapping: mapping),
                policies: [FirstTagPolicy.self])
            #expect(outcome.validation.isEqual)
            #expect(!outcome.validation.losses.isEmpty)
        }
    }

    @Test("a policy cannot put objects into a list that the mapping fills")
    func sharedList() throws {
        try StoreLab.run { lab in
            try Self.forgeLinked(lab)
            let text = try Self.failure(
                lab, to: Self.linked(), Self.options(.whole, "LinePolicy", entities: ["Note"]),
                [LinePolicy.self])
            #expect(text.contains("and the mapping gives places in the list, too"), "\(text)")
        }
    }

    @Test("what no policy can set is refused before the store is read")
    func refusedBefore() throws {
        try StoreLab.run { lab in
            try Self.forgeLinked(lab)
            let both = try Self.failure(
                lab, to: Self.linked(),
                Self.options(.whole, "BothPolicy", entities: ["Note", "Long", "Tag"]),
                [BothPolicy.self])
            #expect(both.contains("a policy sets its inverse Tag.notes, too"), "\(both)")
            // The links of long notes would be lost.
            let uncovered = try Self.failure(
                lab, to: Self.linked(),
                Self.options(.whole, "FirstTagPolicy", entities: ["Note"]), [FirstTagPolicy.self])
            #expect(
                uncovered.contains(
                    "entity mapping LongToLong makes objects with the same relationship: give it a "
                        + "policy that sets tags, too"), "\(uncovered)")
            let ordered = try Self.failure(
                lab, to: Self.linked(isOrdered: true),
                Self.options(.whole, "FarPolicy", entities: ["Tag"]), [FarPolicy.self])
            #expect(ordered.contains("its inverse is ordered"), "\(ordered)")
            let toMany = try Self.failure(
                lab, to: Self.linked(), Self.options(.whole, "ToManyPolicy", entities: ["Note"]),
                [ToManyPolicy.self])
            #expect(toMany.contains("set the to-one inverse of the objects"), "\(toMany)")
        }
    }
}

/// A link that a policy may not set.
enum WrongLink: String, CaseIterable, Sendable {
    case elsewhere, removed, wrongEntity, foundAlone, otherList, notFoundInList

    var words: String {
        switch self {
        case .elsewhere: "it sets related of an object of SpecialNote that another mapping makes"
        case .removed: "Note.tags is to-many: its links cannot be removed"
        case .wrongEntity: "Note.tags leads to objects of Tag, and not of Line"
        case .foundAlone: "Tag.notes is many-to-many: link it from an object that comes of"
        case .otherList, .notFoundInList:
            "the inverse of Line.note is ordered: it can only be set between a new object"
        }
    }
}

private struct WrongLinkPolicy: MigrationPolicy {
    static let effects = PolicyEffects(
        sets: ["related", "tags"],
        creates: [.found("Tag", by: ["name"]), .inserted("Line")], carries: ["tagNames"])
    @TaskLocal static var link = WrongLink.elsewhere

    func createRelationships(
        for source: SourceObject, destination: DestinationObject, in context: MigrationContext
    ) throws {
        guard source.key == 7, let previous = try source.object("previous") else { return }
        let other = try #require(try context.destinationObjects(for: previous).first)
        switch Self.link {
        case .elsewhere: try other.associate("related", with: other)
        case .removed: try destination.associate("tags", with: nil)
        case .wrongEntity: try destination.associate("tags", with: try context.insert("Line"))
        case .foundAlone:
            _ = try context.findOrInsert("Tag", key: ["name": "new"]) { tag in
                try tag.associate("notes", with: other)
            }
        case .otherList: try context.insert("Line").associate("note", with: other)
        case .notFoundInList: try other.associate("lines", with: try context.insert("Line"))
        }
    }
}

/// Links each note with the tag of the lowest key that it had.
private struct FirstTagPolicy: MigrationPolicy {
    static let effects = PolicyEffects(sets: ["tags"], carries: ["tags"])

    func createRelationships(
        for source: SourceObject, destination: DestinationObject, in context: MigrationContext
    ) throws {
        var first: SourceObject?
        try source.forEachObject("tags") { first = first ?? $0 }
        guard let first else { return }
        try destination.associate(
            "tags", with: try context.destinationObjects(for: first).first)
    }
}

private struct LinePolicy: MigrationPolicy {
    static let effects = PolicyEffects(creates: [.inserted("Line")])

    func createRelationships(
        for source: SourceObject, destination: DestinationObject, in context: MigrationContext
    ) throws {
        try destination.associate("lines", with: try context.insert("Line"))
    }
}

private struct BothPolicy: MigrationPolicy {
    static let effects = PolicyEffects(sets: ["notes", "tags"])
}

private struct FarPolicy: MigrationPolicy {
    static let effects = PolicyEffects(sets: ["notes"])
}

private struct ToManyPolicy: MigrationPolicy {
    static let effects = PolicyEffects(sets: ["lines"])
}
