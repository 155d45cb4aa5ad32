import CoreDataStore
import DurableFiles
import Jobs
import MigrationEngine
import RunLedger

extension StoreRun {
    /// Builds results of this run.
    var builder: ResultBuilder {
        ResultBuilder(
            places: places, files: context.files, cache: context.cache, slots: slots,
            isInPlace: isInPlace, steps: steps)
    }

    /// Migrates a large store in chunks, each of which is copied once, whatever happens.
    func buildPartitioned(_ planned: PlannedStore) throws(RunError) -> ResultBuilder.Built {
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
            let report = try builder.complete(planned, assembler, nil)
            // In exclusive locking mode SQLite leaves an empty journal behind.
            try EngineError.translating {
                try context.files.remove(places.building.adding(suffix: "-journal"))
            }
            return ResultBuilder.Built(validation: report, isDurable: slots > 1)
        }
    }

    private func isRecorded() throws(RunError) -> Bool {
        try context.read { ledger throws(LedgerError) in
            try ledger.store(run: context.id, found.number)?.preparation != nil
        }
    }
}
