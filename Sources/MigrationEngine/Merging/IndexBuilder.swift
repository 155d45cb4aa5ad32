import CoreDataStore
import MigrationPlanning
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
            throw Self.refused(index, store: store)
        }
    }

    /// That a unique index finds equal values.
    static func refused(_ index: IndexLayout, store: String) -> EngineError {
        .dataRefused(
            "\(store): objects have equal values where the index \(index.name) allows none. "
                + "Nothing was written; repair the data, or drop the uniqueness constraint "
                + "from the destination model")
    }
}
