package import CoreDataStore
import DurableFiles
import Foundation
import Jobs
import MigrationEngine
package import MigrationPlans
import RunLedger
package import SafeSQLite
package import StateFolders

extension StoreRun {
    /// Opens and plans the store from scratch; what an earlier try left is removed first.
    ///
    /// - Returns: the store, and a connection to it where everything runs on this thread.
    /// - Throws: `RunError` naming what stands in the way.
    package func prepared() throws(RunError) -> (planned: PlannedStore, connection: Connection?) {
        do throws(DurableFileError) {
            try places.removeAll(context.files)
            // Routes of UUIDs and shards need it; a small store has none of them.
            if slots > 1 || context.request.options.partition != .auto {
                try places.make(context.files)
            }
            if let output = found.output {
                try OutputFolder.make(
                    output.database.parent, below: context.request.output, context.files)
            }
        } catch {
            throw .file(error)
        }
        return try preparation.prepareConnected()
    }

    private var preparation: StorePreparation {
        StorePreparation(
            store: found.path, request: context.request, places: places, files: context.files,
            cache: context.cache, slots: slots, lock: lock,
            steps: .writtenOrLeft)
    }

    /// Writes the plan that jobs go by from here on.
    package func write(_ file: PlanFile) throws(RunError) {
        try RunError.translating {
            try places.make(context.files)
            try context.files.publish(file.bytes, to: places.plan)
        }
    }

    /// The text of a source's fingerprint, as preparations record it.
    ///
    /// - Throws: `RunError.engine`.
    package func fingerprint(of source: SourceStore) throws(RunError) -> String {
        do throws(EngineError) {
            return try source.fingerprint.localText()
        } catch {
            throw .engine(error)
        }
    }

    /// What an earlier process left of a store's progress.
    package enum Progress {
        case none
        /// The store as it was planned; everything that its progress rests on is as it was.
        case kept(PlannedStore)
        /// It does not count any more, for the reason that is told.
        case void(String)
    }

    /// Looks at what an earlier process left; nothing is forgotten.
    ///
    /// - Throws: `RunError` where the store or the ledger cannot be read.
    package func progress() throws(RunError) -> Progress {
        let known = try context.read { ledger throws(LedgerError) in
            try ledger.store(run: context.id, found.number)
        }
        guard let preparation = known?.preparation else { return .none }
        if let reason = try obstacle(to: preparation) { return .void(reason) }
        let file: PlanFile
        do throws(EngineError) {
            file = try PlanFile(reading: places.plan, digest: preparation.planDigest)
        } catch {
            return .void("its plan is missing or damaged")
        }
        if file.plan.leg > 0, try !hasWritten(before: file.plan) {
            return .void("the store that an earlier step wrote is gone or damaged")
        }
        let planned = try step(.prepare) { () throws(RunError) in
            if preparation.hasSnapshot {
                let there = try RunError.translating { try FileStatus.ifPresent(places.snapshot) }
                if there == nil { try remakeSnapshot() }
            }
            return try self.preparation.reopened(file, hasSnapshot: preparation.hasSnapshot)
        }
        // It may have been written between the look before and now.
        guard try fingerprint(of: planned.source) == preparation.sourceFingerprint else {
            return .void("the source changed")
        }
        return .kept(planned)
    }

    /// Whether what a plan reads was written and is still there.
    private func hasWritten(before plan: MigrationPlan) throws(RunError) -> Bool {
        do {
            guard try FileStatus.ifPresent(places.written(plan.leg).building) != nil else {
                return false
            }
            return try preparation.recordedSteps(plan).count == plan.leg
        } catch {
            return false
        }
    }

    /// Makes the snapshot again of a store that has not changed.
    ///
    /// - Throws: `RunError.engine(.sourceChanged)` where it has.
    package func remakeSnapshot() throws(RunError) {
        try RunError.translating {
            try places.removeNewSnapshot(context.files)
            try preparation.makeSnapshot(places.newSnapshot)
            // A half-made one never has the name that is trusted.
            try context.files.rename(places.newSnapshot, to: places.snapshot, existing: .replace)
        }
        let known = try context.read { ledger throws(LedgerError) in
            try ledger.store(run: context.id, found.number)?.preparation
        }
        let now = try RunError.translating {
            try StoreFingerprint(of: found.path).localText()
        }
        guard known?.sourceFingerprint == now else {
            throw .engine(.changed(found.path))
        }
    }

    /// Why progress under a preparation does not count any more; nil where it does.
    private func obstacle(to preparation: Preparation) throws(RunError) -> String? {
        guard preparation.engine == MigrationPlan.engineVersion else {
            return "engine \(preparation.engine) planned it, but this is engine "
                + MigrationPlan.engineVersion
        }
        // Shards and the file that is being built were never synced.
        guard preparation.bootIdentifier == context.environment.bootIdentifier else {
            return "the machine was restarted, and unsynced files are not trusted"
        }
        return try RunError.translating {
            let now = try StoreFingerprint(of: found.path).localText()
            if now != preparation.sourceFingerprint { return "the source changed" }
            return nil
        }
    }
}
