import CoreDataStore
import DurableFiles
import Foundation
import GRDB
import MigrationPlans
import MigrationValidation
import RunService
import StoreForge
import StoreRuns
import TestSupport
import Testing

/// Join tables as other programs may make them.
@Suite struct JoinKeyTests {
    /// Records have NULL in the column that is another name of the rowid.
    @Test func linksOfAJoinTableWithAnIntegerKeyArrive() throws {
        try withTemporaryFolder { url in
            let folder = FilePath(url.path)
            let store = folder.appending("Original.sqlite")
            try ForgedStore.notes(at: store) { $0.journal = .rollback }
            let queue = try DatabaseQueue(path: try #require(store.string))
            let links = try queue.write { database in
                let name = try #require(
                    try String.fetchOne(
                        database,
                        sql: "SELECT name FROM sqlite_master WHERE type = 'table' "
                            + "AND name GLOB 'Z_[0-9]*'"))
                let columns = try database.columns(in: name).map(\.name)
                try database.execute(
                    sql: """
                        CREATE TEMP TABLE kept AS
                            SELECT * FROM \(name) GROUP BY \(columns[0]);
                        DROP TABLE \(name);
                        CREATE TABLE \(name) (\(columns[0]) INTEGER PRIMARY KEY,
                            \(columns.dropFirst().map { "\($0) INTEGER" }.joined(separator: ", ")));
                        INSERT INTO \(name) SELECT * FROM kept;
                        """)
                return try Int.fetchOne(database, sql: "SELECT count(*) FROM \(name)") ?? 0
            }
            try queue.close()
            #expect(links > 3)
            let destination = try ForgeRecipe.notes(version: 2, notes: 1, seed: 1).model
            let request = MigrationRequest(
                store: store, output: folder.appending("Result.sqlite"),
                state: folder.appending("state"),
                destination: .model(try DestinationModel(model: destination)),
                options: PlanOptions(), slots: 1)
            let outcome = try EngineMigration(request).run()
            #expect(outcome.validation.isEqual)
            #expect(outcome.validation.joinRows == Int64(links))
        }
    }
}
