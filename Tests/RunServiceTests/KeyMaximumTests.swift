import CoreDataStore
import Foundation
import GRDB
import ManagedObjectModel
import MigrationPlans
import MigrationValidation
import RunService
import StoreFileChecks
import StoreForge
import StoreRuns
import Testing

/// `Z_MAX` that says less than the keys in use: the result has the right one.
@Suite("Z_MAX below the highest key") struct KeyMaximumTests {
    @Test(
        "it is raised and reported", arguments: ["-1", "0", "3", "NULL", "'text'", "2.5"],
        [Strategy.whole, .partitioned])
    func lowMaximum(_ value: String, _ strategy: Strategy) throws {
        try StoreLab.run { lab in
            try lab.forge(StoreLab.recipe())
            let highest = try lab.raw {
                try Int64.fetchOne($0, sql: "SELECT max(Z_PK) FROM ZNOTE")
            }
            try lab.damage("UPDATE Z_PRIMARYKEY SET Z_MAX = \(value) WHERE Z_NAME = 'Note'")
            for choice in [nil, DestinationChoice.itself] {
                let outcome = try lab.migrate(
                    to: choice, options: PlanOptions(strategy: strategy))
                let faults = outcome.validation.inherited.filter { $0.fault.kind == .lowMaximum }
                #expect(faults.map(\.fault.entity) == ["Note"], "\(outcome.validation.lines)")
                #expect(outcome.validation.newFaults.isEmpty)
                let maximum = try lab.raw(lab.output) {
                    try Int64.fetchOne(
                        $0, sql: "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Note'")
                }
                #expect(maximum == highest)
                let verified = LocalVerification(
                    source: try lab.path(lab.store), destination: try lab.path(lab.output))
                let scratch = lab.folder.appendingPathComponent("verify")
                try FileManager.default.createDirectory(
                    at: scratch, withIntermediateDirectories: true)
                let report = try verified.run(scratch: lab.path(scratch))
                #expect(report.isEqual, "\(report.lines)")
                #expect(report.inherited.contains { $0.fault.kind == .lowMaximum })
                try FileManager.default.removeItem(at: lab.results)
                try FileManager.default.createDirectory(
                    at: lab.results, withIntermediateDirectories: true)
                try FileManager.default.removeItem(at: scratch)
            }
        }
    }

    @Test("the maxima of history are raised, too")
    func history() throws {
        try StoreLab.run { lab in
            var recipe = try StoreLab.recipe()
            recipe.historyRows = 10
            try lab.forge(recipe)
            try lab.damage("UPDATE Z_PRIMARYKEY SET Z_MAX = -7 WHERE Z_ENT > 16000")
            var options = PlanOptions()
            options.history = .keep
            _ = try lab.migrate(to: .itself, options: options)
            let low = try lab.raw(lab.output) {
                try Int.fetchOne(
                    $0,
                    sql: "SELECT count(*) FROM Z_PRIMARYKEY WHERE Z_MAX < 0 OR Z_NAME = 'CHANGE' "
                        + "AND Z_MAX < (SELECT max(Z_PK) FROM ACHANGE)")
            }
            #expect(low == 0)
        }
    }

    @Test("a result whose Z_MAX is wrong is not excused by its source")
    func wrongResult() throws {
        try StoreLab.run { lab in
            try lab.forge(StoreLab.recipe())
            try lab.damage("UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Note'")
            _ = try lab.migrate()
            try lab.raw(lab.output) {
                try $0.execute(sql: "UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Note'")
            }
            let verified = LocalVerification(
                source: try lab.path(lab.store), destination: try lab.path(lab.output))
            let report = try verified.run(scratch: lab.path(lab.folder))
            #expect(!report.isEqual)
            #expect(report.checks["primary keys"] == ["Z_MAX of entity Note"])
        }
    }
}
