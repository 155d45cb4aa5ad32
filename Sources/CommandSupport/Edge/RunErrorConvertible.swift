import DurableFiles
import ManagedObjectModel
import MappingInference
import MappingModel
import MigrationPlans
import RunLedger
import RunService
import SafeSQLite
import StateFolders
import StoreRuns
import StoreSwap

/// An error of a layer below that has its place among the errors of a run.
protocol RunErrorConvertible: Error {
    var runError: RunError { get }
}

extension RunError: RunErrorConvertible {
    var runError: RunError { self }
}

extension StoreError: RunErrorConvertible {
    var runError: RunError { .store(self) }
}

extension ModelError: RunErrorConvertible {
    var runError: RunError { .model(self) }
}

extension InferenceError: RunErrorConvertible {
    var runError: RunError { .inference(self) }
}

extension MappingMismatch: RunErrorConvertible {
    var runError: RunError { .mapping(self) }
}

extension PlanError: RunErrorConvertible {
    var runError: RunError { .plan(self) }
}

extension EngineError: RunErrorConvertible {
    var runError: RunError { .engine(self) }
}

extension SwapError: RunErrorConvertible {
    var runError: RunError { .swap(self) }
}

extension LedgerError: RunErrorConvertible {
    var runError: RunError { .ledger(self) }
}

extension DurableFileError: RunErrorConvertible {
    var runError: RunError { .file(self) }
}
