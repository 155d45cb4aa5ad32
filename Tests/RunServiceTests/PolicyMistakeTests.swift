import CoreDataStore
import DurableFiles
import Foundation
import GRDB
import Jobs
import MigrationPlans
import MigrationValidation
import SafeSQLite
import StoreFileChecks
import StoreRuns
import TestSupport
import Testing
import ValidationScans

/// The validation finds what a result has in place of what a policy gave.
@Suite("Mistakes in what policies made") struct PolicyMistakeTests {
    /// One change of a result, at an object that the seed chooses.
    private static let mistakes = [
        "UPDATE ZNOTE SET ZSUMMARY = ZSUMMARY || 'x' WHERE Z_PK = %",
        "UPDATE ZNOTE SET ZSUMMARY = NULL WHERE Z_PK = %",
        "UPDATE ZNOTE SET ZTAG = (SELECT max(Z_PK) FROM ZTAG WHERE Z_PK <> ifnull(ZNOTE.ZTAG, 0)) "
            + "WHERE Z_PK = %",
        "UPDATE ZNOTE SET ZTAG = NULL WHERE Z_PK = %",
        "UPDATE ZTAG SET ZNAME = 'other' WHERE Z_PK = (SELECT ZTAG FROM ZNOTE WHERE Z_PK = %)",
        "UPDATE ZTAG SET ZFIRSTSCORE = ZFIRSTSCORE + 1 "
            + "WHERE Z_PK = (SELECT ZTAG FROM ZNOTE WHERE Z_PK = %)",
        "UPDATE ZTAG SET Z_PK = Z_PK + 1000 WHERE Z_PK = (SELECT ZTAG FROM ZNOTE WHERE Z_PK = %)",
        "DELETE FROM ZTAG WHERE Z_PK = (SELECT ZTAG FROM ZNOTE WHERE Z_PK = %)",
        "UPDATE ZLINE SET ZPLACE = ZPLACE + 1 WHERE ZNOTE = % AND ZPLACE = 0",
        "UPDATE ZLINE SET ZKIND = 'fancy' WHERE ZNOTE = %",
        "UPDATE ZLINE SET ZNOTE = ZNOTE % 300 + 1 WHERE ZNOTE = %",
        "UPDATE ZLINE SET ZNOTE = NULL WHERE ZNOTE = %",
        "UPDATE ZLINE SET Z_OPT = 2 WHERE ZNOTE = %",
        "UPDATE ZLINE SET ZWRITER = 4 WHERE ZNOTE = %",
        "DELETE FROM ZLINE WHERE ZNOTE = %",
        "INSERT INTO ZLINE (Z_PK, Z_ENT, Z_OPT, ZKIND, ZPLACE, ZNOTE) "
            + "SELECT (% - 1) * 3 + 3, 1, 1, 'plain', 2, %",
    ]

    @Test("100 seeded mistakes, and none in the result as it was") func seeded() throws {
        try StoreLab.run { lab in
            try PolicyLab.forge(lab)
            let outcome = try lab.migrate(
                to: .model(DestinationModel(model: PolicyLab.destination())),
                options: PolicyLab.options(.partitioned), policies: [NotePolicy.self])
            let result = lab.folder.appendingPathComponent("result.sqlite")
            func isEqual() throws -> Bool { try lab.isEqual(result, to: outcome) }
            try FileManager.default.copyItem(at: lab.output, to: result)
            #expect(try isEqual())
            var made = 0
            var missed: [String] = []
            var seed = 0
            while made < 100 {
                seed += 1
                let note = seed * 71 % 300 + 1
                let sql = Self.mistakes[seed % Self.mistakes.count]
                    .replacingOccurrences(of: "% 300", with: "§")
                    .replacingOccurrences(of: "%", with: "\(note)")
                    .replacingOccurrences(of: "§", with: "% 300")
                try FileManager.default.removeItem(at: result)
                try FileManager.default.copyItem(at: lab.output, to: result)
                let changes = try lab.raw(result) { database in
                    try database.execute(sql: sql)
                    return database.changesCount
                }
                guard changes > 0, try differs(result, lab.output, lab) else { continue }
                made += 1
                if try isEqual() { missed.append(sql) }
            }
            #expect(missed.isEmpty, "\(missed)")
        }
    }

    /// Whether any row of the tables of policies is another one.
    private func differs(_ one: URL, _ other: URL, _ lab: StoreLab) throws -> Bool {
        try ["ZNOTE", "ZLINE", "ZTAG"].contains { table in
            let rows = try [one, other].map { url in
                try lab.raw(url) { database in
                    try Row.fetchAll(database, sql: "SELECT * FROM \(table) ORDER BY Z_PK")
                        .map { Array($0.databaseValues) }
                }
            }
            return rows[0] != rows[1]
        }
    }
}

extension StoreLab {
    /// Whether the validation finds a file equal to what a migration of the store must give.
    func isEqual(_ result: URL, to outcome: MigrationOutcome) throws -> Bool {
        var scope = try ValidationScope(plan: outcome.plan)
        scope.recordedSums = outcome.recordedSums
        let support = try path(folder.appendingPathComponent("none"))
        let files = ValidationFiles(
            source: try path(store), sourceExternalData: support,
            destination: try path(result), destinationExternalData: support)
        return try Validator(scope: scope, files: files).run().isEqual
    }
}
