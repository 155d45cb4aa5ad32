import CoreDataStore
import ManagedObjectModel
import MappingModel
import MigrationPlanning

/// The part of a plan that the models alone decide, whatever a store holds.
struct ModelPair {
    /// The mapping with what it asks of the data.
    let inference: Inference
    /// The mapping file that it is completed from; nil where it is inferred.
    let mappingName: String?
    /// Names of the versions in between that stores go through.
    let steps: [String]
    /// Whether mapping files were given that are all for other versions.
    let passesMappingsBy: Bool
    /// What the result is laid out as.
    let layout: StoreLayout

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
    ///   `MappingMismatch`, and `StoreError` for a model without a layout.
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
        let way =
            isRewrite
            ? nil
            : try MappedWay(
                from: MappedWay.End(
                    name: options.versionNames[hashes.digest] ?? "of the store", model: source,
                    hashes: hashes),
                to: MappedWay.End(
                    name: options.versionNames[destination.hashes.digest] ?? "the destination",
                    model: destination.model, hashes: destination.hashes),
                options: options, cache: cache.planning)
        mappingName = way?.mappingName
        steps = way?.steps ?? []
        passesMappingsBy =
            mappingName == nil && !options.mappings.isEmpty
            && hashes.entities != destination.hashes.entities
        inference =
            way?.inference
            ?? Inference(mapping: Mapping.identity(source), requirements: [], notes: [])
        guard
            // Of a chain, each step has some.
            source.entities.isEmpty || !steps.isEmpty
                || inference.mapping.entityMappings.contains(where: {
                    $0.source != nil && $0.destination != nil
                })
        else {
            let renames = options.intermediateRenames[hashes.digest].sorted { $0.key < $1.key }
            let hint =
                renames.first.map { "\($0.key): \($0.value)" }
                ?? "Check that the destination is the right app's model"
            throw EngineError.noMapping(
                "\(subject): the source and destination models have no entity in common. \(hint)."
                    + ending)
        }
        layout = try cache.stores.layout(
            of: destination.model,
            framework: destination.framework(asked: options.framework, source: framework))
    }
}
