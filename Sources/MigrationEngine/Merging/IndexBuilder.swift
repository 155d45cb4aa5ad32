import CoreDataStore
import MigrationPlans
import PageWriting
import SafeSQLite

/// Makes an index of a destination by SQLite, after its rows: those of small stores, and those that
/// `PageIndexes` does not make.
struct IndexBuilder {
    let connection: Connection
    /// The source, as errors name it.
    let store: String

    /// Makes an index, sorted outside the page cache.
    ///
    /// - Throws: `EngineError.dataRefused` when a unique index finds equal values.
    func build(_ index: IndexLayout) throws(EngineError) {
        do {
            try connection.create(index.definition)
        } catch {
            guard index.isUnique else { throw .store(error) }
            throw .refused(index, store: store)
        }
    }
}
