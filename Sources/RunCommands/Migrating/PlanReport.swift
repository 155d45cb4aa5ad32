import CoreDataStore
import DurableFiles
import MappingModel
import MigrationEngine
import MigrationPlans
import RunReports
import RunService
import SafeSQLite
import StoreRuns

/// What `godwit plan` reports of a store.
///
/// Its JSON is documented in `docs/reference/json.md`. A plan also holds both models and every
/// chunk, which only workers need.
struct PlanReport: Hashable, Sendable, Codable {
    var store: String
    /// What the result will lack, the greatest loss first.
    var losses: [Loss] = []
    /// The mapping file; nil where the mapping is inferred.
    var mapping: String?
    /// From the store's version to the destination, in their order; none for a rewrite.
    var steps: [PlanStep] = []
    /// The entity mappings that carry objects, where there is a mapping file.
    var entityMappings: [PassReport]?
    var strategy: Strategy
    /// Framework versions of source and result.
    var sourceFramework: Int
    var framework: Int
    var chunkBytes: Int64
    /// Copy jobs of all tables.
    var chunks: Int
    /// Link jobs.
    var linkChunks: Int
    /// Relationships whose links are looked up instead of computed.
    var lookups: [String]
    var tables: [TableOutcome]
    /// Rows of the source by entity.
    var sourceRows: [String: Int64]
    /// Objects whose URI changes, by destination entity.
    var changedURIs: [String: Int64]
    var extras: [ExtraOutcome]
    var notes: [String]
    var oddities: [String]
    var resources: Resources

    /// What becomes of an object outside the model.
    struct ExtraOutcome: Hashable, Sendable, Codable {
        var kind: SchemaObject.Kind
        var name: String
        var table: String
        var isKept: Bool
        var reason: String

        init(_ extra: ExtraObject) {
            kind = extra.object.kind
            name = extra.object.name
            table = extra.object.table
            isKept = extra.isKept
            reason = extra.reason
        }
    }

    init(_ planned: PlannedStore) {
        self.init(
            planned.plan, store: planned.source.path.description,
            oddities: planned.original.oddities)
        losses = planned.losses ?? []
        strategy = planned.strategy
        steps = planned.steps
        let files = steps.compactMap(\.mapping)
        mapping = files.isEmpty ? nil : files.joined(separator: ", ")
        sourceRows = planned.sourceRows
        changedURIs = planned.changedURIs
        extras = planned.extras.map(ExtraOutcome.init)
        resources = planned.resources
        if planned.isRebuilt {
            for place in tables.indices { tables[place].chunks = 1 }
            chunks = tables.count
            // The result, and runs of index entries, whose files have no names.
            resources.files = 1
        }
        sourceFramework = planned.original.metadata.framework.number
        notes = planned.notes + filterNotes
        if planned.isUnchanged {
            notes.append(
                "the store already has the destination's model version: a migration in place "
                    + "leaves it unchanged")
        }
        if let first = planned.stepsLeft.first {
            notes.append(
                "a policy or a program runs before the step to \(first.version): only the run "
                    + "shows what that step and later ones change and lose")
        }
        notes += planned.unusedMappingNotes
        notes += PlanReport.swapNotes(planned)
    }

    /// What stands in the way of a swap in place.
    static func swapNotes(_ planned: PlannedStore) -> [String] {
        var notes: [String] = []
        if planned.isOpen {
            notes.append(
                "a program has the store open. Close it there before a migration in place swaps it")
        }
        if let reason = planned.hiddenClients {
            notes.append(
                "Godwit cannot detect whether a program has the store open: \(reason). To migrate "
                    + "it in place, use --assume-closed. --output does not need that option")
        }
        if let obstacle = planned.swapObstacle {
            notes.append("a migration in place would fail: \(obstacle)")
        }
        return notes
    }

    init(_ plan: MigrationPlan, store: String, oddities: [String]) {
        self.store = store
        mapping = plan.mappingName
        steps = plan.steps
        if mapping != nil {
            entityMappings = plan.passes.compactMap { PassReport($0, of: plan) }
        }
        strategy = plan.strategy
        sourceFramework = plan.sourceFramework.number
        framework = plan.framework.number
        chunkBytes = plan.options.chunkBytes
        chunks = plan.chunks.count
        linkChunks = plan.linkChunks.count
        lookups = plan.links.map(\.relation.name)
        tables = plan.tables
        sourceRows = plan.sourceRows
        changedURIs = plan.changedURIs
        extras = plan.extras.map(ExtraOutcome.init)
        notes = plan.notes
        self.oddities = oddities
        resources = plan.resources
        notes += filterNotes
    }

    /// Filters that take none of the objects that there are.
    var filterNotes: [String] { (entityMappings ?? []).compactMap(\.filterNote) }
}

extension PlanReport {
    /// The plan for a terminal.
    var text: String {
        let remarks = stepNotes + notes + oddities.map { "the source: \($0)" }
        let paragraphs =
            [headLines, lossLines, passLines, tableLines, changedLines, extraLines]
            + [PlanReport.list("notes", remarks)]
        return paragraphs.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(
            separator: "\n\n")
    }

    private var headLines: [String] {
        var work = strategy.rawValue
        if strategy == .partitioned {
            work += ": \(counted(chunks, "chunk")) of up to \(ByteSize(bytes: chunkBytes).words)"
            if linkChunks > 0 { work += ", \(counted(linkChunks, "link chunk"))" }
        }
        let disk = ByteSize(bytes: resources.diskBytes).words
        let source = ByteSize(bytes: resources.sourceBytes).words
        let memory = ByteSize(bytes: resources.slotMemoryBytes).words
        let rows = sourceRows.values.reduce(0, +)
        let head = ["store      \(store)", "source     \(source), \(counted(rows, "row"))"]
        return head + (mapping.map { ["mapping    \($0)"] } ?? [])
            + stepLines + [
                "strategy   \(work)", "framework  \(sourceFramework) -> \(framework)",
                "disk       \(disk) beside the source, \(counted(resources.files, "file"))",
                "memory     \(memory) per slot, plus the largest single value",
            ]
    }

    private var stepLines: [String] {
        let between = steps.dropLast()
        guard !between.isEmpty else { return [] }
        let names = between.map(\.version).joined(separator: ", ")
        let written = between.filter { $0.reasonToWrite != nil }.map(\.version)
        return [
            "through    \(names)"
                + (written.isEmpty
                    ? ", in one pass" : "; writes a store of \(written.joined(separator: ", "))")
        ]
    }

    /// Why stores are written on the way.
    private var stepNotes: [String] {
        steps.compactMap { step in
            step.reasonToWrite.map { "a store of \(step.version) is written on the way: \($0)" }
        }
    }

    private var lossLines: [String] {
        PlanReport.list("losses", losses.map(ReportWords.loss))
    }

    private var passLines: [String] {
        guard let entityMappings, !entityMappings.isEmpty else { return [] }
        return ["entity mappings"] + entityMappings.flatMap(\.lines)
    }

    private var tableLines: [String] {
        var table = TextTable([
            ("table", .left), ("action", .left), ("from", .left), ("rows", .right),
            ("chunks", .right), ("changes", .left),
        ])
        for one in tables {
            // Each change has its own line, so that the columns before stay narrow.
            table.add([
                one.table, one.action.rawValue, one.sources.joined(separator: ", "),
                grouped(one.rows), grouped(one.chunks), one.changes.first ?? "",
            ])
            for change in one.changes.dropFirst() { table.add(["", "", "", "", "", change]) }
        }
        // Later steps read what is not there yet.
        let written = steps.dropLast().first { $0.reasonToWrite != nil }
        return (written.map { ["on the way to the store of \($0.version):"] } ?? []) + table.lines
    }

    private var changedLines: [String] {
        if changedURIs.isEmpty { return ["no object's URI changes"] }
        let items = changedURIs.sorted { $0.key < $1.key }
            .map { "\($0.key): \(counted($0.value, "object"))" }
        return PlanReport.list("objects whose URI changes", items)
    }

    private var extraLines: [String] {
        PlanReport.list(
            "outside the model",
            extras.map { extra in
                let place = extra.table == extra.name ? "" : " on \(extra.table)"
                let fate = extra.isKept ? "kept" : "dropped"
                return "\(extra.kind.rawValue) \(extra.name)\(place): \(fate), \(extra.reason)"
            })
    }

    /// A titled list; nothing for no items.
    static func list(_ title: String, _ items: [String]) -> [String] {
        items.isEmpty ? [] : [title] + items.map { "- \($0)" }
    }
}
