import CoreDataStore
import ManagedObjectModel
import MappingInference
import MappingModel
import MigrationPlanning
import MigrationPlans

/// The part of a plan that the models alone decide, whatever a store holds.
struct ModelWay {
    /// Steps that are one mapping, with the version that they give.
    struct Leg {
        /// The mapping with what it asks of the data.
        let inference: Inference
        /// The mapping files that it is completed from; nil where it is inferred.
        let mappingName: String?
        /// In their order; none for a rewrite.
        let steps: [PlanStep]
        /// What messages call it, such as `step 2 → 4`; empty for a rewrite.
        let title: String
        let destination: DestinationModel
        /// What its result is laid out as.
        let layout: StoreLayout
        /// What runs on the store that it gives, in this order.
        var programs: [StepProgram] = []
    }

    /// In their order, at least one; all but the last give stores that are written on the way.
    let legs: [Leg]
    /// Whether mapping files were given that are all for other versions.
    let passesMappingsBy: Bool

    /// Mapping files that name no version and that no step took.
    func unusedMappings(of options: PlanOptions) -> [String] {
        let used = Set(legs.flatMap(\.steps).compactMap(\.mapping))
        return options.mappings.filter { !$0.isBound && !used.contains($0.name) }.map(\.name)
    }

    /// Whether a policy or a program takes part in a store that is written on the way: one slot
    /// then goes the whole way.
    var runsCodeOnTheWay: Bool {
        legs.dropLast().contains { leg in
            !leg.programs.isEmpty
                || leg.inference.mapping.entityMappings.contains { $0.policy != nil }
        }
    }

    /// Refuses what no store of the source's version may do.
    ///
    /// - Parameters:
    ///   - source: the model of the stores.
    ///   - hashes: theirs.
    ///   - framework: theirs.
    ///   - subject: what messages name: a store or a version.
    ///   - ending: a sentence that messages get, after a blank.
    ///   - destination: the model to which stores go.
    ///   - isRewrite: whether the destination is the stores' own model.
    ///   - options: what the user chose.
    ///   - cache: what is known of stores of the same app.
    /// - Throws: `EngineError.olderDestination` and `.noMapping`, `InferenceError`,
    ///   `MappingMismatch`, `ModelError`, and `StoreError` for a model without a layout.
    init(
        from source: Model, hashes: VersionHashes, framework: FrameworkVersion, subject: String,
        ending: String = "", to destination: DestinationModel, isRewrite: Bool,
        options: PlanOptions,
        cache: MigrationCache
    ) throws {
        if let name = options.newerVersions[hashes.digest] {
            throw EngineError.olderDestination(
                "\(subject) has the version \(name), which is newer than the destination."
                    + ending + " Choose the newest model, or allow an older one")
        }
        func layout(of model: DestinationModel) throws -> StoreLayout {
            try cache.stores.layout(
                of: model.model,
                framework: destination.framework(asked: options.framework, source: framework))
        }
        guard !isRewrite else {
            legs = [
                Leg(
                    inference: Inference(
                        mapping: Mapping.identity(source), requirements: [], notes: []),
                    mappingName: nil, steps: [], title: "", destination: destination,
                    layout: try layout(of: destination))
            ]
            passesMappingsBy =
                !options.mappings.isEmpty && hashes.entities != destination.hashes.entities
            return
        }
        let start = MappedWay.End(
            name: options.versionNames[hashes.digest] ?? String(hashes.digest.prefix(8)),
            model: source,
            hashes: hashes)
        let way = try MappedWay(
            from: start,
            to: MappedWay.End(
                name: options.versionNames[destination.hashes.digest]
                    ?? String(destination.hashes.digest.prefix(8)),
                model: destination.model, hashes: destination.hashes),
            options: options, cache: cache.planning)
        try Self.refuseStrangers(
            source, way, subject: subject, ending: ending,
            renames: options.intermediateRenames[hashes.digest])
        guard way.legs.count <= StorePaths.legLimit + 1 else {
            throw EngineError.noMapping(
                "\(subject): the chain would write more than \(StorePaths.legLimit) stores "
                    + "on the way.\(ending) Choose fewer versions in between")
        }
        var before = start.name
        legs = try way.legs.enumerated().map { place, leg in
            let isLast = place + 1 == way.legs.count
            let model = isLast ? destination : try cache.version(leg.destination)
            defer { before = leg.destination.name }
            return Leg(
                inference: leg.inference, mappingName: leg.mappingName, steps: leg.steps,
                title: "step \(before) → \(leg.destination.name)", destination: model,
                layout: try layout(of: model), programs: leg.programs)
        }
        passesMappingsBy =
            !options.mappings.isEmpty && legs.allSatisfy { $0.mappingName == nil }
            && hashes.entities != destination.hashes.entities
    }

    /// Refuses two models that have nothing in common; of a chain, each step has something.
    private static func refuseStrangers(
        _ source: Model, _ way: MappedWay, subject: String, ending: String,
        renames: [String: IntermediateRename]
    ) throws {
        guard !source.entities.isEmpty, way.legs.count == 1, let leg = way.legs.first,
            leg.steps.count == 1,
            !leg.inference.mapping.entityMappings.contains(where: {
                $0.source != nil && $0.destination != nil
            })
        else { return }
        let hint =
            renames.sorted { $0.key < $1.key }.first.map { "\($0.key): \($0.value)" }
            ?? "Check that the destination is a model of the same app"
        throw EngineError.noMapping(
            "\(subject): the source and destination models have no entity in common. \(hint)."
                + ending)
    }
}

extension MigrationCache {
    /// A version that stores are written as on their way.
    fileprivate func version(_ end: MappedWay.End) throws -> DestinationModel {
        try versions.value(for: end.model) { () throws(ModelError) in
            try DestinationModel(model: end.model, storedHashes: end.hashes.entities)
        }
    }
}
