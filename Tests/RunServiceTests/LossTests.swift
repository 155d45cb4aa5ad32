import CommandSupport
import CoreDataStore
import Foundation
import GRDB
import ManagedObjectModel
import MappingInference
import MappingModel
import MigrationPlans
import MigrationValidation
import RunReports
import StoreForge
import StoreRuns
import Testing

@testable import GodwitCommands

/// What a store has and its result has not: counted, and refused where that is asked.
@Suite("Losses") struct LossTests {
    private static let strategies: [MigrationPlans.Strategy] = [.whole, .partitioned]

    /// The notes' model without what these names say: `Entity` or `Entity.property`.
    private func model(without names: Set<String>) throws -> ManagedObjectModel.Model {
        var entities = try ForgeModels.notes(version: 1).numberedEntities
        entities.removeAll { names.contains($0.name) }
        for place in entities.indices {
            let name = entities[place].name
            entities[place].attributes.removeAll { names.contains("\(name).\($0.name)") }
            entities[place].relationships.removeAll {
                names.contains("\(name).\($0.name)") || names.contains($0.destination)
            }
        }
        return try Model(entities: entities)
    }

    private func options(
        _ strategy: MigrationPlans.Strategy, _ losses: LossPolicy = .report
    ) -> PlanOptions {
        PlanOptions(strategy: strategy, chunkBytes: 8192, losses: losses)
    }

    private func count(_ lab: StoreLab, _ sql: String) throws -> Int64 {
        try lab.raw { try Int64.fetchOne($0, sql: sql) } ?? -1
    }

    @Test(arguments: strategies) func historyIsCounted(strategy: MigrationPlans.Strategy) throws {
        try StoreLab.run { lab in
            var recipe = try StoreLab.recipe()
            recipe.historyRows = 80
            try lab.forge(recipe)
            let transactions = try count(lab, "SELECT count(*) FROM ATRANSACTION")
            #expect(transactions > 0)
            let refused = options(strategy, .refuse(accepted: ["Note.*"]))
            let said = try lab.expectRefusal(
                to: .itself, options: refused, saying: ["history (\(transactions) transactions)"])
            #expect(said?.status == .badData)
            let outcome = try lab.migrate(
                to: .itself, options: options(strategy, .refuse(accepted: ["hist*"])))
            #expect(outcome.validation.losses == [Loss(.history, count: transactions)])
        }
    }

    @Test func keptHistoryIsNoLoss() throws {
        try StoreLab.run { lab in
            var recipe = try StoreLab.recipe()
            recipe.historyRows = 80
            try lab.forge(recipe)
            let outcome = try lab.migrate(
                to: .itself,
                options: PlanOptions(history: .keep, losses: .refuse(accepted: [])))
            #expect(outcome.validation.losses.isEmpty)
        }
    }

    @Test(arguments: strategies)
    func valuesAndObjectsAreCounted(strategy: MigrationPlans.Strategy) throws {
        try StoreLab.run { lab in
            try lab.forge(try StoreLab.recipe())
            try lab.damage("UPDATE ZNOTE SET ZTITLE = NULL WHERE Z_PK % 3 = 0")
            let titles = try count(lab, "SELECT count(ZTITLE) FROM ZNOTE")
            let attachments = try count(lab, "SELECT count(*) FROM ZATTACHMENT")
            #expect(titles > 0 && attachments > 0)
            let to = DestinationChoice.model(
                try DestinationModel(model: model(without: ["Note.title", "Attachment"])))
            let said = try lab.expectRefusal(
                to: to, options: options(strategy, .refuse(accepted: ["Attachment"])),
                saying: ["Note.title (\(titles) values)"])
            #expect(said?.text.contains("Attachment (") == false)
            let accepted = LossPolicy.refuse(accepted: ["*"])
            let losses = try lab.migrate(to: to, options: options(strategy, accepted)).validation
                .losses
            #expect(losses.contains(Loss(.init(.attribute, "Note", "title"), count: titles)))
            #expect(losses.contains(Loss(.init(.entity, "Attachment"), count: attachments)))
            #expect(losses == losses.sorted { ($1.count, $0.subject) < ($0.count, $1.subject) })
        }
    }

    /// A version in between that renames a lost property is named with the loss, also where the
    /// loss is refused.
    @Test(arguments: strategies)
    func aRenameInBetweenIsNamed(strategy: MigrationPlans.Strategy) throws {
        try StoreLab.run { lab in
            try lab.forge(try StoreLab.recipe())
            let bodies = try count(lab, "SELECT count(ZBODY) FROM ZNOTE")
            let to = DestinationChoice.model(
                try DestinationModel(model: model(without: ["Note.body"])))
            let digest = VersionHashes(try ForgeModels.notes(version: 1)).digest
            let rename = IntermediateRename(version: "Notes 2", name: "Note.text")
            var options = options(strategy)
            options.intermediateRenames = IntermediateRenames([
                digest: ["Note.body": rename], "other": ["Note.title": rename],
            ])
            let loss = Loss(.init(.attribute, "Note", "body"), count: bodies, renamed: rename)
            let planned = try StorePlanning(lab.request(to: to, options: options)).plan()
            #expect(planned.losses == [loss])
            #expect(planned.plan.options.intermediateRenames == IntermediateRenames())
            var refusing = options
            refusing.losses = .refuse(accepted: [])
            try lab.expectRefusal(
                to: to, options: refusing,
                saying: ["Note.body (\(bodies) values)", "Notes 2 renames it to Note.text"])
            #expect(try lab.migrate(to: to, options: options).validation.losses == [loss])
        }
    }

    @Test func renamedValuesAreCounted() throws {
        try StoreLab.run { lab in
            try lab.forge(try StoreLab.recipe())
            try lab.damage("UPDATE ZNOTE SET ZBODY = NULL WHERE Z_PK % 3 = 0")
            let bodies = try count(lab, "SELECT count(ZBODY) FROM ZNOTE")
            let to = DestinationChoice.model(
                try DestinationModel(model: ForgeModels.notes(version: 2)))
            let planned = try StorePlanning(lab.request(to: to)).plan()
            let changes = planned.plan.tables.flatMap(\.changes)
            #expect(changes.contains("Note.text ← body, \(bodies) values"), "\(changes)")
            #expect(!changes.contains("- Note.body"))
        }
    }

    /// A rename, and what is new, lose nothing.
    @Test func theNextVersionLosesNothing() throws {
        try StoreLab.run { lab in
            try lab.forge(try StoreLab.recipe())
            let outcome = try lab.migrate(
                options: PlanOptions(losses: .refuse(accepted: [])))
            #expect(outcome.validation.losses.isEmpty)
        }
    }

    @Test(arguments: [
        ("Post.content", "Post.content", true), ("Post.content", "Post.contents", false),
        ("Post.*", "Post.content", true), ("Post.*", "Post", false), ("*", "history", true),
        ("*.content", "Post.content", true), ("P*t.c*t", "Post.content", true),
        ("P*t.c*x", "Post.content", false), ("Post*Post", "Post", false), ("", "Post", false),
        ("**", "Post", true), ("a*b*b", "ab", false), ("a*b*b", "axbyb", true),
    ])
    func patternsFitNames(pattern: String, name: String, fits: Bool) {
        #expect(LossPolicy.refuse(accepted: [pattern]).refuses(name) == !fits)
        #expect(!LossPolicy.report.refuses(name))
    }
}
