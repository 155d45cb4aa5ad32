import CoreDataStore
import DurableFiles
import Foundation
import GRDB
import ManagedObjectModel
import MigrationEngine
import MigrationPlans
import MigrationValidation
import ModelFiles
import SafeSQLite
import StateFolders
import StoreFileChecks
import StoreForge
import TestSupport
import Testing

@testable import RunService
@testable import StoreRuns
import ValidationScans

/// Stores and models whose names are statements, beside a canary: a database that must not change.
///
/// One at a time: the trace holds for the process.
@Suite("Hostile names", .serialized) struct HostileNamesTests {
    /// A laboratory with a canary outside the folders of the store.
    private func withCanary(_ body: (StoreLab, URL) throws -> Void) throws {
        try StoreLab.run { lab in
            let canary = lab.folder.appendingPathComponent("canary.sqlite")
            try lab.raw(canary) { database in
                try database.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
                try database.execute(sql: "CREATE TABLE ZNOTE (a); INSERT INTO ZNOTE VALUES (1)")
            }
            let before = try Data(contentsOf: canary)
            try body(lab, canary)
            #expect(try Data(contentsOf: canary) == before, "the canary changed")
            let names = try FileManager.default.contentsOfDirectory(atPath: lab.folder.path)
            let known: Set = ["canary.sqlite", "in", "out", "state"]
            #expect(Set(names).isSubset(of: known), "\(names)")
        }
    }

    /// Lets the readers' refusal not help: the store holds no model, the given one is a value.
    private func forgetModel(_ lab: StoreLab, addsView: Bool) throws {
        try lab.raw { database in
            if try database.tableExists("Z_MODELCACHE") {
                try database.execute(sql: "DELETE FROM Z_MODELCACHE")
            }
            if addsView { try database.execute(sql: "CREATE VIEW own AS SELECT 1 AS one") }
        }
    }

    /// What became of the models of a run.
    private struct Tally {
        var models = 0
        var refusedByReaders = 0
        var unmade = 0
        var planned = 0
        var migrated = 0
        var refused = 0
        var statements = 0
        /// Of refused migrations, with the first one's reason.
        var firstRefusal = ""
    }

    private func model(seed: UInt64, lab: StoreLab, _ canary: URL, _ tally: inout Tally) throws {
        var random = SeededGenerator(seed: seed)
        let model: Model
        do {
            model = try RenamedModel.make(using: &random, canary: canary.path)
        } catch {
            tally.unmade += 1
            return
        }
        let names = model.entities.values.flatMap {
            [$0.name] + $0.attributes.map(\.name) + $0.relationships.map(\.name)
        }
        if !names.allSatisfy(HostileNames.isOrdinary) {
            #expect(throws: ModelError.self, "seed \(seed)") {
                _ = try ModelArchive.read(ModelArchive.write(model))
            }
            tally.refusedByReaders += 1
        }
        let next = try RenamedModel.next(after: model, using: &random, canary: canary.path)
        // What is migrated as a whole is of an era whose stores hold no model.
        let framework = FrameworkVersion(
            seed % 20 == 0 ? 519 : [519, 641, 1132, 1522][Int(seed % 4)])
        var recipe = ForgeRecipe(model: model, framework: framework, seed: seed)
        recipe.defaultRows = 2
        recipe.hasApplicationObjects = seed % 5 == 0
        let trace = try StatementTrace.noting(lab.folder) {
            do {
                try lab.forge(recipe)
            } catch is ForgeError {
                tally.unmade += 1
                return
            }
            try forgetModel(lab, addsView: seed % 2 == 0)
            let target = seed % 3 == 0 ? model : next
            let request = try lab.request(
                to: .model(try DestinationModel(model: target)),
                options: PlanOptions(framework: seed % 20 == 0 ? framework : nil), from: model)
            try migrate(request, lab, seed, &tally)
        }
        tally.statements += trace.statements.count
        #expect(trace.violations.isEmpty, "seed \(seed): \(trace.violations.prefix(3))")
    }

    /// Plans the store, and builds and validates the result of every twentieth.
    ///
    /// The engine does the latter alone: a run would write the request into its ledger and read it
    /// back, and that reader refuses such names as well.
    private func migrate(
        _ request: MigrationRequest, _ lab: StoreLab, _ seed: UInt64, _ tally: inout Tally
    ) throws {
        do throws(RunError) {
            let planned = try EngineMigration(request, clock: { 0 }).plan()
            tally.planned += 1
            guard seed % 20 == 0 else { return }
            try RunError.engine { () throws(EngineError) in
                try EngineError.translating { try build(planned, lab, seed) }
            }
            tally.migrated += 1
        } catch {
            let isBug = error.description.contains("bug in Godwit")
            #expect(!isBug, "seed \(seed): \(error)")
            tally.refused += 1
            if seed % 20 == 0, tally.firstRefusal.isEmpty {
                tally.firstRefusal = "seed \(seed): \(error)"
            }
        }
    }

    private func build(_ planned: PlannedStore, _ lab: StoreLab, _ seed: UInt64) throws {
        let result = try lab.path(lab.output)
        try DurableFileSystem().create(result).close()
        let assembler = try StoreAssembler(
            plan: planned.laidOut, source: planned.source, at: result)
        try assembler.copyDirectly()
        try assembler.buildIndexes(helpers: 0, scratch: result.parent)
        try assembler.finish(planned.destination)
        let files = ValidationFiles(
            source: planned.source.database, sourceExternalData: planned.source.externalData,
            destination: result,
            destinationExternalData: StoreLocation(result).externalData)
        let report = try Validator(
            scope: ValidationScope(plan: planned.plan), files: files
        ).run()
        #expect(report.isEqual, "seed \(seed): \(report)")
    }

    /// Models of these seeds; the environment asks for more, or for those of one failure.
    private static var seeds: Range<UInt64> {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["GODWIT_HOSTILE_MODELS"].flatMap { UInt64($0) } ?? 300
        let first = environment["GODWIT_HOSTILE_SEED"].flatMap { UInt64($0) } ?? 1
        return first..<(first + count)
    }

    /// The second defence by itself: whatever names a model has, no statement runs but ours.
    @Test func noNameBecomesCode() throws {
        var tally = Tally()
        for seed in Self.seeds {
            tally.models += 1
            try withCanary { lab, canary in
                try model(seed: seed, lab: lab, canary, &tally)
            }
        }
        print("hostile names: \(tally)")
        guard tally.models >= 100 else { return }
        #expect(tally.planned > tally.models / 3, "\(tally)")
        #expect(tally.migrated > 0, "\(tally)")
        #expect(tally.refusedByReaders > tally.models / 2, "\(tally)")
    }

    /// The trace sees what it is there for.
    @Test func theTraceFindsInjectedStatements() throws {
        try withCanary { lab, canary in
            let trace = try StatementTrace.noting(lab.folder) {
                try lab.raw { database in
                    try database.execute(sql: "CREATE TABLE x (a integer)")
                    try database.execute(sql: "ATTACH '\(canary.path)' AS o")
                    try database.execute(sql: "SELECT count(*) AS zqx FROM o.t; SELECT 1")
                    try database.execute(sql: "PRAGMA writable_schema = OFF")
                    try database.execute(sql: "DETACH o")
                }
            }
            let faults = trace.violations.map { $0.prefix { $0 != ":" } }
            #expect(faults == ["another file attached", "a name as code", "another setting"])
        }
    }
}
