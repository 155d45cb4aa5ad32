import DurableFiles
import MigrationPlanning

extension EngineError {
    /// Runs what opens, reads or writes a file.
    ///
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
}
