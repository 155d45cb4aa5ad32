import DurableFiles
import FaultSupport
import Jobs
import MigrationEngine
import MigrationPlans
import RunSupport
import SafeSQLite
import TestSupport

@testable import RunService
@testable import StoreRuns

/// The sound shards of one migration, to be merged in wrong ways.
struct MergeRun {
    let migration: MutationCase
    private let planned: PlannedStore
    private let file: PlanFile
    private let folder: FilePath
    private let copied: [FilePath]
    private let linked: [FilePath]

    /// Runs all copy and link jobs.
    init(_ migration: MutationCase, in folder: FilePath) throws {
        self.migration = migration
        self.folder = folder
        let files = DurableFileSystem()
        let state = folder.appending("state")
        var request = migration.request
        request.state = state
        planned = try EngineMigration(request, clock: { 0 }).plan()
        try files.makeFolders(state)
        let jobs = try EngineJobs(
            planned, plan: state.appending("plan.json"), attempts: state.appending("attempts"),
            files: files)
        file = jobs.file
        let shard = { (work: Work) in try jobs.shard(of: jobs.run(work)) }
        copied = try planned.plan.chunks.indices.map { try shard(.copy(chunk: $0)) }
        linked = try planned.plan.linkChunks.indices.map { try shard(.link(chunk: $0)) }
    }

    /// What is merged and applied, in which order.
    private struct Steps {
        var chunks: [(number: Int, shard: FilePath)]
        /// Chunks that are merged only after the links.
        var late: [(number: Int, shard: FilePath)] = []
        /// Links and the plan's link chunk that they are taken for.
        var links: [(number: Int, shard: FilePath)]
    }

    /// Merges in a wrong way, and validates the result.
    func verdict(_ fault: MergeFault, seed: UInt64) throws -> FaultVerdict {
        var random = SeededGenerator(seed: seed)
        var steps = Steps(
            chunks: Array(zip(copied.indices, copied)).map { (number: $0, shard: $1) },
            links: Array(zip(linked.indices, linked)).map { (number: $0, shard: $1) })
        let building = folder.appending("\(fault)-\(seed).sqlite")
        guard try spoil(&steps, fault, seed, &random) else { return .harmless }
        do {
            try assemble(steps, at: building)
        } catch {
            if case .internalError = error { throw error }
            return .refused("\(error)")
        }
        if fault == .indexBeforeRows {
            let early = SeededFault.indexBeforeLastRows
            guard try early.apply(to: building, layout: file.destination, seed: seed) else {
                return .harmless
            }
        } else {
            let content = try ResultContent(
                building, layout: migration.layout, freeOrders: migration.freeOrders)
            if content == migration.content { return .harmless }
        }
        return try migration.verdict(ofResult: building)
    }

    private func assemble(_ steps: Steps, at building: FilePath) throws(EngineError) {
        try EngineError.translating { try DurableFileSystem().create(building).close() }
        let assembler = try StoreAssembler(plan: file, source: planned.source, at: building)
        try merge(steps.chunks, assembler)
        for link in steps.links {
            try assembler.apply(planned.plan.linkChunks[link.number], shard: link.shard)
        }
        try merge(steps.late, assembler)
        try assembler.buildIndexes(helpers: 0, scratch: building.parent)
        try assembler.finish(planned.destination)
    }

    private func merge(
        _ chunks: [(number: Int, shard: FilePath)], _ assembler: StoreAssembler
    ) throws(EngineError) {
        let plan = planned.plan
        var group: [FilePath] = []
        for (place, step) in chunks.enumerated() {
            let chunk = plan.chunks[step.number]
            if chunk.isAscending {
                _ = try assembler.append(chunk, shard: step.shard)
                continue
            }
            group.append(step.shard)
            let next = place + 1 < chunks.count ? plan.chunks[chunks[place + 1].number] : nil
            guard next?.subject != chunk.subject else { continue }
            _ = try assembler.merge(chunk, shards: group, scratch: folder)
            group = []
        }
    }
}

// MARK: - Spoiling

extension MergeRun {
    private func table(_ number: Int) -> String {
        switch planned.plan.chunks[number].subject {
        case .feed(let place): planned.plan.feeds[place].destinationTable
        case .join(let place, _): planned.plan.joins[place].table
        }
    }

    private func isKeyed(_ number: Int) -> Bool {
        if case .feed = planned.plan.chunks[number].subject { true } else { false }
    }

    private func count(_ shard: FilePath, _ sql: String) throws -> Int64 {
        let connection = try Connection(path: shard, mode: .immutable)
        let value = try connection.integer(sql) ?? 0
        try connection.close()
        return value
    }

    private func rows(_ number: Int) throws -> Int64 {
        try count(copied[number], "SELECT count(*) FROM \(SQLText.quoted(table(number)))")
    }

    /// The lowest and the highest key of a shard.
    private func keys(_ number: Int) throws -> (low: Int64, high: Int64) {
        let name = SQLText.quoted(table(number))
        return (
            try count(copied[number], "SELECT min(Z_PK) FROM \(name)"),
            try count(copied[number], "SELECT max(Z_PK) FROM \(name)")
        )
    }

    /// A copy of a shard whose keys were moved.
    private func moved(_ number: Int, by distance: Int64, seed: UInt64) throws -> FilePath {
        let path = folder.appending("moved-\(number)-\(distance)-\(seed).sqlite")
        _ = try DurableFileSystem().clone(from: copied[number], to: path)
        let connection = try Connection(path: path, mode: .create)
        let name = SQLText.quoted(table(number))
        // By way of keys that no row has.
        try connection.execute(
            "UPDATE \(name) SET Z_PK = -Z_PK; UPDATE \(name) SET Z_PK = \(distance) - Z_PK")
        try connection.close()
        return path
    }

    /// Puts a fault into the steps; whether there is a place for it.
    private func spoil(
        _ steps: inout Steps, _ fault: MergeFault, _ seed: UInt64, _ random: inout SeededGenerator
    ) throws -> Bool {
        let full = try copied.indices.filter { try rows($0) > 0 }
        let keyed = full.filter(isKeyed)
        switch fault {
        case .shardLeftOut:
            guard let victim = full.randomElement(using: &random) else { return false }
            steps.chunks.remove(at: victim)
        case .shardTwice:
            guard let victim = full.randomElement(using: &random) else { return false }
            steps.chunks.insert(steps.chunks[victim], at: victim)
        case .shardTwiceWithNewKeys:
            guard let victim = keyed.randomElement(using: &random) else { return false }
            let same = keyed.filter { table($0) == table(victim) }
            let top = try same.map { try keys($0).high }.max() ?? 0
            let copy = try moved(victim, by: top, seed: seed)
            let last = same.max() ?? victim
            steps.chunks.insert((victim, copy), at: last + 1)
        case .keysMoved:
            guard let victim = keyed.randomElement(using: &random) else { return false }
            steps.chunks[victim].shard = try moved(victim, by: 1, seed: seed)
        case .wrongOrder:
            let pairs = zip(keyed, keyed.dropFirst()).filter { first, second in
                planned.plan.chunks[first].subject == planned.plan.chunks[second].subject
                    && planned.plan.chunks[first].isAscending
            }
            guard let (first, second) = pairs.randomElement(using: &random) else { return false }
            let (lower, upper) = (try keys(first), try keys(second))
            steps.chunks[first].shard = try moved(second, by: lower.low - upper.low, seed: seed)
            steps.chunks[second].shard = try moved(
                first, by: upper.high - upper.low + 1, seed: seed)
        case .linksBeforeRows:
            let places = planned.plan.linkChunks.map { planned.plan.links[$0.link].table }
            let late = keyed.filter { places.contains(table($0)) }
            guard let victim = late.randomElement(using: &random) else { return false }
            // Everything from there on comes late, so that keys still ascend.
            steps.late = Array(steps.chunks[victim...])
            steps.chunks.removeSubrange(victim...)
        case .linksLeftOut:
            guard !linked.isEmpty else { return false }
            steps.links.remove(at: Int.random(in: linked.indices, using: &random))
        case .linksOfAnother:
            guard let one = linked.indices.randomElement(using: &random),
                let other = linked.indices.randomElement(using: &random),
                try columns(linked[one]) == columns(linked[other])
            else { return false }
            steps.links[one].shard = linked[other]
        case .indexBeforeRows: return true
        }
        return true
    }

    private func columns(_ shard: FilePath) throws -> Int64 {
        try count(shard, "SELECT count(*) FROM pragma_table_info('link')")
    }
}

/// Ways to merge sound shards wrongly.
enum MergeFault: String, CaseIterable, Sendable {
    case shardLeftOut = "a shard left out"
    case shardTwice = "a shard merged twice"
    case shardTwiceWithNewKeys = "a shard merged twice under new keys"
    case keysMoved = "keys of a shard off by one"
    case wrongOrder = "two shards in the wrong order"
    case linksBeforeRows = "links applied before the last rows"
    case linksLeftOut = "a link shard left out"
    case linksOfAnother = "a link shard for another one"
    case indexBeforeRows = "an index built before the last rows"
}
