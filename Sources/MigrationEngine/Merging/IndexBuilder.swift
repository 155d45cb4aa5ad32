import CoreDataStore
import MigrationPlanning
import SafeSQLite

/// Makes the indexes of a destination after its rows: the seam behind which faster ways can
/// stand.
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
            throw .dataRefused(
                "\(store): objects have equal values where the index \(index.name) allows none. "
                    + "Nothing was written; repair the data, or drop the uniqueness constraint "
                    + "from the destination model")
        }
    }
}
