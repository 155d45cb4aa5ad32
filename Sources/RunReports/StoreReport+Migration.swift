import DurableFiles
import Jobs
import MigrationEngine
package import MigrationPlans
import MigrationValidation
package import RunLedger
import RunService
import SafeSQLite
package import StoreRuns

extension StoreReport {
    /// The report on a store as the ledger knows it.
    ///
    /// - Parameters:
    ///   - store: of the run.
    ///   - record: what was kept of its end; nil for a store that has not come to it.
    ///   - names: of versions, as the run's destination has them.
    package init(_ store: StoreSummary, _ record: StoreRecord?, names: VersionNames) {
        self.init(
            store: store.found.path.description, outcome: StoreOutcome(store.state),
            bytes: Change(before: store.found.bytes))
        attempts = store.resets + 1
        switch record {
        case .result(let result): take(result, isThere: store.state == .done, names)
        case .failure(let cause):
            guard store.state == .failed else { return }
            failure = Failure(
                cause: cause, status: CommandStatus(cause).rawValue,
                reason: store.reason?.text ?? cause.title)
        case .unchanged:
            if store.state == .done { outcome = .unchanged }
            notes = ["it already had the destination's version"]
        case nil: break
        }
    }

    private mutating func take(_ found: StoreResult, isThere: Bool, _ names: VersionNames) {
        let validation = found.validation
        source = ModelVersion(
            identifiers: found.from.identifiers, digest: found.from.digest,
            name: names[found.from.digest])
        destination = ModelVersion(
            identifiers: found.to.identifiers, digest: found.to.digest,
            name: names[found.to.digest])
        let between = found.steps.dropLast().map(\.version)
        steps =
            [source?.label].compactMap(\.self) + between
            + [destination?.label].compactMap(\.self)
        writtenSteps = found.steps.filter { $0.reasonToWrite != nil }.map(\.version)
        strategy = found.strategy
        rows = Change(before: validation.sourceRows, after: validation.rows)
        bytes = Change(before: found.sourceBytes, after: found.outputBytes)
        result = isThere ? found.output.description : nil
        seconds = Dictionary(
            uniqueKeysWithValues: found.seconds.map { ($0.key.rawValue, $0.value) })
        chunks = found.strategy == .whole ? 0 : found.chunks + found.linkChunks
        inherited = validation.inherited
        losses = validation.losses
        droppedObjects = found.extras.filter { !$0.isKept }.map {
            "\($0.object.kind.rawValue) \($0.object.name): \($0.reason)"
        }
        notes = found.notes + validation.notes + found.leftovers
        warnings = found.leftovers
        oddities = found.oddities
        self.validation = Sums(validation)
        if isThere, let kept = found.backup {
            backup = Backup(path: kept.description, bytes: found.sourceBytes)
        }
    }
}

extension StoreOutcome {
    /// The outcome of a store in a state of the ledger.
    init(_ state: StoreState) {
        switch state {
        case .waiting, .running, .cancelled: self = .notStarted
        case .validated: self = .deferred
        case .done: self = .done
        case .failed: self = .failed
        case .rolledBack: self = .rolledBack
        case .pruned: self = .pruned
        }
    }
}
