import CommandSupport
import CoreDataStore
import DurableFiles
import FaultSupport
import Foundation
import ManagedObjectModel
import MappingInference
import MappingModel
import MigrationPlans
import MigrationValidation
import RunReports
import RunService
import SafeSQLite
import StateFolders
import StoreFileChecks
import StoreRuns
import TestSupport
import Testing

@testable import GodwitCommands

/// Random stores with random entity numbers in their links and rows: whatever they say, copy and
/// validation agree on what becomes of them.
///
/// `GODWIT_LONG_TESTS` makes it more cases.
@Suite("Entity columns: random numbers in random stores")
struct EntityColumnMutationTests {
    private static var seeds: ClosedRange<UInt64> {
        ProcessInfo.processInfo.environment["GODWIT_LONG_TESTS"] == nil ? 1...16 : 1...1_200
    }

    /// What the cases met, so that none of it is empty.
    private struct Tally {
        var edits = 0
        var migrated = 0
        var refused = 0
        var inherited: Int64 = 0
        var misnumbered: Int64 = 0
    }

    @Test func copyAndValidationAgree() throws {
        var tally = Tally()
        for seed in Self.seeds {
            for attempt in UInt64(0)..<20 {
                guard let one = try? RandomCase(seed: seed, attempt: attempt) else { continue }
                let found = try withTemporaryFolder { folder in
                    try run(one, seed: seed, in: FilePath(folder.path), &tally)
                }
                if found { break }
            }
        }
        // A test of foreign numbers must meet some that are migrated.
        #expect(tally.edits > 40, "\(tally)")
        #expect(tally.migrated > 25, "\(tally)")
        #expect(tally.inherited > 10, "\(tally)")
        #expect(tally.misnumbered > 10, "\(tally)")
        print("\(tally)")
    }

    /// Migrates one mutated store as drawn, in one piece, and to its own model.
    ///
    /// - Returns: whether the case could be migrated before its numbers were changed.
    private func run(
        _ one: RandomCase, seed: UInt64, in folder: FilePath, _ tally: inout Tally
    ) throws -> Bool {
        let prepared: RandomCase.Prepared
        do { prepared = try one.prepare(in: folder) } catch is InferenceError { return false }
        let mappings = prepared.inference.mapping.entityMappings
        guard mappings.contains(where: { $0.source != nil && $0.destination != nil }) else {
            return false
        }
        var sound = prepared.request
        sound.output = folder.appending("sound.sqlite")
        guard let first = try? EngineMigration(sound, clock: { 0 }).run(), first.validation.isEqual
        else { return false }
        var random = SeededGenerator(seed: seed)
        tally.edits += try mutate(prepared.request.store, one.source, using: &random)
        var whole = prepared.request
        whole.options.strategy = .whole
        whole.output = folder.appending("whole.sqlite")
        var itself = prepared.request
        itself.destination = .itself
        itself.output = folder.appending("itself.sqlite")
        var dumps: [[String]] = []
        for (name, request) in [("drawn", prepared.request), ("whole", whole), ("self", itself)] {
            do {
                let report = try EngineMigration(request, clock: { 0 }).run().validation
                #expect(report.isEqual, "seed \(seed), \(name): \(report.lines)")
                #expect(report.newFaults.isEmpty, "seed \(seed), \(name)")
                tally.migrated += 1
                for fault in report.inherited {
                    if fault.fault.kind == .dangling { tally.inherited += fault.count }
                    if fault.fault.kind == .foreignEntity { tally.misnumbered += fault.count }
                }
                if name != "self" {
                    dumps.append(try dump(request.result, one.destination))
                }
            } catch let error as RunError {
                #expect(
                    CommandStatus(error) == .badData, "seed \(seed), \(name), \(one.mode): \(error)"
                )
                tally.refused += 1
            }
        }
        if dumps.count == 2 { #expect(dumps[0] == dumps[1], "seed \(seed)") }
        return true
    }

    /// Changes entity numbers of links, and of rows where one entity alone has a table.
    private func mutate(
        _ store: FilePath, _ model: Model, using random: inout SeededGenerator
    ) throws -> Int {
        let layout = try StoreLayout(model: model, framework: .newestVerified)
        let connection = try Connection(path: store, mode: .readWrite)
        let numbers = (1...layout.entityOrder.count).map { "\($0)" }
        let odd = ["NULL", "0", "-1", "999", "'text'", "2.5", "x'00'", "9223372036854775807"]
        var edits = 0
        for table in layout.tables {
            var columns = table.columns.filter {
                if case .toOneEntity = $0.role { true } else { false }
            }.map(\.name)
            if layout.onlyEntity(of: table) != nil { columns.append("Z_ENT") }
            for column in columns {
                for _ in 0..<3 {
                    let value = (numbers + odd).randomElement(using: &random) ?? "NULL"
                    let rest = Int.random(in: 0..<5, using: &random)
                    try connection.execute(
                        "UPDATE \(SQLText.quoted(table.name)) SET \(SQLText.quoted(column)) = "
                            + "\(value) WHERE Z_PK % 5 = \(rest)")
                    edits += 1
                }
            }
        }
        try connection.close()
        return edits
    }

    /// Every row of the tables that the model names.
    private func dump(_ store: FilePath, _ model: Model) throws -> [String] {
        let layout = try StoreLayout(model: model, framework: .newestVerified)
        let connection = try Connection(path: store, mode: .immutable)
        var lines: [String] = []
        let names =
            layout.tables.map { ($0.name, $0.columnNames) }
            + layout.joinTables.map { ($0.name, $0.columnNames) }
        for (table, columns) in names {
            let row = columns.map { "quote(\(SQLText.quoted($0)))" }.joined(separator: "||' '||")
            lines += try connection.texts(
                "SELECT \(row) FROM \(SQLText.quoted(table)) ORDER BY 1"
            ).map { "\(table) \($0)" }
        }
        try connection.close()
        return lines
    }
}
