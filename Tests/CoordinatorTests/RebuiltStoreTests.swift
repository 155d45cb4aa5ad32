import CoreDataStore
import DurableFiles
import GRDB
import Jobs
import MigrationEngine
import RunLedger
@testable import RunService
import StateFolders
@testable import StoreRuns
import Testing

/// Large stores that their own process makes from pages.
@Suite struct RebuiltStoreTests {
    private typealias Life = PartitionedStoreSessionTests.Life

    /// A store above the limit of whole ones, and its run.
    private func begin(
        _ lab: SharingLab, damage: String? = nil, isLocal: Bool = true
    ) throws -> (ClusterRun, FilePath) {
        let store = try lab.forge("a.sqlite", notes: 120)
        let queue = try DatabaseQueue(path: store.description)
        try queue.writeWithoutTransaction { database in
            try database.execute(sql: "UPDATE ZNOTE SET ZBODY = hex(zeroblob(150000)) || Z_PK")
            if let damage { try database.execute(sql: damage) }
        }
        try queue.close()
        lab.dependencies.rebuildsStores = isLocal
        let run = try lab.begin([store])
        try lab.ledger.append([
            .storeChanged(run: run.id, store: 1, .running, reason: nil, at: 1)
        ])
        return (run, store)
    }

    private func bodies(_ store: FilePath, _ column: String = "ZTEXT") throws -> [String] {
        let queue = try DatabaseQueue(path: store.description)
        defer { do { try queue.close() } catch { Issue.record(error) } }
        return try queue.read { database in
            #expect(
                try String.fetchAll(database, sql: "PRAGMA integrity_check(3)") == ["ok"])
            return try String.fetchAll(
                database,
                sql: "SELECT Z_PK || ' ' || Z_OPT || ' ' || \(column) FROM ZNOTE ORDER BY 1")
        }
    }

    @Test func aLargeStoreHasNoJobs() throws {
        try SharingLab.run { lab in
            let (run, store) = try begin(lab)
            let before = try bodies(store, "ZBODY")
            let life = try Life(lab, run)
            #expect(try life.prepare().steps.isEmpty)
            try life.finish()
            #expect(try bodies(store) == before)
        }
    }

    @Test func aStoppedProcessBeginsAgain() throws {
        try SharingLab.run { lab in
            let (run, store) = try begin(lab)
            let before = try bodies(store, "ZBODY")
            let first = try Life(lab, run)
            try first.prepare()
            #expect(try first.chunked.index())
            first.chunked.close()
            let second = try Life(lab, run)
            let chunks = try second.prepare()
            #expect(chunks.steps.isEmpty && chunks.done == 0 && chunks.voided == nil)
            try second.finish()
            #expect(try bodies(store) == before)
        }
    }

    /// The run goes on under a coordinator whose workers are elsewhere.
    @Test(arguments: [false, true])
    func whatARebuildLeftIsNoPartOfJobs(isComplete: Bool) throws {
        try SharingLab.run { lab in
            let (run, store) = try begin(lab)
            let before = try bodies(store, "ZBODY")
            let first = try Life(lab, run)
            try first.prepare()
            if isComplete {
                #expect(try first.chunked.index())
            } else {
                // Tables without rows.
                let made = first.chunked.places.building
                let queue = try DatabaseQueue(path: made.description)
                try queue.writeWithoutTransaction {
                    try $0.execute(sql: "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY)")
                }
                try queue.close()
            }
            first.chunked.close()
            lab.dependencies.rebuildsStores = false
            let second = try Life(lab, lab.begin([store]))
            #expect(try !second.prepare().steps.isEmpty)
            try second.build()
            try second.finish()
            #expect(try bodies(store) == before)
        }
    }

    @Test func rowsOutOfReachAreCopiedByJobs() throws {
        try SharingLab.run { lab in
            let (run, store) = try begin(
                lab, damage: "UPDATE ZNOTE SET Z_OPT = 'odd' WHERE Z_PK = 7")
            let before = try bodies(store, "ZBODY")
            let life = try Life(lab, run)
            #expect(try life.prepare().steps.isEmpty)
            #expect(try !life.chunked.index())
            try lab.ledger.append([
                .progressReset(run: run.id, store: 1, reason: "another way", at: 1)
            ])
            #expect(try !life.prepare().steps.isEmpty)
            life.beginAnew()
            try life.build()
            try life.finish()
            #expect(try bodies(store) == before)
        }
    }

    @Test func workersOfOtherMachinesGetJobs() throws {
        try SharingLab.run { lab in
            let (run, _) = try begin(lab, isLocal: false)
            #expect(try !Life(lab, run).prepare().steps.isEmpty)
        }
    }
}
