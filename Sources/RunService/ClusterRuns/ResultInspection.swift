import CoreDataStore
import DurableFiles
import Foundation
import Jobs
import MigrationPlans
import MigrationValidation
import RunLedger
import SafeSQLite
import StateFolders
import StoreFileChecks
import StoreRuns
import Synchronization

/// A worker's result of a small store that this process has held against the source.
struct InspectedResult: Sendable {
    /// What this process computed of it; only the times of building come from the worker.
    let result: StoreResult
    /// Of the source, as this process read it.
    let fingerprint: StoreFingerprint
    /// Whether a snapshot lies beside the result, made by this process.
    let hasSnapshot: Bool
    /// The file that was inspected; no other one takes the store's place.
    let building: FileIdentity
}

/// Looks at what a worker made of a small store: the source is opened and planned here, and the
/// result is held against it as the worker should have done.
///
/// A result is a stranger's file. Nothing in it runs, and nothing that the worker says of it counts
/// where it can be computed.
struct ResultInspection {
    let shared: ClusterRun
    let found: FoundStore
    /// The attempt's files, in a folder of this process.
    let places: StorePaths
    /// The folder that the worker wrote to, for its external data.
    let attempt: FilePath

    private var files: DurableFileSystem { shared.context.files }
    private var cache: MigrationCache { shared.context.cache }

    /// The longest time that a step may have taken, in seconds.
    private static let longestStep = 1e7

    /// Inspects the result.
    ///
    /// - Parameter receipt: whose files lie in `places` and are those that it names.
    /// - Returns: what was found, for the swap and the report.
    /// - Throws: `RunError.badDelivery` for a result that is not what the store must become,
    ///   `engine(.sourceChanged)` where the store was written since the worker read it, and what
    ///   stands in the way of reading the store.
    func run(_ receipt: Receipt) throws(RunError) -> InspectedResult {
        let outcome = receipt.hasOutcome ? try WholeStoreOutcome(at: places, files) : nil
        guard let times = receipt.times else {
            throw .badDelivery("its receipt has counts that do not fit its kind of job")
        }
        let store = try shared.locations(of: found).store.database
        let steps = StoreSteps(clock: shared.context.environment.clock)
        let (planned, connection) = try prepare(store, receipt.sums)
        // Not known of what an earlier process offered.
        let read =
            outcome?.fingerprint ?? shared.offered.withLock { $0[found.number] }
        if let read {
            let changes = planned.source.fingerprint.differences(from: read)
            guard changes.subtracting([.place, .changed]).isEmpty else {
                throw .engine(.changed(store))
            }
        }
        let before = try identity()
        let report: ValidationReport
        do throws(RunError) {
            report = try compare(planned, connection, steps, receipt.sums, in: places)
        } catch {
            // What its job read of the store is unknown.
            guard read == nil, case .badDelivery = error,
                planned.source.fingerprint.wasWritten(after: before.modified)
            else { throw error }
            throw .engine(.changed(store))
        }
        guard try identity() == before else {
            throw .badDelivery("it was written while it was validated")
        }
        let told = outcome?.seconds ?? times
        var seconds = told.filter { (0...Self.longestStep).contains($0.value) }
        seconds.merge(steps.seconds) { theirs, _ in theirs }
        var result = StoreResult(
            planned, validation: report, output: found.output?.database, outputBytes: before.size,
            seconds: seconds)
        result.store = store
        let rows = planned.plan.sourceRows.values.reduce(0, +)
        let labels =
            planned.plan.recordedLabels
            + zip(planned.writtenLegs, planned.written).flatMap { leg, store in
                store.recordedSums.keys.map { WrittenStore.label($0, leg: leg) }
            }
        let others = receipt.files.count - (receipt.hasOutcome ? 2 : 1)
        guard receipt.isOwn || others == planned.writtenFiles(in: places).count else {
            throw .badDelivery("it has other intermediate stores than its chain writes")
        }
        guard receipt.rows == rows,
            Set(receipt.sums.keys).isSubset(of: labels)
        else {
            throw .badDelivery("its receipt differs from what was found")
        }
        return InspectedResult(
            result: result, fingerprint: planned.source.fingerprint,
            hasSnapshot: planned.original.isSnapshot, building: before)
    }

    private func identity() throws(RunError) -> FileIdentity {
        try RunError.translating { try FileStatus(ofLink: places.building).identity }
    }

    /// Holds a store that was written on the way against what its leg must give.
    private func checkStep(
        _ planned: PlannedStore, _ sums: [String: ContentSum]
    ) throws(RunError) -> WrittenStore {
        let leg = planned.plan.leg + 1
        let step = places.written(leg)
        let status = try RunError.translating { try FileStatus.ifPresentLink(step.building) }
        guard let status else { throw .badDelivery("the store of step \(leg) is missing") }
        var own: [String: ContentSum] = [:]
        for label in planned.plan.recordedLabels {
            own[label] = sums[WrittenStore.label(label, leg: leg)]
        }
        let report = try compare(
            planned, nil, StoreSteps(clock: shared.context.environment.clock), own, in: step)
        return WrittenStore(
            planned, bytes: status.identity.size, validation: report, recordedSums: own)
    }

    /// Opens and plans the store as the worker did.
    private func prepare(
        _ store: FilePath, _ sums: [String: ContentSum]
    ) throws(RunError) -> (planned: PlannedStore, connection: Connection?) {
        do throws(RunError) {
            try RunError.translating {
                // One that is gone is told as missing, not as one that cannot be read.
                _ = try FileStatus(of: store)
                // What an earlier inspection left.
                try removeSnapshot()
            }
            let prepared = try StorePreparation(
                store: store, request: shared.context.request, places: places, files: files,
                cache: cache, slots: 1, steps: .delivered { try checkStep($0, sums) }
            ).prepareConnected()
            guard prepared.planned.plan.strategy == .whole else {
                throw .engine(.wrongPlan("\(store) must be split into chunks"))
            }
            return prepared
        } catch {
            // Another program migrated it meanwhile.
            guard case .alreadyThere = error else { throw error }
            throw .engine(.changed(store))
        }
    }

    private func removeSnapshot() throws(DurableFileError) {
        for file in StoreLocation(places.snapshot).files {
            if try FileStatus.ifPresentLink(file) != nil { try files.unlink(file) }
        }
    }

    // MARK: - The result

    /// Validates the result; whatever cannot be read of it is the result's fault.
    private func compare(
        _ planned: PlannedStore, _ connection: Connection?, _ steps: StoreSteps,
        _ recordedSums: [String: ContentSum], in places: StorePaths
    ) throws(RunError) -> ValidationReport {
        let report: ValidationReport
        do throws(RunError) {
            let builder = ResultBuilder(
                places: places, files: files, cache: cache, slots: 1,
                // A store on the way has the source's external data.
                isInPlace: found.output == nil || places.building != self.places.building,
                steps: steps)
            let validation = try RunError.engine { () throws(EngineError) in
                try builder.beginValidation(
                    planned, connection, recordedSums: recordedSums, pagesAreChecked: true)
            }
            defer { validation.end() }
            try inspect(planned, validation, in: places)
            report = try RunError.engine { () throws(EngineError) in
                try builder.finish(validation)
            }
        } catch {
            if error.isOutOfSpace || error.isOutOfMemory || error.isCancelled { throw error }
            if case .badDelivery = error { throw error }
            let explained = error.unlessChanged(planned.original)
            if explained.cause == .sourceChanged { throw explained }
            throw .badDelivery("it cannot be read: \(PrintableText.line(error.description))")
        }
        guard report.isEqual else {
            let failure = RunError.validationFailed(report).unlessChanged(planned.original)
            guard case .validationFailed = failure else { throw failure }
            throw .badDelivery(
                "it is not what the store must become: "
                    + PrintableText.line(report.lines.dropFirst(2).joined(separator: "; ")))
        }
        return report
    }

    /// Checks what lies in the result beside the rows that are validated.
    private func inspect(
        _ planned: PlannedStore, _ validation: ValidationRun, in places: StorePaths
    ) throws(RunError) {
        let check = MadeFileCheck(
            MadeFileCheck.Expectation(planned.laidOut), source: planned.source,
            destination: planned.destination, stores: cache.stores)
        let findings = try RunError.translating {
            let faults = try StrangersFile.faults(of: places.building, files)
            var findings = try validation.inspect(check)
            findings.faults = faults + findings.faults
            return findings
        }
        guard findings.faults.isEmpty else {
            throw .badDelivery(findings.faults.prefix(8).joined(separator: "; "))
        }
        if found.output != nil, places.building == self.places.building {
            try takeExternalData(findings.externalNames, planned)
        }
    }

    /// Takes the files of external data that the result refers to, and no other ones.
    private func takeExternalData(
        _ wanted: Set<String>, _ planned: PlannedStore
    ) throws(RunError) {
        let support = attempt.appending(places.buildingSupport.lastComponent)
        let from = support.appending(StoreLocation.externalDataName)
        let own = places.buildingSupport.appending(StoreLocation.externalDataName)
        try RunError.translating {
            let there = try Self.names(in: from, files)
            let above = try Self.names(in: support, files)
            guard above.allSatisfy({ $0 == FilePath(StoreLocation.externalDataName) }) else {
                throw RunError.badDelivery("its support folder has unexpected content")
            }
            let surplus = there.filter { name in
                name.string.map { !wanted.contains($0) } ?? true
            }
            guard surplus.isEmpty else {
                throw RunError.badDelivery(
                    "\(surplus.count) files of external data belong to no object of it")
            }
            if !there.isEmpty { try files.makeScratchFolders(own) }
            for name in there {
                let original = planned.source.externalData.appending(name)
                guard let size = try FileStatus.ifPresent(original)?.size else {
                    throw RunError.badDelivery("a file of external data is not the source's")
                }
                if planned.plan.options.linksExternalData {
                    let place = own.appending(name)
                    if try FileStatus.ifPresentLink(place) == nil {
                        try files.linkWithoutSync(from: original, to: place)
                    }
                    let linked = try FileStatus(ofLink: place).identity
                    guard linked.isFile(try FileStatus(of: original).identity) else {
                        throw RunError.badDelivery("external data is not linked to the source's")
                    }
                } else {
                    try files.take(name, from: from, into: own, limit: size)
                }
            }
            // Also what an earlier call took.
            let taken = try Self.names(in: own, files)
            guard taken.allSatisfy({ $0.string.map(wanted.contains) == true }) else {
                throw RunError.badDelivery("files of external data belong to no object of it")
            }
            if shared.limits.isDurable, !taken.isEmpty { try files.syncFolder(own) }
        }
    }

    /// The names in a folder that may be missing.
    private static func names(
        in folder: FilePath, _ files: DurableFileSystem
    ) throws(DurableFileError) -> [FilePath] {
        guard try FileStatus.ifPresentLink(folder) != nil else { return [] }
        return try files.plainNames(in: folder)
    }
}
