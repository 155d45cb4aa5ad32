import DurableFiles
import FaultSupport
import Foundation
import ManagedObjectModel
import MappingInference
import MappingModel
import MigrationPlans
import TestSupport
import Testing

@testable import CommandSupport
@testable import CoreDataStore
@testable import GodwitCommands
@testable import MigrationEngine
@testable import MigrationPlanning
@testable import RunCommands
@testable import SafeSQLite

@Suite struct ReportTests {
    private func inspect(_ body: (StoreInspection) throws -> Void) throws {
        try withTemporaryFolder { folder in
            let path = try Samples.makeStore(at: folder.appendingPathComponent("a.sqlite"))
            let store = try StoreOpener().open(StoreLocation(path), scratch: FilePath(folder.path))
            try body(try StoreInspector.inspect(store, isChecked: true))
        }
    }

    @Test func inspectionCountsEverything() throws {
        try inspect { inspection in
            #expect(inspection.entities.map(\.name) == ["Car", "SportCar", "Person"])
            #expect(inspection.entities.map(\.number) == [1, 2, 3])
            #expect(inspection.entities.map(\.rows) == [2, 1, 2])
            #expect(inspection.tables.map(\.rows) == [3, 2])
            #expect(inspection.tables.map(\.maximum) == [7, 2])
            #expect(inspection.tables.allSatisfy { $0.bytes > 0 })
            #expect(inspection.joinTables.map(\.rows) == [1])
            #expect(inspection.joinTables.map(\.relationship) == ["Car.drivers"])
            #expect(inspection.history == nil)
            #expect(
                inspection.externalData == [
                    .init(
                        attribute: "Car.photo", values: 2, references: 1, missing: 1, malformed: 0)
                ])
            #expect(inspection.extras.map(\.name).sorted() == ["appCache", "appPlates"])
            #expect(inspection.oddities.isEmpty)
            #expect(inspection.model.applicationKeys == 1)
            #expect(inspection.model.versionIdentifiers == ["1"])
            #expect(inspection.file.pageSize == 4096)
            #expect(!inspection.file.isSnapshot)
        }
    }

    @Test func rowsOutsideTheHierarchyAreUnusual() throws {
        try withTemporaryFolder { folder in
            let path = try Samples.makeStore(at: folder.appendingPathComponent("a.sqlite"))
            let connection = try Connection(path: path, mode: .create)
            try connection.execute(
                "INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT) VALUES (9, 1, 1); "
                    + "DROP INDEX ZCAR_Z_ENT_INDEX; PRAGMA wal_checkpoint(TRUNCATE)")
            try connection.close()
            let store = try StoreOpener().open(StoreLocation(path), scratch: FilePath(folder.path))
            let inspection = try StoreInspector.inspect(store, isChecked: true)
            #expect(
                inspection.oddities == [
                    "ZPERSON has 1 row of entity numbers that are not in its hierarchy (1)",
                    "1 index that the model implies is missing, such as ZCAR_Z_ENT_INDEX",
                ])
        }
    }

    @Test func inspectionIsWrittenForPeople() throws {
        try inspect { inspection in
            var fixed = inspection
            fixed.store = "garage.sqlite"
            fixed.model.digest = "DIGEST"
            fixed.tables[0].bytes = 4096
            fixed.tables[1].bytes = 0
            fixed.oddities = ["pages of 2048 bytes"]
            fixed.file.bytes = 65536
            fixed.file.pages = 16
            fixed.file.freePages = 0
            #expect(
                fixed.text == """
                    store      garage.sqlite
                    size       64.0 KiB, 16 pages of 4096 bytes
                    journal    write-ahead log
                    model      1, held by the store
                    framework  1522
                    digest     DIGEST
                    history    none
                    metadata   1 key of the app's own
                    checked    every page

                    number  entity          rows  table
                         1  Car                2  ZCAR
                         2  SportCar : Car     1  ZCAR
                         3  Person             2  ZPERSON

                    table    rows    about  Z_MAX
                    ZCAR        3  4.0 KiB      7
                    ZPERSON     2      0 B      2

                    join table  rows  relationship  inverse
                    Z_1DRIVERS     1  Car.drivers   Person.drives

                    external data  values  files  missing  malformed
                    Car.photo           2      1        1          0

                    outside the model
                    - table appCache
                    - index appPlates on ZCAR

                    unusual
                    - pages of 2048 bytes
                    """)
        }
    }

    @Test func planIsWrittenForPeople() throws {
        let (source, destination) = (try Samples.garage(), try Samples.newGarage())
        var facts = StoreFacts(databaseBytes: 1 << 20)
        facts.tables = [
            "ZCAR": .init(rows: [1: 2000, 2: 1], highestKey: 2001, lowestKey: 1),
            "ZPERSON": .init(rows: [3: 2], highestKey: 2, lowestKey: 1),
        ]
        facts.extras = [
            ExtraObject(
                object: SchemaObject(
                    kind: .view, name: "appView", table: "appView", sql: nil, rootPage: 0),
                isKept: false, reason: "it does not fit")
        ]
        let plan = try Planner.plan(
            source: try StoreLayout(model: source, framework: FrameworkVersion(1132)),
            destination: try StoreLayout(model: destination, framework: .newestVerified),
            inference: try Inference(from: source, to: destination), facts: facts,
            options: PlanOptions(strategy: .partitioned))
        let report = PlanReport(plan, store: "garage.sqlite", oddities: ["pages of 2048 bytes"])
        let text = report.text
        #expect(
            text.hasPrefix(
                """
                store      garage.sqlite
                source     1.0 MiB, 2,003 rows
                strategy   partitioned: 
                """))
        #expect(text.contains("framework  1132 -> 1522\n"))
        #expect(text.contains("ZCAR        copied   ZCAR        2,001"))
        #expect(text.contains("ZPERSON     rebuilt  ZPERSON         2"))
        #expect(text.contains("no object's URI changes"))
        #expect(text.contains("- view appView: dropped, it does not fit"))
        #expect(text.contains("- the source: pages of 2048 bytes"))
        let json = try JSONDecoder().decode(
            PlanReport.self, from: Data(try Console.json(report).utf8))
        #expect(json == report)
        #expect(json.sourceRows == ["Car": 2000, "SportCar": 1, "Person": 2])
    }
}
