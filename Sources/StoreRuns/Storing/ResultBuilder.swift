import CoreDataStore
package import DurableFiles
package import Jobs
package import MigrationEngine
package import MigrationPlans
package import MigrationValidation
package import SafeSQLite
package import StateFolders

/// Builds and validates results from plans; it knows files and no run.
package struct ResultBuilder {
    package let places: StorePaths
    let files: DurableFileSystem
    /// What is known of stores of the same app.
    let cache: MigrationCache
    /// Jobs at a time; 1 does everything on the caller's thread.
    let slots: Int
    let isInPlace: Bool
    let steps: StoreSteps
    /// The migration policies that the process carries.
    let policies: PolicyLibrary

    package init(
        places: StorePaths, files: DurableFileSystem, cache: MigrationCache, slots: Int,
        isInPlace: Bool, steps: StoreSteps, policies: PolicyLibrary = PolicyLibrary()
    ) {
        self.policies = policies
        self.places = places
        self.files = files
        self.cache = cache
        self.slots = slots
        self.isInPlace = isInPlace
        self.steps = steps
    }

    /// Migrates a small store in one go.
    ///
    /// - Parameters:
    ///   - planned: the store and its plan, which no job names and no process writes down.
    ///   - connection: to the source, where everything runs on this thread.
    ///   - validates: whether the result is held against its source.
    /// - Returns: what the validation found, nil where there was none, and the sums over what
    ///   policies gave.
    /// - Throws: `RunError`.
    package func buildWhole(
        _ planned: PlannedStore, _ connection: Connection?, validates: Bool
    ) throws(RunError) -> (report: ValidationReport?, recordedSums: [String: ContentSum]) {
        try RunError.engine { () throws(EngineError) in
            if try rebuild(planned) {
                let report = validates ? try finish(try beginValidation(planned, connection)) : nil
                return (report, [:])
            }
            // Links are filled in by updates, which indexes would make dear.
            let isBlank =
                planned.source.bytes <= BlankStore.sourceLimit && planned.plan.links.isEmpty
            try EngineError.translating {
                let file = try files.create(places.building)
                if isBlank {
                    let layout = planned.laidOut.destination
                    try file.write(cache.stores.blank(of: layout, .withEqualValues).bytes)
                }
                try file.close()
            }
            let assembler = try StoreAssembler(
                plan: planned.laidOut, source: planned.source, at: places.building,
                isBlank: isBlank, policies: policies, attempt: places.folder, files: files)
            try steps.step(.copy) { () throws(EngineError) in try assembler.copyDirectly() }
            guard validates else {
                try finish(planned, assembler)
                return (nil, assembler.recordedSums)
            }
            let report = try complete(planned, assembler, connection)
            return (report, assembler.recordedSums)
        }
    }

    /// Threads that make rows; one thread puts the rows of all in their places.
    private static let mostThreads = 8

    private func storeRebuild(_ planned: PlannedStore) -> StoreRebuild? {
        StoreRebuild(
            planned.laidOut, source: planned.source, threads: min(slots, Self.mostThreads),
            files: files)
    }

    /// Makes the file page by page.
    ///
    /// - Parameter planned: the store and its plan.
    /// - Returns: false where statements have to make it; then there is no file.
    /// - Throws: `EngineError`.
    package func rebuild(_ planned: PlannedStore) throws(EngineError) -> Bool {
        guard let rebuild = storeRebuild(planned) else { return false }
        let isMade = try steps.step(.copy) { () throws(EngineError) in
            try rebuild.run(to: places.building, planned.destination, scratch: places.folder)
        }
        guard isMade else { return false }
        if !isInPlace {
            try steps.step(.index) { () throws(EngineError) in
                try carryExternalData(planned, layout: planned.laidOut.destination)
            }
        }
        return true
    }

    /// Indexes, everything else, and the validation, which may begin before them.
    package func complete(
        _ planned: PlannedStore, _ assembler: StoreAssembler, _ connection: Connection?
    ) throws(EngineError) -> ValidationReport {
        let validation = try beginValidation(
            planned, connection, recordedSums: assembler.recordedSums)
        defer { validation.end() }
        try finish(planned, assembler)
        return try finish(validation)
    }

    /// Begins the validation with its source's side, which stands still and can be summed while
    /// indexes are built.
    ///
    /// - Parameters:
    ///   - planned: the store and its plan.
    ///   - connection: to the source, for what runs on the caller's thread.
    ///   - recordedSums: over what policies gave, by labels.
    ///   - pagesAreChecked: whether SQLite's check of the result's pages was run before.
    /// - Returns: the validation, to be finished and ended.
    /// - Throws: `EngineError` where threads cannot be started.
    package func beginValidation(
        _ planned: PlannedStore, _ connection: Connection?,
        recordedSums: [String: ContentSum] = [:], pagesAreChecked: Bool = false
    ) throws(EngineError) -> ValidationRun {
        let validation = try ValidationRun(
            planned: planned, building: places.building, slots: slots,
            externalData: isInPlace
                ? planned.source.externalData
                : places.buildingSupport.appending(StoreLocation.externalDataName),
            cache: cache, recordedSums: recordedSums, source: connection,
            pagesAreChecked: pagesAreChecked)
        validation.beginSource()
        return validation
    }

    /// Indexes and everything else that makes the file complete.
    package func finish(_ planned: PlannedStore, _ assembler: StoreAssembler) throws(EngineError) {
        try steps.step(.index) { () throws(EngineError) in
            try assembler.buildIndexes(helpers: slots > 1 ? 1 : 0, scratch: places.folder)
            try assembler.finish(planned.destination)
            if !isInPlace { try carryExternalData(planned, layout: planned.laidOut.destination) }
        }
    }

    /// Validates the complete file, and makes it durable meanwhile where there are slots for that.
    package func finish(_ validation: ValidationRun) throws(EngineError) -> ValidationReport {
        guard slots > 1 else { return try validate(validation) }
        // Nothing is written any more: the disk may work while the processors compare.
        let sync = try FileSync(places.building, files: files)
        let report: ValidationReport
        do throws(EngineError) {
            report = try validate(validation)
        } catch {
            try sync.finish()
            throw error
        }
        try sync.finish()
        return report
    }

    private func validate(_ validation: ValidationRun) throws(EngineError) -> ValidationReport {
        try steps.step(.validate) { () throws(EngineError) in try validation.finish() }
    }

    /// Brings external data files to the place that the result will have.
    private func carryExternalData(
        _ planned: PlannedStore, layout: StoreLayout
    ) throws(EngineError) {
        // A copy that was cut short looks like a whole one.
        try EngineError.translating {
            if try FileStatus.ifPresent(places.buildingSupport) != nil {
                try files.removeTree(places.buildingSupport)
            }
        }
        let carrier = ExternalDataCarrier(
            files: files, links: planned.plan.options.linksExternalData)
        _ = try carrier.carry(
            layout: layout, database: places.building, from: planned.source.externalData,
            to: places.buildingSupport.appending(StoreLocation.externalDataName))
    }

    /// A fault that was met in a file of our own lies in the rows that were put there: it is
    /// reported as one of the store that they come from.
    package static func named(_ error: RunError, _ source: FilePath) -> RunError {
        guard case .engine(.store(.notAStore(_, let reason))) = error else { return error }
        return .engine(.store(.notAStore(path: source.description, reason: reason)))
    }
}
