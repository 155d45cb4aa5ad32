import CoreDataStore

/// Makes the indexes of a destination after its rows: the seam behind which faster ways can
/// stand.
struct IndexBuilder {
    let connection: Connection

    /// Makes the indexes one by one, each sorted outside the page cache.
    ///
    /// - Throws: `EngineError.dataRefused` when a unique index finds equal values.
    func build(_ indexes: [IndexLayout], isCancelled: () -> Bool = { false }) throws(EngineError) {
        for index in indexes {
            do {
                try connection.execute(index.sql)
            } catch {
                guard index.isUnique else { throw .store(error) }
                throw .dataRefused(
                    "the uniqueness constraint behind \(index.name) does not hold: \(error)")
            }
        }
    }
}
