import CoreDataStore
import DurableFiles
import Foundation
import GRDB
import MigrationEngine
import MigrationPlans
import MigrationValidation
import RunService
import StateFolders
import StoreForge
import StoreRuns
import Testing

/// Bytes of a store that changed on the disk.
@Suite struct FlippedBytesTests {
    /// Migrates copies of one store, each with a few bytes changed.
    ///
    /// Whatever they hit, the run ends: with a refusal that leaves nothing, or with a result that
    /// passes another verification.
    private func flip(seed: UInt64, cases: Int, suffix: String, header: Bool) throws {
        var generator = SeededBytes(seed: seed)
        var completed = 0
        try StoreLab.run { lab in
            var recipe = try StoreLab.recipe(notes: 40, seed: seed)
            recipe.journal = suffix.isEmpty ? .writeAheadLog : .writeAheadLogWithContent
            recipe.hasApplicationObjects = true
            recipe.historyRows = 12
            try lab.forge(recipe)
            let file = lab.originals.appendingPathComponent(lab.name + suffix)
            let whole = try Data(contentsOf: file)
            for number in 0..<cases {
                var bytes = whole
                for _ in 0...(number % 3) {
                    let place = header ? number % 100 : generator.below(bytes.count)
                    bytes[place] ^= generator.next() | 1
                }
                try bytes.write(to: file)
                let options = PlanOptions(
                    strategy: number.isMultiple(of: 2) ? .whole : .partitioned, chunkBytes: 8192,
                    history: .keep)
                let before = try lab.snapshot()
                do {
                    let request = try lab.request(to: .itself, options: options)
                    let outcome = try EngineMigration(request, clock: { 0 }).run()
                    completed += 1
                    #expect(outcome.validation.isEqual)
                    try verify(lab, number)
                } catch let error as RunError {
                    let text = error.description
                    #expect(!text.contains("bug in Godwit"), "\(seed) \(number): \(text)")
                    #expect(text.contains(lab.name), "\(seed) \(number): \(text)")
                    try lab.expectNothingLeft()
                }
                #expect(try lab.snapshot() == before)
                try FileManager.default.removeItem(at: lab.state)
            }
        }
        // Values and unused space are hit as well as what holds the file together.
        #expect(header || completed > 0)
        #expect(completed < cases)
    }

    private func verify(_ lab: StoreLab, _ number: Int) throws {
        let scratch = lab.folder.appendingPathComponent("scratch")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        let report = try LocalVerification(
            source: lab.path(lab.store), destination: lab.path(lab.output)
        ).run(scratch: lab.path(scratch))
        #expect(report.isEqual, "\(number): \(report.lines)")
        let check = try lab.raw(lab.output) { database in
            try String.fetchAll(database, sql: "PRAGMA integrity_check")
        }
        #expect(check == ["ok"])
        for folder in [scratch, lab.results] {
            try FileManager.default.removeItem(at: folder)
        }
        try FileManager.default.createDirectory(
            at: lab.results, withIntermediateDirectories: true)
    }

    @Test(arguments: [1, 2, 105, 109] as [UInt64]) func pages(seed: UInt64) throws {
        try flip(seed: seed, cases: 80, suffix: "", header: false)
    }

    @Test func header() throws { try flip(seed: 5, cases: 100, suffix: "", header: true) }

    @Test func log() throws { try flip(seed: 6, cases: 60, suffix: "-wal", header: false) }
}
