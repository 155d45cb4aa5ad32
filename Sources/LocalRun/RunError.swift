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
