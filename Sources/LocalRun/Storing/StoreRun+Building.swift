import CoreDataStore
import DurableFiles
import Jobs
import MigrationEngine
import RunLedger

extension StoreRun {
    /// Migrates a small store in one go.
    ///
    /// - Parameters:
    ///   - planned: the store and its plan, which no job names and nobody writes down.
    ///   - connection: to the source, where everything runs on this thread.
    /// - Returns: what was built.
    /// - Throws: `RunError`.
    func buildWhole(
        _ planned: PlannedStore, _ connection: Connection?
    ) throws(RunError) -> Built {
        try RunError.engine { () throws(EngineError) in
            // Links are filled in by updates, which indexes would make dear.
            let isBlank =
                planned.source.bytes <= BlankStore.sourceLimit && planned.plan.links.isEmpty
            try EngineError.translating {
                let file = try context.files.create(places.building)
                if isBlank {
                    let layout = planned.laidOut.destination
                    try file.write(context.cache.stores.blank(of: layout).bytes)
                }
                try file.close()
            }
            let assembler = try StoreAssembler(
                plan: planned.laidOut, source: planned.source, at: places.building,
                isBlank: isBlank)
            try step(.copy) { () throws(EngineError) in try assembler.copyDirectly() }
            let report = try complete(planned, assembler, connection)
            return Built(validation: report, isDurable: slots > 1)
        }
    }

    /// Migrates a large store in chunks, each of which is copied once, whatever happens.
    func buildPartitioned(_ planned: PlannedStore) throws(RunError) -> Built {
        let file = try RunError.engine { () throws(EngineError) in try PlanFile(planned.laidOut) }
        if try !isRecorded() { try record(planned, file) }
        let assembler = try RunError.engine { () throws(EngineError) in
            try EngineError.translating {
                if try FileStatus.ifPresent(places.building) == nil {
                    try context.files.create(places.building).close()
                }
            }
            return try StoreAssembler(
                plan: file, source: planned.source, at: places.building,
                recovery: .transactions)
        }
        try ShardAssembly(run: self, planned: planned, file: file, assembler: assembler)
            .assemble()
        return try RunError.engine { () throws(EngineError) in
            let report = try complete(planned, assembler, nil)
            // In exclusive locking mode SQLite leaves an empty journal behind.
            try EngineError.translating {
                try context.files.remove(places.building.adding(suffix: "-journal"))
            }
            return Built(validation: report, isDurable: slots > 1)
        }
    }

    private func isRecorded() throws(RunError) -> Bool {
        try context.read { ledger throws(LedgerError) in
            try ledger.store(run: context.id, found.number)?.preparation != nil
        }
    }

    /// Indexes, everything else, and the validation, which may begin before them.
    private func complete(
        _ planned: PlannedStore, _ assembler: StoreAssembler, _ connection: Connection?
    ) throws(EngineError) -> ValidationReport {
        let validation = try ValidationRun(
            planned: planned, building: places.building, slots: slots,
            externalData: isInPlace
                ? planned.source.externalData
                : places.buildingSupport.appending("_EXTERNAL_DATA"),
            cache: context.cache, source: connection)
        defer { validation.end() }
        // The source stands still, so its side can be summed while indexes are built.
        validation.beginSource()
        try step(.index) { () throws(EngineError) in
            try assembler.buildIndexes(helpers: slots > 1 ? 1 : 0)
            try assembler.finish(planned.destination)
            if !isInPlace { try carryExternalData(planned, layout: planned.laidOut.destination) }
        }
        guard slots > 1 else { return try validate(validation) }
        // Nothing is written any more: the disk may work while the processors compare.
        let sync = try FileSync(places.building, files: context.files)
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
        try step(.validate, jobs: validation.count) { () throws(EngineError) in
            try validation.finish { rows in
                observe(.jobDone(.validate, rows: rows, bytes: 0))
            }
        }
    }

    /// Brings external data files to the place that the result will have.
    private func carryExternalData(
        _ planned: PlannedStore, layout: StoreLayout
    ) throws(EngineError) {
        // A copy that was cut short looks like a whole one.
        try EngineError.translating {
            if try FileStatus.ifPresent(places.buildingSupport) != nil {
                try context.files.removeTree(places.buildingSupport)
            }
        }
        let carrier = ExternalDataCarrier(
            files: context.files, links: planned.plan.options.linksExternalData)
        _ = try carrier.carry(
            layout: layout, database: places.building, from: planned.source.externalData,
            to: places.buildingSupport.appending("_EXTERNAL_DATA"))
    }
}
