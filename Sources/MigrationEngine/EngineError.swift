package import CoreDataStore
package import DurableFiles
package import Jobs

/// Why a job or a stage failed.
package enum EngineError: Error, Sendable {
    /// A store or shard could not be read or written.
    case store(StoreError)
    /// A file could not be read or written.
    case file(DurableFileError)
    /// The plan is missing, or another one than the job names.
    case wrongPlan(String)
    /// The source changed since the plan was made.
    case sourceChanged(String)
    /// The data break a rule that the plan relied on.
    case dataRefused(String)
    /// Something that must hold did not.
    case internalError(String)

    /// The number that tells other processes.
    package var code: FailureCode {
        switch self {
        case .store(.notAStore), .store(.unsupported), .store(.modelMissing),
            .store(.layoutDiffers), .store(.externalDataMissing):
            .badSource
        case .store(.inputOutput): .inputOutput
        case .store(.layoutUnknown): .dataRefused
        case .file(let error): error.isOutOfSpace ? .noSpace : .inputOutput
        case .wrongPlan: .wrongPlan
        case .sourceChanged: .sourceChanged
        case .dataRefused: .dataRefused
        case .internalError: .internalError
        }
    }
}

extension EngineError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .store(let error): error.description
        case .file(let error): error.description
        case .wrongPlan(let text): "the plan cannot be used: \(text). Plan the store again"
        case .sourceChanged(let text):
            "\(text) changed since it was planned. Its result was thrown away; run the same "
                + "command again when nobody writes the store"
        case .dataRefused(let text): text
        case .internalError(let text):
            "a bug of godwit: \(text). The original store was not changed"
        }
    }

    /// Runs a body and turns what the layers below throw into errors of the engine.
    package static func translating<Result>(
        _ body: () throws -> Result
    ) throws(EngineError) -> Result {
        do {
            return try body()
        } catch let error as EngineError {
            throw error
        } catch let error as StoreError {
            throw .store(error)
        } catch let error as DurableFileError {
            throw .file(error)
        } catch {
            throw .internalError("\(error)")
        }
    }
}
