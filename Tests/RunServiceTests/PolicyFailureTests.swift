import CoreDataStore
import Foundation
import GRDB
import Godwit
import Jobs
import ManagedObjectModel
import MappingModel
import MigrationPlans
import StateFolders
import StoreRuns
import TestSupport
import Testing

/// What a policy does that it may not.
enum Misdeed: String, CaseIterable, Sendable {
    case refuses, throwsItsOwn, setsUndeclared, setsUnknown, setsWrongType, setsTooLargeNumber
    case insertsUndeclared, insertsTooMany, insertsFound, findsInserted, findsByOther
    case linksWrongEntity, linksNotFound, changesOthers, readsUnknown, readsWrongType
    case swallows, changesFound, changesKey, changesWhileValidating, addsWrongEntity
    case findsInTwoHooks, insertsForPortion, keepsObject

    /// What the report says.
    var words: String {
        switch self {
        case .refuses: "the score is out of range"
        case .throwsItsOwn: "it threw SecretError"
        case .setsUndeclared: "it sets Note.score, which it does not declare"
        case .setsUnknown: "Line has no attribute (a name that no model has)"
        case .setsWrongType: "it sets Line.place: the value is of another type"
        case .setsTooLargeNumber: "it sets Line.place: the number does not fit"
        case .insertsUndeclared: "it makes objects of Person, which it does not declare"
        case .insertsTooMany: "it makes more than 3 objects of Line"
        case .insertsFound: "objects of Tag are found by a key, and not inserted"
        case .findsInserted: "objects of Line are inserted, and have no key"
        case .findsByOther: "objects of Tag are found by name"
        case .linksWrongEntity: "Line.note leads to objects of Note, and not of Tag"
        case .linksNotFound: "Note.tag leads to objects of Tag, and not of Line"
        case .changesOthers: "of an object of Person that another mapping makes"
        case .readsUnknown:
            "source entity Note has no attribute (a name that the model does not have)"
        case .readsWrongType: "source attribute Note.tag is of another type"
        case .swallows: "it makes objects of Person, which it does not declare"
        case .changesFound: "it changes an object of Tag that it found"
        case .changesKey: "it changes Tag.name, by which it finds objects"
        case .changesWhileValidating: "it changes objects while it validates"
        case .addsWrongEntity: "Note.lines leads to objects of Line, and not of Tag"
        case .findsInTwoHooks: "it finds objects of one entity in two hooks"
        case .insertsForPortion: "it makes objects outside of createDestinationInstances"
        case .keepsObject: "it changes an object of Note that belongs to another source object"
        }
    }
}

private struct SecretError: Error { let content = "what a user wrote" }

/// A policy that misbehaves at the note with key 77.
private struct WrongPolicy: MigrationPolicy {
    static let className = "NotePolicy"
    static let effects = NotePolicy.effects
    @TaskLocal static var misdeed = Misdeed.refuses
    private var kept: DestinationObject?

    mutating func createDestinationInstances(
        for source: SourceObject, destination: DestinationObject, in context: MigrationContext
    ) throws {
        if Self.misdeed == .keepsObject, source.key == 76 || source.key == 77 {
            try (kept ?? destination).associate("tag", with: nil)
            kept = destination
        }
        guard source.key == 77 else { return }
        switch Self.misdeed {
        case .refuses: throw PolicyRefusal("the score is out of range")
        case .throwsItsOwn: throw SecretError()
        case .setsUndeclared: try destination.set("score", to: 1)
        case .setsUnknown: try context.insert("Line").set("places", to: 1)
        case .setsWrongType: try context.insert("Line").set("place", to: "what a user wrote")
        case .setsTooLargeNumber: try context.insert("Line").set("place", to: 40_000)
        case .insertsUndeclared: _ = try context.insert("Person")
        case .insertsTooMany: for _ in 0..<4 { _ = try context.insert("Line") }
        case .insertsFound: _ = try context.insert("Tag")
        case .findsInserted: _ = try context.findOrInsert("Line", key: [:])
        case .findsByOther: _ = try context.findOrInsert("Tag", key: ["firstScore": 1])
        case .linksWrongEntity:
            let tag = try context.findOrInsert("Tag", key: ["name": "x"])
            try context.insert("Line").associate("note", with: tag)
        case .linksNotFound:
            try destination.associate("tag", with: try context.insert("Line"))
        case .changesOthers:
            let author = try #require(try source.object("author"))
            try context.destinationObjects(for: author).first?.set("name", to: "x")
        case .swallows: _ = try? context.insert("Person")
        case .changesFound:
            try context.findOrInsert("Tag", key: ["name": "x"]).set("firstScore", to: 1)
        case .changesKey:
            _ = try context.findOrInsert("Tag", key: ["name": "x"]) { try $0.set("name", to: "y") }
        case .addsWrongEntity:
            let tag = try context.findOrInsert("Tag", key: ["name": "x"])
            try destination.associate("lines", with: tag)
        case .findsInTwoHooks: _ = try context.findOrInsert("Tag", key: ["name": "x"])
        case .changesWhileValidating, .insertsForPortion, .keepsObject: break
        case .readsUnknown: _ = try source.string("title")
        case .readsWrongType: _ = try source.integer("tag")
        }
    }

    func createRelationships(
        for source: SourceObject, destination: DestinationObject, in context: MigrationContext
    ) throws {
        guard source.key == 77, Self.misdeed == .findsInTwoHooks else { return }
        _ = try context.findOrInsert("Tag", key: ["name": "y"])
    }

    func endInstanceCreation(in context: MigrationContext) throws {
        if Self.misdeed == .insertsForPortion { _ = try context.insert("Line") }
    }

    func validate(
        _ destination: DestinationObject, from source: SourceObject, in context: MigrationContext
    ) throws {
        guard source.key == 77, Self.misdeed == .changesWhileValidating else { return }
        try destination.associate("tag", with: nil)
    }

    func value(for selector: String, arguments: [Value?]) throws -> Value? { nil }
}

@Suite("Policies that fail") struct PolicyFailureTests {
    private func destination() throws -> DestinationChoice {
        .model(try DestinationModel(model: PolicyLab.destination()))
    }

    private func failure(
        _ strategy: MigrationPlans.Strategy, mapping: String = PolicyLab.mapping,
        _ policies: [any MigrationPolicy.Type]
    ) throws -> String {
        var text = ""
        try StoreLab.run { lab in
            try PolicyLab.forge(lab)
            try lab.damage("UPDATE ZNOTE SET ZAUTHOR = 3, ZTAG = 'what a user wrote'")
            do {
                _ = try lab.migrate(
                    to: destination(), options: PolicyLab.options(strategy, mapping: mapping),
                    policies: policies)
                Issue.record("it was migrated")
            } catch let error as RunError {
                text = "\(error)"
                #expect(
                    [.policyFailed, .noMapping, .policyMissing, .dataRefused].contains(error.cause),
                    "\(error.cause)")
            }
            try lab.expectNothingLeft()
        }
        return text
    }

    @Test(
        "reports name the policy, the object and the reason, and nothing of what users wrote",
        arguments: Misdeed.allCases)
    func misdeed(_ misdeed: Misdeed) throws {
        for strategy in [MigrationPlans.Strategy.whole, .partitioned] {
            let text = try WrongPolicy.$misdeed.withValue(misdeed) {
                try failure(strategy, [WrongPolicy.self])
            }
            #expect(text.contains(misdeed.words), "\(text)")
            #expect(text.contains("migration policy NotePolicy failed"))
            if misdeed != .insertsForPortion {
                #expect(text.contains(" for x-coredata://"))
                #expect(text.contains("/Note/p77"))
            }
            #expect(!text.contains("what a user wrote"))
        }
    }

    @Test("a mapping that no policy fits is refused before the store is read")
    func refusedBefore() throws {
        let unknown = try failure(.whole, [])
        #expect(
            unknown.contains(
                "migration policy NotePolicy (called: summary:score:) is code of the app"))
        #expect(unknown.contains("line 3, column"))
        let noFunction = try failure(
            .whole,
            mapping: PolicyLab.mapping.replacingOccurrences(of: "score:\"", with: "scores:\""),
            [NotePolicy.self])
        #expect(
            noFunction.contains("has no method summary:scores:. Did you mean summary:score:?"))
        let noTag = try failure(
            .whole,
            mapping: PolicyLab.mapping.replacingOccurrences(
                of: "entity: Note", with: "entity: Person"),
            [NotePolicy.self])
        #expect(noTag.contains("migration policy NotePolicy sets Person.tag, which does not exist"))
    }

    @Test("a method that fails names its object")
    func methodFails() throws {
        let text = try failure(.partitioned, [FailingMethodPolicy.self])
        #expect(text.contains("/Note/p77 cannot be computed"))
        #expect(text.contains("policy NotePolicy, summary:score:: the body is too long"))
    }
}

private struct FailingMethodPolicy: MigrationPolicy {
    static let className = "NotePolicy"
    static let effects = NotePolicy.effects

    func value(for selector: String, arguments: [Value?]) throws -> Value? {
        if arguments.last == .some(.integer(77 * 37 % 101)) {
            throw PolicyRefusal("the body is too long")
        }
        return nil
    }
}
