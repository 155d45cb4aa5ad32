import CoreDataStore
package import DurableFiles
import ManagedObjectModel
import MappingInference
import MappingModel
import MigrationEngine
import MigrationPlanning
import MigrationPlans
import MigrationValidation
package import SafeSQLite
import ShardPages
package import StateFolders
import StoreFileChecks
package import StoreLocks
import ValidationScans

/// Opens and plans one store: the prepare stage.
package struct StorePreparation {
    /// The original.
    let store: FilePath
    let request: RunRequest
    let places: StorePaths
    let files: DurableFileSystem
    /// What is known of stores of the same app.
    let cache: MigrationCache
    /// Jobs at a time.
    let slots: Int
    /// The store's lock, where the caller has it.
    var lock: StoreLock?
    /// Whether SQLite checks all pages of the store.
    var checksPages = true
    /// Whether losses are counted, also where none is refused.
    var countsLosses = false
    /// Where the stores on the way come from.
    let steps: StepSource

    package init(
        store: FilePath, request: RunRequest, places: StorePaths, files: DurableFileSystem,
        cache: MigrationCache, slots: Int, lock: StoreLock? = nil, checksPages: Bool = true,
        steps: StepSource
    ) {
        self.store = store
        self.request = request
        self.places = places
        self.files = files
        self.cache = cache
        self.slots = slots
        self.lock = lock
        self.checksPages = checksPages
        self.steps = steps
    }

    var opener: StoreOpener {
        // The result of a swap takes the place of the whole original: no program may have
        // written to that without being seen.
        let clients =
            request.output == nil
            ? SnapshotClients(lock: lock, policy: request.clients) : nil
        return StoreOpener(files: files, cache: cache.stores, clients: clients)
    }

    /// Whether everything runs on the caller's thread: for a small store threads and connections
    /// of their own would cost more than they bring.
    func isInline(_ source: SourceStore) -> Bool {
        slots == 1 && source.bytes <= PlanOptions.wholeLimit
    }

    private var folder: FilePath { places.folder }

    /// Opens a store again that an earlier process planned.
    ///
    /// Nothing of it is checked again but what opening itself checks.
    ///
    /// - Parameters:
    ///   - file: the plan.
    ///   - hasSnapshot: whether a snapshot was made.
    /// - Returns: the store as it was planned.
    /// - Throws: `RunError`.
    func reopened(_ file: PlanFile, hasSnapshot: Bool) throws(RunError) -> PlannedStore {
        try RunError.translating {
            let original = try opener.open(
                StoreLocation(store), scratch: folder, given: request.sourceModel,
                checksPages: false,
                snapshot: hasSnapshot ? .made(places.snapshot) : .toMake(places.snapshot))
            var planned = PlannedStore(
                laidOut: file.laidOut, original: original,
                source: try source(of: file.plan, original),
                destination: try destination(of: original),
                routes: Dictionary(
                    uniqueKeysWithValues: file.plan.routes.indices.map { ($0, route($0)) }))
            planned.written = try recordedSteps(file.plan)
            return planned
        }
    }

    /// Makes a snapshot of the store, which needed one before.
    func makeSnapshot(_ path: FilePath) throws {
        let source = try opener.open(
            StoreLocation(store), scratch: folder, given: request.sourceModel, checksPages: false,
            snapshot: .toMake(path))
        guard source.isSnapshot else {
            throw EngineError.changed(store)
        }
    }

    private func route(_ number: Int) -> FilePath {
        folder.appending("plan.json.route-\(number)")
    }

    private func destination(of source: SourceStore) throws -> DestinationModel {
        switch request.destination {
        case .itself: try DestinationModel(of: source)
        case .model(let model): model
        }
    }

    /// - Throws: `RunError` naming what stands in the way; nothing but the run's own folder was
    ///   written.
    package func prepare() throws(RunError) -> PlannedStore {
        try RunError.translating {
            let (planned, connection) = try prepared()
            try connection.close()
            return planned
        }
    }

    /// Prepares and keeps the connection through which the source was read, for validation on
    /// the same thread: opening another one costs a small store as much as reading its rows.
    ///
    /// - Returns: the planned store, and the connection where validation runs on this thread.
    /// - Throws: `RunError`, as `prepare`.
    package func prepareConnected() throws(RunError) -> (
        planned: PlannedStore, connection: Connection?
    ) {
        try RunError.translating {
            let (planned, connection) = try prepared()
            if isInline(planned.source) {
                return (planned, connection)
            }
            try connection.close()
            return (planned, nil)
        }
    }

    private func prepared() throws -> (planned: PlannedStore, connection: Connection) {
        let (source, connection) = try opener.openConnected(
            StoreLocation(store), scratch: folder, given: request.sourceModel, checksPages: false,
            snapshot: .toMake(places.snapshot))
        try refuseWhatIsThere(source)
        do throws(RunError) {
            return try RunError.translating { try checked(source, connection) }
        } catch {
            throw error.unlessChanged(source)
        }
    }

    private func checked(
        _ source: SourceStore, _ connection: Connection
    ) throws -> (planned: PlannedStore, connection: Connection) {
        for object in source.extras where object.isRTree {
            try RTreeNodes.check(object.name, connection)
        }
        // Reading every page and counting rows take equally long: they share the cores.
        let isInline = isInline(source)
        var check: PageCheck?
        if checksPages { check = try PageCheck(source, over: connection, inline: isInline) }
        let way: ModelWay
        let first: PlannedStore
        do {
            way = try self.way(of: source)
            first = try plan(0, of: way, original: source, source, connection)
        } catch {
            // What the pages are like explains more than what was found in them.
            try (check ?? PageCheck(source, over: connection, inline: isInline)).finish()
            throw error
        }
        try check?.finish()
        if case .writtenOrLeft = steps, way.runsCodeOnTheWay {
            var left = first
            left.stepsLeft = way.legs.dropFirst().flatMap(\.steps)
            return (left, connection)
        }
        return try finished(first, connection, way)
    }

    /// A store that is swapped in place and of the destination's version was migrated before, or
    /// never needed it.
    private func refuseWhatIsThere(_ source: SourceStore) throws(RunError) {
        guard request.output == nil, case .model(let model) = request.destination,
            source.metadata.versionHashes == model.hashes.entities
        else { return }
        throw .alreadyThere(source.path)
    }

    private func way(of source: SourceStore) throws -> ModelWay {
        var isRewrite = false
        if case .itself = request.destination { isRewrite = true }
        return try ModelWay(
            from: source.model, hashes: VersionHashes(read: source.metadata.versionHashes),
            framework: source.metadata.framework, subject: source.path.description,
            ending: " Nothing was written.",
            to: try destination(of: source), isRewrite: isRewrite, options: request.options,
            cache: cache)
    }

    /// Plans one leg of the way.
    ///
    /// - Parameters:
    ///   - number: of the leg, from 0.
    ///   - way: of the store.
    ///   - original: the store as it was found.
    ///   - source: what the leg reads.
    ///   - connection: to that.
    ///   - written: the stores that earlier legs gave.
    /// - Returns: the leg's plan.
    /// - Throws: what stands in the way.
    func plan(
        _ number: Int, of way: ModelWay, original: SourceStore, _ source: SourceStore,
        _ connection: Connection, after written: [WrittenStore] = []
    ) throws -> PlannedStore {
        let leg = way.legs[number]
        let hashes = VersionHashes(read: source.metadata.versionHashes)
        try checkHistory(source, leg.inference, connection)
        let options = options(for: source, leg: number, of: way, bytes: original.bytes)
        var survey = StoreSurvey(
            store: source, destination: leg.layout, inference: leg.inference, files: files,
            connection: connection)
        survey.countsRenames = countsLosses
        let facts = try survey.facts(options: options) { route throws(EngineError) in
            try RouteRows(route, of: source, files: files).profile()
        }
        guard facts.missingExternalFiles == 0 || request.options.allowsMissingExternalData else {
            throw StoreError.externalDataMissing(
                path: source.path.description, count: Int(facts.missingExternalFiles))
        }
        var plan = try Planner.plan(
            source: source.layout, destination: leg.layout, inference: leg.inference,
            facts: facts, options: options, cache: cache.planning)
        plan.mappingName = leg.mappingName
        plan.steps = leg.steps
        plan.leg = number
        if number == 0 {
            plan.notes += request.options.ways.compared(for: hashes.digest)
            plan.intermediateRenames = request.options.intermediateRenames[hashes.digest]
            if way.passesMappingsBy {
                plan.notes.append(
                    "no given mapping is for this store's version: the mapping was inferred")
            }
        }
        try InlinedDataCheck.check(plan, store: source)
        let routes = try RouteRows.write(plan.routes, of: source, files: files, to: route)
        var planned = PlannedStore(
            laidOut: try LaidOutPlan(plan, cache: cache.planning.plans), original: original,
            source: source, destination: leg.destination, routes: routes)
        planned.written = written
        if countsLosses || options.losses.mayRefuse {
            try ValueTrial.run(planned.laidOut, store: source, connection: connection)
            planned.losses = try losses(of: planned, connection)
        }
        planned.unusedMappings = way.unusedMappings(of: request.options)
        return planned
    }

    /// Counts what the result will lack.
    ///
    /// - Throws: `EngineError.losses` where that is refused, `StoreError`.
    private func losses(of planned: PlannedStore, _ connection: Connection) throws -> [Loss] {
        let source = planned.source
        let validator = try Validator(
            scope: ValidationScope(
                plan: planned.plan, hashes: planned.destination.hashes, stores: cache.stores,
                cache: cache.validations),
            files: ValidationFiles(
                source: source.database, sourceExternalData: source.externalData,
                destination: places.building, destinationExternalData: source.externalData))
        var losses = try validator.losses(
            dropsHistory: planned.plan.options.history == .drop && source.hasHistory,
            source: connection)
        if let origins = planned.written.last?.origins { losses = origins.traced(losses) }
        try planned.plan.options.losses.check(losses, of: source.path)
        return losses
    }

    /// The request's options with chunks that suit the store: those that wait for the merge are
    /// a part of it only, and slots that are done first find work.
    ///
    /// `bytes`: of the original.
    private func options(
        for source: SourceStore, leg: Int, of way: ModelWay, bytes: Int64
    ) -> PlanOptions {
        var options = request.options
        // A plan is of one version: what is known of others would only make it larger.
        options.newerVersions = NewerVersions()
        options.versionNames = VersionNames()
        options.ways = VersionWays()
        options.intermediateRenames = IntermediateRenames()
        options.chunkBytes = min(
            options.chunkBytes, Self.chunkBytes(of: source.bytes, slots: slots))
        guard way.legs.count > 1 else { return options }
        if leg + 1 < way.legs.count {
            // It is written in one go, by the thread that prepares the store.
            options.strategy = .whole
            options.partition = .auto
        } else if way.runsCodeOnTheWay {
            options.strategy = .whole
            options.partition = .auto
        } else if options.strategy == nil {
            // The store that was found decided who migrates it.
            options.strategy = bytes <= PlanOptions.wholeLimit ? .whole : .partitioned
        }
        if leg > 0, case .uuid(let attributes) = options.partition {
            // They are those of the store that was found. What is not here any more is cut by keys.
            let kept = StoreSurvey.routable(attributes, in: source)
            options.partition = kept.isEmpty ? .key : .uuid(kept)
        }
        return options
    }

    /// The most bytes that a chunk of a store may have, whatever the options allow.
    package static func chunkBytes(of bytes: Int64, slots: Int) -> Int64 {
        max(smallestChunk, bytes / (8 * Int64(max(1, min(slots, 1 << 16)))))
    }

    /// Smaller chunks cost more in the ledger than they bring.
    private static let smallestChunk: Int64 = 2 << 20

    private func checkHistory(
        _ source: SourceStore, _ inference: Inference, _ connection: Connection
    ) throws {
        guard request.options.history == .keep, source.hasHistory else { return }
        let changed = try HistoryCheck.changedEntities(
            in: connection, layout: source.layout, mapping: inference.mapping)
        guard changed.isEmpty else {
            throw EngineError.dataRefused(
                "\(source.path): history cannot be kept, because properties of "
                    + "\(changed.joined(separator: ", ")) change and recorded changes name them "
                    + "by position. Drop history instead. Nothing was written")
        }
    }
}
