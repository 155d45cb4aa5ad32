package import CoreDataStore
import DurableFiles
package import MigrationPlans

extension EngineError {
    /// Runs what opens, reads or writes a file.
    ///
    /// - Parameter body: does so.
    /// - Returns: what the body returns.
    /// - Throws: `EngineError.file`.
    static func accessing<Result: ~Copyable>(
        _ body: () throws(DurableFileError) -> Result
    ) throws(EngineError) -> Result {
        do throws(DurableFileError) {
            return try body()
        } catch {
            throw .file(error)
        }
    }

    /// That a unique index finds equal values.
    ///
    /// - Parameters:
    ///   - index: which allows none.
    ///   - store: the source, as errors name it.
    /// - Returns: the error.
    package static func refused(_ index: IndexLayout, store: String) -> EngineError {
        .dataRefused(
            "\(store): objects have equal values where the index \(index.name) allows none. "
                + "Nothing was written. Count them with godwit plan. Repair the data, or drop the "
                + "uniqueness constraint from the destination model")
    }
}
