import CoreDataStore
package import DurableFiles
package import Jobs
package import ManagedObjectModel
import MappingInference
package import MappingModel
package import MigrationPlans
package import MigrationValidation
package import RunLedger
package import SafeSQLite
package import StoreSwap

/// Why a store could not be migrated.
///
/// The original is as it was, and no result was published.
package enum RunError: Error, Sendable {
    case store(StoreError)
    case model(ModelError)
    case inference(InferenceError)
    case mapping(MappingMismatch)
    case plan(PlanError)
    case engine(EngineError)
    case swap(SwapError)
    case file(DurableFileError)
    /// The ledger could not be opened, read or written.
    case ledger(LedgerError)
    /// There is something at the result's path already.
    case outputExists(FilePath)
    /// A result has its name already, and is of the store as it was before it was written again.
    case outdatedOutput(FilePath, store: FilePath)
    /// A result has its name already, and the folder of its external data is gone.
    case incompleteOutput(FilePath, externalData: FilePath)
    /// A publication was stopped after its external data had their name, and something is in the
    /// way of taking them back: the folder itself, which has changed, or a file of the result's
    /// name.
    case halfPublished(inTheWay: FilePath, externalData: FilePath)
    /// Differences between source and result; nothing was published.
    case validationFailed(ValidationReport)
    /// An unfinished run has the store and was asked for something else.
    case otherRun(id: String, store: FilePath, state: FilePath)
    /// An unfinished run has the store and was begun by a version with another engine.
    case runOfOtherVersion(id: String, store: FilePath, state: FilePath, engine: String)
    /// There is nothing that the command could work on; the text says what was looked for.
    case nothingToDo(String)
    /// No store of the run has failed, or not the one that was named: there is nothing to replay.
    case nothingFailed(run: String, store: FilePath?)
    /// The state folder has no run of that id, or none at all.
    case noRun(id: String?, state: FilePath)
    /// What remains of a store that is gone must not be removed unless that is asked for.
    case lostStore(String)
    /// The store is of the destination's version already; nothing is to be done.
    case alreadyThere(FilePath)
    /// The run was stopped before the store came to its end.
    case stopped
    /// Threads, processes or sockets are not to be had; the text says which, and why.
    case resources(String)
    /// A file system has less room than the run needs; nothing was begun.
    case noRoom(SpaceShortage)
    /// What a worker delivered is not what its receipt says, or not what the store must become;
    /// the text says in what.
    case badDelivery(String)
    /// A result that is to be compared with its original is not of the destination's version; the
    /// names of the entities that differ.
    case resultOfOtherModel(String, entities: String)
    /// A result that is to be compared with its original holds no model.
    case resultWithoutModel(String)
    /// A file lies in none of the folders that the coordinator and its workers share.
    case notShared(FilePath)
}

extension RunError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .store(let error): error.description
        case .model(let error): error.description
        case .inference(let error): error.description
        case .mapping(let error): error.description
        case .plan(let error): error.description
        case .engine(let error): error.description
        case .swap(let error): error.description
        case .file(let error): error.description
        case .ledger(let error): error.description
        case .outputExists(let path):
            "\(path) exists already; nothing was written. Remove it, or choose another output "
                + "folder"
        case .outdatedOutput(let path, let store):
            "\(store) was changed after Godwit built its result \(path). Godwit changed neither "
                + "file. Move the result and its external data elsewhere, then replay the store"
        case .incompleteOutput(let path, let folder):
            "the result \(path) lost its external data \(folder) after its publication. Godwit did "
                + "not change the original. Put the folder back, or move the result elsewhere, "
                + "then replay the store"
        case .halfPublished(let path, let folder):
            (path == folder
                ? "the external data \(folder) of a stopped publication, or its database, have "
                    + "changed since. Godwit changed neither them nor the original. Move files of "
                    + "other programs, or the whole folder, elsewhere"
                : "\(path) is beside the external data \(folder) of a stopped publication. "
                    + "Godwit changed neither them nor the original. Move \(path) elsewhere")
                + ", then replay or cancel the store"
        case .validationFailed(let report):
            "validation failed: the result does not match the mapping. Godwit discarded it. The "
                + "original is unchanged:\n" + report.lines.joined(separator: "\n")
        case .otherRun(let id, let store, _):
            "\(store) belongs to the unfinished run \(id), which was started with different paths, "
                + "model or options. Nothing was changed. Run the command of that run again, or "
                + "cancel that run"
        case .runOfOtherVersion(let id, let store, _, let engine):
            "\(store) belongs to the unfinished run \(id), which a version of Godwit with engine "
                + "\(engine) began. Nothing was changed. Finish the run with that version, or "
                + "cancel it"
        case .nothingToDo(let text), .lostStore(let text): text
        case .nothingFailed(let run, nil):
            "no store of the run \(run) failed: there is nothing to replay"
        case .nothingFailed(let run, let store?):
            "\(store) has not failed in the run \(run): there is nothing to replay"
        case .noRun(let id?, let state): "\(state) has no run \(id)"
        case .noRun(nil, let state): "\(state) has no runs yet"
        case .alreadyThere(let path): "\(path) already has the destination's model version"
        case .stopped:
            "the run was stopped. The original is unchanged. The same command resumes the run"
        case .resources(let text):
            "\(text). Every original is intact. The same command resumes the run"
        case .noRoom(let shortage):
            "\(shortage). Godwit started no store. Free space there, or choose folders on another "
                + "disk"
        case .badDelivery(let text):
            "Godwit discarded the result. The original is unchanged: \(text)"
        case .resultOfOtherModel(let path, let entities):
            "\(path) does not have the destination model's version: the hashes of \(entities) "
                + "differ. Give the model of the result, or the right result. Nothing was changed"
        case .resultWithoutModel(let path):
            "\(path) holds no model: give its model as the destination. Nothing was changed"
        case .notShared(let path):
            "\(path) is not in a shared folder: share its folder on the coordinator and workers. "
                + "Nothing was written"
        }
    }
}

extension RunError {
    /// What decides what the failure leads to.
    package var cause: FailureCause {
        switch self {
        case .store(let error): error.cause
        case .file(let error): error.cause
        case .engine(let error): error.cause
        case .swap(let error): error.cause
        case .ledger(let error): error.cause
        case .plan(.refused), .notShared: .dataRefused
        case .mapping(let error) where error.isOfPoliciesAlone: .policyMissing
        case .model, .inference, .mapping, .plan: .noMapping
        case .outputExists, .outdatedOutput, .incompleteOutput, .halfPublished: .outputExists
        case .otherRun, .runOfOtherVersion: .locked
        // No attempt ends with these; `lostStore` also ends moves.
        case .nothingToDo, .nothingFailed, .noRun, .lostStore, .alreadyThere: .swapRefused
        case .noRoom: .noSpace
        case .validationFailed: .validationFailed
        case .badDelivery: .badDelivery
        case .resultOfOtherModel, .resultWithoutModel: .unsupported
        case .stopped: .stopped
        case .resources: .inputOutput
        }
    }

    /// Whether the run that was asked for is not there.
    package var isUnknownRun: Bool { if case .noRun = self { true } else { false } }

    /// Whether the disk or a quota is full: room may come, so a run can wait.
    package var isOutOfSpace: Bool { cause == .noSpace }

    /// Whether memory was refused.
    package var isOutOfMemory: Bool { cause == .outOfMemory }

    /// Whether the work was cancelled, which says nothing about the store.
    package var isCancelled: Bool { cause == .stopped }

    /// Whether contents could not be made durable: what was written must not be used any more.
    package var isFailedSync: Bool {
        switch self {
        case .file(let error), .engine(.file(let error)), .swap(.file(let error)):
            error.isFailedSync
        default: false
        }
    }

    /// Reads from or writes to the ledger.
    package static func ledger<Result>(
        _ body: () throws(LedgerError) -> Result
    ) throws(RunError) -> Result {
        do throws(LedgerError) { return try body() } catch { throw .ledger(error) }
    }

    /// Runs a part of the engine.
    package static func engine<Result>(
        _ body: () throws(EngineError) -> Result
    ) throws(RunError) -> Result {
        do throws(EngineError) { return try body() } catch { throw .engine(error) }
    }

    /// Runs a body and turns what the layers below throw into errors of a run.
    ///
    /// - Parameter body: what to run.
    /// - Returns: what the body returns.
    /// - Throws: `RunError`; what no layer is known to throw counts as a bug.
    package static func translating<Result>(_ body: () throws -> Result) throws(RunError) -> Result
    {
        do {
            return try body()
        } catch let error as RunError {
            throw error
        } catch let error as StoreError {
            throw .store(error)
        } catch let error as ModelError {
            throw .model(error)
        } catch let error as InferenceError {
            throw .inference(error)
        } catch let error as MappingMismatch {
            throw .mapping(error)
        } catch let error as PlanError {
            throw .plan(error)
        } catch let error as EngineError {
            throw .engine(error)
        } catch let error as SwapError {
            throw .swap(error)
        } catch let error as DurableFileError {
            throw .file(error)
        } catch let error as LedgerError {
            throw .ledger(error)
        } catch {
            throw .engine(.internalError("\(error)"))
        }
    }
}
