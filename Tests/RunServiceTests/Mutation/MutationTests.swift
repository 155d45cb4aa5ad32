import CoreDataStore
import DurableFiles
import FaultSupport
import Foundation
import MigrationEngine
import MigrationPlans
import MigrationValidation
import RunService
import SafeSQLite
import StoreFileChecks
import StoreForge
import StoreRuns
import TestSupport
import Testing
import ValidationScans

/// Faults put into the stages of real migrations by seed: each must be caught by validation, or
/// refused before it, and never reach a published result.
///
/// `GODWIT_LONG_TESTS` puts in ten times as many.
@Suite("Faults put into migrations")
struct MutationTests {
    /// Faults of each kind and stage.
    private static let wanted =
        ProcessInfo.processInfo.environment["GODWIT_LONG_TESTS"] == nil ? 2 : 20

    @Test func everyFaultIsCaught() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("godwit-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = FilePath(folder.path)
        let cases = try MutationCase.all(in: path)
        #expect(cases.count == 9)
        let tally = try await withThrowingTaskGroup(of: MutationTally.self) { group in
            group.addTask {
                try Self.shards("copying", "copy", SeededFault.copiedShardFaults, cases, in: path)
            }
            group.addTask {
                var tally = try Self.shards(
                    "linking", "link", SeededFault.linkShardFaults, cases, in: path)
                tally.add(try Self.merging(cases, in: path))
                tally.add(try Self.published(cases))
                return tally
            }
            return try await group.reduce(into: MutationTally()) { $0.add($1) }
        }
        print(tally.line)
        #expect(tally.misses.isEmpty, "\(tally.misses)")
        #expect(tally.unused.isEmpty, "no fault of a kind could be put in: \(tally.unused)")
        #expect(tally.total >= 200)
        for stage in ["copying", "linking", "merging", "publishing"] {
            #expect(tally.total(stage) >= 15, "\(stage)")
        }
    }

    /// Puts faults of every kind into cases that seeds draw, until enough are real ones.
    private static func draw(
        _ stage: String, _ kinds: [String], _ count: Int, _ cases: Int,
        _ body: (_ kind: Int, _ place: Int, _ seed: UInt64) throws -> (FaultVerdict, String)
    ) throws -> MutationTally {
        var tally = MutationTally()
        for (number, kind) in kinds.enumerated() {
            var found = 0
            var places: [Int] = []
            for attempt in 0..<(count * 6 + 2 * cases) where found < count {
                let seed = UInt64(number) * 1000 + UInt64(attempt)
                var random = SeededGenerator(seed: seed)
                // Every case gets its turn.
                if places.isEmpty { places = (0..<cases).shuffled(using: &random) }
                let (verdict, spot) = try body(number, places.removeLast(), seed)
                if tally.add(verdict, stage: stage, kind: kind, place: spot) { found += 1 }
            }
        }
        return tally
    }

    /// Faults in shards of running migrations.
    private static func shards(
        _ stage: String, _ job: String, _ faults: [SeededFault], _ cases: [MutationCase],
        in folder: FilePath
    ) throws -> MutationTally {
        let usable = cases.filter { job == "copy" || !$0.plan.linkChunks.isEmpty }
        return try draw(stage, faults.map(\.name), wanted, usable.count) { kind, place, seed in
            let one = usable[place]
            let shards = job == "copy" ? one.plan.chunks.count : one.plan.linkChunks.count
            var random = SeededGenerator(seed: seed &+ 77)
            let spoiler = ShardSpoiler(
                faults[kind], layout: one.layout, seed: seed, kind: job,
                from: Int.random(in: 0..<max(1, shards), using: &random))
            let verdict = try one.verdict(
                spoiler, in: folder.appending("\(stage)-\(kind)-\(seed)"))
            #expect(spoiler.failure == nil, "\(spoiler.failure ?? "")")
            return (verdict, "\(one.name), \(spoiler.job ?? "no shard"), seed \(seed)")
        }
    }

    /// Sound shards that are merged wrongly.
    private static func merging(
        _ cases: [MutationCase], in folder: FilePath
    ) throws -> MutationTally {
        let usable = cases.filter { $0.plan.routes.isEmpty && !$0.hasExternalData }
        let runs = try usable.enumerated().map { number, one in
            let place = folder.appending("merging-\(number)")
            try DurableFileSystem().makeFolders(place)
            return try MergeRun(one, in: place)
        }
        let kinds = MergeFault.allCases
        let count = wanted * 2
        return try draw("merging", kinds.map(\.rawValue), count, runs.count) { kind, place, seed in
            let verdict = try runs[place].verdict(kinds[kind], seed: seed)
            return (verdict, "\(runs[place].migration.name), seed \(seed)")
        }
    }

    /// Published results that are spoiled afterwards.
    private static func published(_ cases: [MutationCase]) throws -> MutationTally {
        let faults = SeededFault.all
        let beside = Set((SeededFault.schemaFaults + SeededFault.fileFaults).map(\.name))
        let kinds = faults.map(\.name)
        return try draw("publishing", kinds, wanted, cases.count) { kind, place, seed in
            let (one, fault) = (cases[place], faults[kind])
            let path = one.result.parent.appending("Spoilt.sqlite")
            let files = DurableFileSystem()
            if try !MutationCase.isFree(path) { try files.remove(path) }
            _ = try files.clone(from: one.result, to: path)
            let name = "\(one.name), seed \(seed)"
            guard try fault.apply(to: path, layout: one.layout, seed: seed) else {
                return (.harmless, name)
            }
            if !beside.contains(fault.name) {
                let content = try ResultContent(
                    path, layout: one.layout, freeOrders: one.freeOrders)
                if content == one.content { return (.harmless, name) }
            }
            return (try one.verdict(ofResult: path), name)
        }
    }
}

extension MutationCase {
    /// What validation says of a result that was spoiled.
    func verdict(ofResult path: FilePath) throws -> FaultVerdict {
        let files = ValidationFiles(
            source: request.store,
            sourceExternalData: StoreLocation(request.store).externalData,
            destination: path,
            destinationExternalData: StoreLocation(result).externalData)
        do throws(StoreError) {
            let report = try Validator(scope: ValidationScope(plan: plan), files: files).run()
            return report.isEqual ? .missed : .differs
        } catch {
            // A file that can no longer be read as a store is caught as well.
            return .refused("\(error)")
        }
    }
}
