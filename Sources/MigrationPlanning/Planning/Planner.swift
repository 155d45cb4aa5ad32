package import CoreDataStore
import DurableFiles
package import MappingInference
import MappingModel
package import MigrationPlans

/// Makes the plan of one store: pure, deterministic, without reading anything.
package enum Planner {
    /// Decides everything about one store.
    ///
    /// - Parameters:
    ///   - source: the layout of the store's model.
    ///   - destination: the layout to write.
    ///   - inference: the mapping with what it asks of the data.
    ///   - facts: of the store.
    ///   - options: what the user chose.
    ///   - cache: what is known of stores of the same app.
    /// - Returns: the plan, which every stage carries out.
    /// - Throws: `PlanError.refused` with every broken requirement, `.unsupported`,
    ///   `.keyOverflow`.
    package static func plan(
        source: StoreLayout, destination: StoreLayout, inference: Inference, facts: StoreFacts,
        options: PlanOptions, cache: PlanningCache = PlanningCache()
    ) throws(PlanError) -> MigrationPlan {
        let refusals =
            Self.refusals(inference.requirements, facts.broken)
            + zip(inference.earlier, facts.brokenEarlier).flatMap { step, counts in
                Self.refusals(step.requirements, counts).map { "step \(step.name): \($0)" }
            }
        guard refusals.isEmpty else { throw .refused(refusals) }
        let context = try PlanContext(
            source: source, destination: destination, mapping: inference.mapping,
            highestKeys: facts.highestKeys, splits: facts.splits, now: options.now)
        let shape = try cache.shape(context)
        let strategy = strategy(options, databaseBytes: facts.databaseBytes)
        let cutter = ChunkPlanner(
            facts: facts, partition: options.partition,
            limit: strategy == .partitioned ? options.chunkBytes : nil)
        let chunks = cutter.chunks(feeds: shape.feeds, joins: shape.joins)
        let outcomes = OutcomeDescription(
            context: context, shape: shape, chunks: chunks, facts: facts)
        var plan = MigrationPlan(
            engine: MigrationPlan.engineVersion, options: options, sourceModel: source.model,
            destinationModel: destination.model, sourceFramework: source.framework,
            framework: destination.framework, mapping: inference.mapping, feeds: shape.feeds,
            joins: shape.joins, links: shape.links, routes: cutter.routes(),
            chunks: chunks,
            sourceRanges: cutter.tableRanges(source.tables.map(\.name)),
            linkChunks: cutter.linkChunks(shape.links), maxima: context.maxima,
            tables: outcomes.tables, extras: facts.extras, changedURIs: outcomes.changedURIs,
            sourceRows: outcomes.sourceRows,
            notes: inference.notes.map(\.description) + destination.unsupported,
            resources: resources(facts, chunks: chunks, strategy: strategy), strategy: strategy)
        plan.splits = facts.splits
        plan.passes = context.allPasses.map {
            PassMove(mapping: $0.place, layer: $0.way.layer, offset: context.offset(of: $0.way))
        }
        plan.policies = context.policyPasses
        plan.recordedRows = context.recordedRows
        plan.policyLinks = context.policyLinks
        plan.notes += facts.routes.compactMap(\.remainderNote)
        if !context.policyPasses.isEmpty {
            plan.notes.append(
                "migration policies run when a store is migrated: a plan does not show what they "
                    + "refuse")
        }
        for name in Set(context.policyPasses.map(\.className)).sorted()
        where options.policies.named(name)?.isDeterministic == false {
            plan.notes.append(
                "policy \(name) is not deterministic: two runs can give other results")
        }
        for split in facts.splits {
            for kind in split.kinds {
                plan.variantRows[Int(kind.number)] =
                    facts.tables[split.table]?.rows[kind.number] ?? 0
            }
        }
        return plan
    }

    /// What broken requirements say.
    private static func refusals(
        _ requirements: [DataRequirement], _ broken: [StoreFacts.Breach]
    ) -> [String] {
        zip(requirements, broken).compactMap { requirement, breach in
            guard breach.count > 0 else { return nil }
            let text = requirement.refusal(count: Int(breach.count))
            guard let example = breach.example else { return text }
            return "\(text) The first object is \(example)."
        }
    }

    /// How a store of that size is migrated.
    static func strategy(_ options: PlanOptions, databaseBytes: Int64) -> Strategy {
        options.strategy ?? (databaseBytes <= PlanOptions.wholeLimit ? .whole : .partitioned)
    }

    /// Shards are freed as they are merged, so that shards and result together hold little more
    /// than one copy of the data; a snapshot is another one.
    private static func resources(
        _ facts: StoreFacts, chunks: [Chunk], strategy: Strategy
    ) -> Resources {
        let shards = strategy == .partitioned ? facts.databaseBytes : 0
        let largest = chunks.map(\.bytes).max() ?? 0
        // Page caches of a slot's connections, a statement's row, and SQLite's sorter.
        let memory: Int64 = 24 << 20
        return Resources(
            sourceBytes: facts.databaseBytes,
            diskBytes: facts.databaseBytes.addingClamped(shards)
                .addingClamped(facts.externalBytes).addingClamped(largest),
            files: facts.externalFiles + Int64(chunks.count) + 16, slotMemoryBytes: memory)
    }
}
