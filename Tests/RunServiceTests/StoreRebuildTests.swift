import CoreDataStore
import DurableFiles
import Foundation
import GRDB
import MappingInference
import MappingModel
import MigrationEngine
import MigrationPlans
import RunService
import StateFolders
import StoreForge
import StoreRuns
import TestSupport
import Testing

/// Small stores that are built from pages against the same stores built by statements.
@Suite struct StoreRebuildTests {
    private struct Tally: Sendable {
        var built = 0
        var leftToStatements = 0
        var rows = 0
    }

    @Test(arguments: [false, true])
    func pagesHoldWhatStatementsWrite(hasOddValues: Bool) throws {
        var tally = Tally()
        for seed in UInt64(1)...240 {
            for attempt in UInt64(0)..<8 {
                // Every fourth seed is of a store that is migrated as a whole.
                let one: RandomCase
                do { one = try RandomCase(seed: 4 * seed, attempt: attempt) } catch { continue }
                let isDone = try withTemporaryFolder { folder in
                    try compare(
                        one, seed, in: FilePath(folder.path), hasOddValues: hasOddValues, &tally)
                }
                if isDone { break }
            }
        }
        print(tally)
        #expect(tally.built > 20)
        #expect(tally.leftToStatements > 20)
        #expect(tally.rows > 1_000)
    }

    /// Whether the case could be migrated.
    private func compare(
        _ one: RandomCase, _ seed: UInt64, in folder: FilePath, hasOddValues: Bool,
        _ tally: inout Tally
    ) throws -> Bool {
        let planned: PlannedStore
        do {
            let prepared = try one.prepare(in: folder)
            if hasOddValues {
                var random = SeededGenerator(seed: seed)
                try putOddValues(prepared.request.store, using: &random)
            }
            planned = try EngineMigration(prepared.request).plan()
        } catch is InferenceError {
            return false
        } catch is RunError {
            return false
        }
        let files = DurableFileSystem()
        let paged = folder.appending("Paged.sqlite")
        guard let rebuild = StoreRebuild(planned.laidOut, source: planned.source, files: files),
            try rebuild.run(to: paged, planned.destination, scratch: folder)
        else {
            #expect(try FileStatus.ifPresentLink(paged) == nil)
            tally.leftToStatements += 1
            return true
        }
        let written = folder.appending("Written.sqlite")
        try files.create(written).close()
        let assembler = try StoreAssembler(
            plan: planned.laidOut, source: planned.source, at: written)
        try assembler.copyDirectly()
        try assembler.buildIndexes(helpers: 0, scratch: folder)
        try assembler.finish(planned.destination)
        let (own, other) = (try content(paged), try content(written))
        #expect(own == other, "seed \(seed)")
        tally.built += 1
        tally.rows += own.count
        return true
    }

    /// Everything that a file says, its integrity included.
    private func content(_ path: FilePath) throws -> [String] {
        let queue = try DatabaseQueue(path: try #require(path.string))
        return try queue.read { database in
            var lines = try String.fetchAll(database, sql: "PRAGMA integrity_check")
            for pragma in ["user_version", "application_id", "journal_mode", "auto_vacuum"] {
                let value = try String.fetchOne(database, sql: "PRAGMA \(pragma)") ?? ""
                lines.append("\(pragma) \(value)")
            }
            lines += try String.fetchAll(
                database,
                sql: "SELECT type || name || coalesce(sql, '') FROM sqlite_master ORDER BY 1")
            let tables = try String.fetchAll(
                database, sql: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")
            for table in tables {
                let columns = try database.columns(in: table).map { "\"\($0.name)\"" }
                let values = columns.map { "quote(\($0)) || typeof(\($0))" }
                let row = (["rowid"] + values).joined(separator: " || ',' || ")
                lines += try String.fetchAll(
                    database, sql: "SELECT '\(table) ' || \(row) FROM \"\(table)\" ORDER BY rowid")
            }
            return lines
        }
    }

    private static let oddValues = [
        "0", "1", "-1", "127", "128", "65536", "4294967296", "9223372036854775807", "5.0", "-0.0",
        "0.1", "1e300", "4503599627370497.0", "140737488355328.0", "9.3e18", "NULL", "x''", "x'01'",
        "x'0102'", "x'03'", "'7'", "'text'", "'nul' || char(0)", "''",
    ]

    /// Puts values of any type into attributes, as other programs may have.
    private func putOddValues(_ path: FilePath, using random: inout SeededGenerator) throws {
        let queue = try DatabaseQueue(path: try #require(path.string))
        let bits = (0..<3).map { _ in random.next() }
        try queue.write { database in
            let tables = try String.fetchAll(
                database,
                sql: "SELECT name FROM sqlite_master WHERE type = 'table' "
                    + "AND name GLOB 'Z*' AND name NOT GLOB 'Z_*' ORDER BY 1")
            for bit in bits where !tables.isEmpty {
                let table = tables[Int(bit % UInt64(tables.count))]
                let columns = try database.columns(in: table).map(\.name).filter {
                    !["Z_PK", "Z_ENT"].contains($0)
                }
                guard !columns.isEmpty else { continue }
                let column = columns[Int((bit >> 8) % UInt64(columns.count))]
                let value = Self.oddValues[Int((bit >> 16) % UInt64(Self.oddValues.count))]
                do {
                    try database.execute(
                        sql: "UPDATE \"\(table)\" SET \"\(column)\" = \(value) "
                            + "WHERE Z_PK % 5 = \((bit >> 24) % 5)")
                } catch {
                    // A unique index or a trigger of the model does not take it.
                    continue
                }
            }
        }
        try queue.close()
    }
}
