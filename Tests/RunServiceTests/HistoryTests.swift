import CommandSupport
import CoreDataStore
import Foundation
import GRDB
import ManagedObjectModel
import MigrationPlans
import MigrationValidation
import RunReports
import RunService
import StateFolders
import StoreForge
import StoreRuns
import Testing

@testable import GodwitCommands

/// Persistent history: dropped, or kept with the numbers of the new model.
@Suite struct HistoryTests {
    private static let tables = ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]

    private func forge(_ lab: StoreLab) throws {
        var recipe = try StoreLab.recipe()
        recipe.historyRows = 80
        try lab.forge(recipe)
    }

    private func rows(_ lab: StoreLab, _ url: URL, _ sql: String) throws -> [String] {
        try lab.raw(url) { try Row.fetchAll($0, sql: sql).map(\.debugDescription) }
    }

    @Test(arguments: Strategy.allCases) func numbersFollow(strategy: Strategy) throws {
        try StoreLab.run { lab in
            try forge(lab)
            let outcome = try lab.migrate(
                to: .model(try DestinationModel(model: Numbered.notes())),
                options: PlanOptions(strategy: strategy, chunkBytes: 8192, history: .keep))
            #expect(outcome.validation.isEqual)
            let named =
                "SELECT c.Z_PK, k.Z_NAME, c.ZENTITYPK, c.ZCHANGETYPE, c.ZTRANSACTIONID, "
                + "hex(c.ZCOLUMNS), c.Z_ENT, c.Z_OPT FROM ACHANGE c JOIN Z_PRIMARYKEY k "
                + "ON k.Z_ENT = c.ZENTITY ORDER BY 1"
            let old = try rows(lab, lab.store, named)
            #expect(old.count == 80)
            #expect(try rows(lab, lab.output, named) == old)
            let numbers = "SELECT DISTINCT ZENTITY FROM ACHANGE ORDER BY 1"
            let shifted = "SELECT DISTINCT ZENTITY + 1 AS ZENTITY FROM ACHANGE ORDER BY 1"
            #expect(try rows(lab, lab.output, numbers) == rows(lab, lab.store, shifted))
            for sql in [
                "SELECT * FROM ATRANSACTION", "SELECT * FROM ATRANSACTIONSTRING",
                "SELECT * FROM Z_PRIMARYKEY WHERE Z_ENT > 16000",
                "SELECT name, sql FROM sqlite_master WHERE tbl_name IN "
                    + "('ACHANGE', 'ATRANSACTION', 'ATRANSACTIONSTRING') ORDER BY 1",
            ] {
                let kept = try rows(lab, lab.store, sql)
                #expect(!kept.isEmpty)
                #expect(try rows(lab, lab.output, sql) == kept, "\(sql)")
            }
        }
    }

    @Test func droppedByDefault() throws {
        try StoreLab.run { lab in
            try forge(lab)
            let outcome = try lab.migrate()
            #expect(outcome.validation.isEqual)
            let left = try rows(
                lab, lab.output,
                "SELECT name FROM sqlite_master WHERE name LIKE 'A%' "
                    + "OR tbl_name LIKE 'A%' OR name LIKE 'Z_TRANSACTION%'")
            #expect(left.isEmpty)
            let reserved = try rows(
                lab, lab.output, "SELECT * FROM Z_PRIMARYKEY WHERE Z_ENT > 16000")
            #expect(reserved.isEmpty)
        }
    }

    @Test func refusedWherePropertiesChange() throws {
        try StoreLab.run { lab in
            try forge(lab)
            let refused = try lab.expectRefusal(
                options: PlanOptions(history: .keep), saying: ["Note", "Drop history"])
            #expect(refused?.status == .badData)
        }
    }

    @Test(arguments: [
        "UPDATE ACHANGE SET ZENTITY = 9999 WHERE Z_PK % 3 = 0",
        "ALTER TABLE ACHANGE DROP COLUMN ZENTITY",
        "UPDATE ACHANGE SET ZENTITY = 'text' WHERE Z_PK = 1",
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'BINARY', "
            + "'BONARY') WHERE name = 'Z_TRANSACTIONSTRING_UNIQUE_NAME'",
    ]) func strangeHistory(_ sql: String) throws {
        try StoreLab.run { lab in
            try forge(lab)
            try lab.damage(sql)
            // History that names no entity is either carried as it is or refused; never lost.
            let before = try lab.snapshot()
            do {
                let outcome = try lab.migrate(to: .itself, options: PlanOptions(history: .keep))
                #expect(outcome.validation.isEqual)
                for table in Self.tables {
                    let all = "SELECT * FROM \(table) ORDER BY Z_PK"
                    #expect(try rows(lab, lab.output, all) == rows(lab, lab.store, all))
                }
            } catch let error as RunError {
                #expect(CommandStatus(error) == .badData, "\(error)")
                try lab.expectNothingLeft()
            }
            #expect(try lab.snapshot() == before)
        }
    }
}
