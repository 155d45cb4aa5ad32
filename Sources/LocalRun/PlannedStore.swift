package import CoreDataStore
package import DurableFiles
import ManagedObjectModel
import MappingModel
package import MigrationEngine

/// A store that was opened, read and planned; nothing of it was changed.
package struct PlannedStore: Sendable {
    package let plan: MigrationPlan
    package let source: SourceStore
    /// The model that the store goes to.
    package let destination: DestinationModel
    /// Files of routing passes, by their place in the plan.
    package let routes: [Int: FilePath]
}

/// Opens and plans one store: the prepare stage.
struct StorePreparation {
    let request: MigrationRequest
    /// The run's own folder.
    let folder: FilePath
    let files: DurableFileSystem

    /// - Throws: `RunError` naming what stands in the way; nothing but the run's own folder was
    ///   written.
    func prepare() throws(RunError) -> PlannedStore {
        try RunError.translating { try prepared() }
    }

    private func prepared() throws -> PlannedStore {
        let source = try StoreOpener(files: files).open(
            request.store, scratch: folder, given: request.sourceModel,
            checksPages: false)
        // Reading every page and counting rows take equally long: they share the cores.
        let check = try PageCheck(source)
        let planned: PlannedStore
        do {
            planned = try plan(source)
        } catch {
            // What the pages are like explains more than what was found in them.
            try check.finish()
            throw error
        }
        try check.finish()
        return planned
    }

    private func plan(_ source: SourceStore) throws -> PlannedStore {
        let destination: DestinationModel
        let inference: Inference
        switch request.destination {
        case .itself:
            destination = try DestinationModel(of: source)
            inference = Inference(
                mapping: Mapping.identity(source.model), requirements: [], notes: [])
        case .model(let model):
            destination = model
            inference = try Inference(from: source.model, to: model.model)
        }
        guard
            source.model.entities.isEmpty
                || inference.mapping.entityMappings.contains(where: {
                    $0.source != nil && $0.destination != nil
                })
        else {
            throw EngineError.dataRefused(
                "\(source.path): no entity of its model is in the destination model; is that the "
                    + "model of another app? Nothing was written")
        }
        let layout = try StoreLayout(
            model: destination.model,
            framework: destination.framework(
                asked: request.options.framework, source: source.metadata.framework))
        try checkHistory(source, inference)
        var routes: [Int: FilePath] = [:]
        let facts = try StoreSurvey(
            store: source, destination: layout, inference: inference, files: files
        ).facts(options: request.options) { number in
            let path = folder.appending("plan.json.route-\(number)")
            routes[number] = path
            return path
        }
        guard facts.missingExternalFiles == 0 || request.options.allowsMissingExternalData else {
            throw StoreError.externalDataMissing(
                path: source.path.description, count: Int(facts.missingExternalFiles))
        }
        let plan = try Planner.plan(
            source: source.layout, destination: layout, inference: inference, facts: facts,
            options: request.options)
        try InlinedDataCheck.check(plan, store: source)
        return PlannedStore(
            plan: plan, source: source, destination: destination, routes: routes)
    }

    private func checkHistory(_ source: SourceStore, _ inference: Inference) throws {
        guard request.options.history == .keep, source.hasHistory else { return }
        let connection = try source.connect()
        let changed = try HistoryCheck.changedEntities(
            in: connection, layout: source.layout, mapping: inference.mapping)
        try connection.close()
        guard changed.isEmpty else {
            throw EngineError.dataRefused(
                "\(source.path): history cannot be kept, because properties of "
                    + "\(changed.joined(separator: ", ")) change and recorded changes name them "
                    + "by position. Use --history drop. Nothing was written")
        }
    }
}
