package import CoreDataStore
package import DurableFiles
package import ManagedObjectModel
package import MappingModel
package import MigrationEngine

/// Why a store could not be migrated.
///
/// The original is as it was, and no result was published.
package enum RunError: Error, Sendable {
    case store(StoreError)
    case model(ModelError)
    case inference(InferenceError)
    case plan(PlanError)
    case engine(EngineError)
    case file(DurableFileError)
    /// There is something at the result's path already.
    case outputExists(FilePath)
    /// Differences between source and result; nothing was published.
    case validationFailed(ValidationReport)
}

extension RunError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .store(let error): error.description
        case .model(let error): error.description
        case .inference(let error): error.description
        case .plan(let error): error.description
        case .engine(let error): error.description
        case .file(let error): error.description
        case .outputExists(let path):
            "\(path) exists already; nothing was written. Remove it or give another --output"
        case .validationFailed(let report):
            "the result differs from what the mapping asks for and was thrown away; the original "
                + "is as it was:\n" + report.lines.joined(separator: "\n")
        }
    }
}

extension RunError {
    /// Runs a body and turns what the layers below throw into errors of a run.
    ///
    /// - Parameter body: what to run.
    /// - Returns: what the body returns.
    /// - Throws: `RunError`; what no layer is known to throw counts as a bug.
    static func translating<Result>(_ body: () throws -> Result) throws(RunError) -> Result {
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
        } catch let error as PlanError {
            throw .plan(error)
        } catch let error as EngineError {
            throw .engine(error)
        } catch let error as DurableFileError {
            throw .file(error)
        } catch {
            throw .engine(.internalError("\(error)"))
        }
    }
}
