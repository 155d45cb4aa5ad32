import CoreDataStore
import DurableFiles
import FaultSupport
import Foundation
import ManagedObjectModel
import MigrationEngine
import MigrationValidation
import ModelFiles
import RunService
import SafeSQLite
import StoreRuns
import TestSupport
import Testing

/// Values and rows that a migration must carry although no model tells of them.
@Suite struct UnexplainedDataTests {
    private func model(external: Bool) throws -> Model {
        try Model(entities: [
            Entity(
                name: "Item",
                attributes: [
                    Attribute(
                        name: "data", type: .binary, allowsExternalBinaryDataStorage: external)
                ])
        ])
    }

    private func store(at path: FilePath, _ model: Model, rows: [String]) throws {
        let layout = try StoreLayout(model: model, framework: .newestVerified)
        let destination = try DestinationModel(model: model)
        let builder = try StoreBuilder(creating: path, layout: layout)
        try builder.createTables()
        for (key, value) in zip(1..., rows) {
            try builder.connection.execute(
                "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZDATA) VALUES (\(key), 1, 1, \(value))")
        }
        let metadata = StoreMetadata(
            uuid: "5F0C1E4C-33B7-4E5C-8C07-0E6E5B3A1D11", properties: .dictionary([])
        ).migrated(hashes: destination.hashes, identifiers: [], framework: .newestVerified)
        try builder.writeSystemTables(
            maxima: ["Item": Int64(rows.count)], metadata: metadata,
            modelCache: destination.modelCache)
        try builder.connection.execute("CREATE TABLE appTable (a, b)")
        try builder.connection.execute("INSERT INTO appTable VALUES (1, 'x'), (2, NULL)")
        try builder.finish(isWriteAheadLogged: true)
    }

    @Test("values without a prefix byte stay as they are when external storage ends or begins")
    func prefixes() throws {
        // Old value, prefixed value, a value that begins like another prefix, text, NULL, empty.
        let rows = ["X'62706C697374'", "X'0161'", "X'03616263'", "'text'", "NULL", "X''", "X'01'"]
        let carried = ["62706C697374", "61", "03616263", "text", "", "", ""]
        try withTemporaryFolder { folder in
            let root = try #require(FilePath(folder))
            let path = root.appending("a.sqlite")
            try store(at: path, model(external: true), rows: rows)
            let request = MigrationRequest(
                store: path, output: root.appending("out.sqlite"),
                state: root.appending("state"),
                destination: .model(try DestinationModel(model: model(external: false))))
            _ = try EngineMigration(request, clock: { 0 }).run()
            let result = try Connection(path: root.appending("out.sqlite"), mode: .immutable)
            let values = try result.texts(
                "SELECT CASE typeof(ZDATA) WHEN 'blob' THEN hex(ZDATA) ELSE ZDATA END "
                    + "FROM ZITEM ORDER BY Z_PK")
            #expect(values == carried)
            #expect(
                try result.texts("SELECT typeof(ZDATA) FROM ZITEM ORDER BY Z_PK")
                    == ["blob", "blob", "blob", "text", "null", "blob", "blob"])
            try result.close()
        }
    }

    @Test("a row that is missing in an app's own table is found")
    func appTables() throws {
        try withTemporaryFolder { folder in
            let root = try #require(FilePath(folder))
            let (path, copy) = (root.appending("a.sqlite"), root.appending("b.sqlite"))
            try store(at: path, model(external: false), rows: ["X'00'"])
            _ = try DurableFileSystem().clone(from: path, to: copy)
            let verification = LocalVerification(source: path, destination: copy)
            #expect(try verification.run(scratch: root).isEqual)
            let connection = try Connection(path: copy, mode: .readWrite)
            try connection.execute("DELETE FROM appTable WHERE a = 2")
            try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            try connection.close()
            let report = try verification.run(scratch: root)
            #expect(!report.isEqual)
            #expect(report.lines.contains { $0.contains("appTable: the numbers of rows differ") })
        }
    }
}
